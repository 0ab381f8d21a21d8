/**
 * Keeps one panel up to date: asks the backend about the open task, draws the answer, and asks again when something may
 * have changed. The page in the frame and the Enterprise plugin use it; they differ in how they reach Label Studio.
 */
import { actsOf, perform, placeOf, undoable, undoLast } from "./acts.js";
import { makeChoice } from "./choice.js";
import { FOCUS, forget, keep, recall } from "./handover.js";
import { listen, say } from "./keys.js";
import { render } from "./render.js";
import { problem, service } from "./service.js";

const QUICK_POLL = 2000;
const SLOW_POLL = 15000;
const QUICK_POLLS = 60;
const WATCH_ADDRESS = 400;
/** Milliseconds that Label Studio has to open another task in the same page. */
const OPENS = 5000;
/** Milliseconds that a message stays when the panel is drawn again. */
const MESSAGE_STAYS = 8000;
/** Name in the browser's performance timeline for the first answer that is drawn. */
const MARK = "softirr-panel";

/**
 * Draw the panel into `node` and keep it up to date.
 *
 * @param {HTMLElement} node
 * @param {object} options
 * @param {string} options.backend
 * @param {string} options.key
 * @param {() => any} options.locate
 * @param {RequestCredentials} [options.credentials]
 * @param {() => string} [options.address] address of Label Studio's page, which the next task replaces
 * @param {EventTarget} [options.keys] where the panel's keys are pressed
 * @param {(task: number) => Promise<boolean>} [options.openTask] opens a task without loading the page
 * @param {(annotation: number, region: string) => void} [options.openRegion] selects a region in the form
 * @param {(isShown: boolean) => void} [options.show] called when the panel has something to show, or nothing
 * @returns {() => void} stops it
 */
export function follow(
  node,
  {
    backend,
    key,
    locate,
    credentials = "omit",
    address = () => node.ownerDocument.location.href,
    keys = node,
    openTask = null,
    openRegion = null,
    show = () => {},
  },
) {
  const call = service({ backend, key, credentials });
  const choice = makeChoice(() => draw());
  let [etag, shown, timer, request] = [null, null, 0, /** @type {AbortController | null} */ (null)];
  let [polls, isFirst, isBusy, isEnded] = [0, true, false, false];
  let payload = /** @type {PanelPayload | null} */ (null);
  let message = { text: "", place: "", until: 0, question: /** @type {any} */ (null) };

  async function ask() {
    const spot = locate();
    const query = new URLSearchParams();
    for (const name of ["project", "task", "key"]) if (spot[name]) query.set(name, spot[name]);
    if (spot.labeling) query.set("labeling", "1");
    const wanted = query.toString();
    if (wanted !== shown) etag = null;
    request?.abort();
    const own = new AbortController();
    request = own;
    try {
      const headers = etag ? { "If-None-Match": etag } : {};
      const response = await call(`/api/panel?${wanted}`, { signal: own.signal, headers });
      if (response.status === 304 || request !== own) return;
      const body = await response.json();
      if (request !== own) return;
      [payload, etag, shown, polls] = [body, response.headers.get("ETag"), wanted, 0];
      choice.follow(payload);
      draw();
    } catch (error) {
      if (own.signal.aborted || request !== own) return;
      etag = null;
      draw(undefined, { status: "unavailable", message: `${problem(error)} Your work is not affected.` });
    }
  }

  /**
   * @param {string} [text] message for the footer
   * @param {any} [other] what to draw instead of the last answer
   */
  function draw(text, other) {
    const place = placeOf(payload);
    if (text !== undefined) message = { text, place, until: Date.now() + MESSAGE_STAYS, question: null };
    const isCurrent = message.place === place && Date.now() < message.until;
    const links = Object.fromEntries(
      Object.entries(payload?.links ?? {}).map(([name, link]) => [name, new URL(link, `${backend}/`).href]),
    );
    const content = other ?? { ...payload, links, message: isCurrent ? message.text : payload.message };
    const question = isCurrent ? message.question : null;
    render(
      node,
      { ...content, question },
      { actions: actionsFor(content), choice, canUndo: undoable(content).length > 0 },
    );
    node.dataset.ready = content.status;
    show(content.status !== "hidden");
    if (!performance.getEntriesByName(MARK).length) performance.mark(MARK);
    if (content.status === "ready" && isFirst) {
      isFirst = false;
      takeFocus();
    }
  }

  /**
   * What the viewer may do.
   *
   * @param {PanelPayload} content
   * @returns {PanelActions}
   */
  function actionsFor({ status, viewer }) {
    if (status !== "ready") return {};
    return {
      next,
      done: () => actAndGoOn(() => actsOf(payload).done()),
      sendBack: (note) => actAndGoOn(() => actsOf(payload).sendBack(note)),
      reopen: () => act(() => actsOf(payload).reopen()),
      undoLast: undo,
      ...(viewer.can_decide
        ? { decide: (texts, verdict, cause) => act(() => actsOf(payload).decide(texts, verdict, cause)) }
        : {}),
      ...(viewer.can_agree ? { accept: () => accept(false) } : {}),
      ...(openRegion ? { region: openRegion } : {}),
    };
  }

  /**
   * Do something on the server, then draw what it changed; false if it was refused.
   *
   * @param {() => Promise<string>} work returns what to say
   * @param {(error: any) => boolean} [handled] whether the error is dealt with
   */
  async function save(work, handled = () => false) {
    if (isBusy) {
      say(node, "The last action is being saved.");
      return false;
    }
    isBusy = true;
    let text;
    try {
      text = await work();
    } catch (error) {
      if (!handled(error)) draw(problem(error, "Not saved"));
      return false;
    } finally {
      isBusy = false;
    }
    choice.forget();
    await ask();
    draw(text);
    poll();
    return true;
  }

  /** @param {() => import("./acts.js").PanelAct} make */
  function act(make, handled = undefined) {
    return save(async () => {
      const made = make();
      await perform(async (path, options) => (await call(path, options)).json(), payload, made);
      return made.done;
    }, handled);
  }

  async function actAndGoOn(make) {
    if (await act(make)) await next();
  }

  /** @param {boolean} replace whether to replace a ground truth that a person set */
  async function accept(replace) {
    const fields = choice.fields();
    if (!fields) return;
    const confirmFirst = (error) => {
      if (error.asks !== "replace") return false;
      message = { text: error.message, place: placeOf(payload), until: Infinity, question: () => accept(true) };
      draw();
      return true;
    };
    if (await act(() => actsOf(payload).accept(fields, replace), confirmFirst)) await next();
  }

  function undo() {
    save(async () => {
      const send = async (path, options) => (await call(path, options)).json();
      return (await undoLast(send, payload)) ? "Undone." : "There is nothing of yours to undo on this task.";
    });
  }

  /** Open the next task of the queue in the same tab of the Data Manager. */
  async function next() {
    const here = new URL(address());
    const query = new URLSearchParams({ project: String(payload.project.id), task: String(payload.task.id) });
    if (here.searchParams.get("tab")) query.set("tab", here.searchParams.get("tab"));
    try {
      const queue = await (await call(`/api/queue/next?${query}`)).json();
      if (!queue.link) {
        draw(
          queue.left ? `This is the end of the list; ${queue.left} tasks before it are open.` : "Every task is done.",
        );
        return;
      }
      keep(FOCUS, "1");
      const link = onHost(queue.link, here);
      const isInTab = new URL(link).searchParams.get("tab") === here.searchParams.get("tab");
      if (openTask && isInTab && (await openTask(queue.task))) {
        // Label Studio draws the form again, and this frame ends with it; if not, the page is loaded
        setTimeout(() => String(locate().task) === String(queue.task) || leave(link), OPENS);
      } else leave(link);
    } catch (error) {
      draw(problem(error));
    }
  }

  /** Open a page of Label Studio in place of this one. */
  function leave(link) {
    try {
      node.ownerDocument.defaultView.top.location.href = link;
    } catch {
      draw(`Open the next task yourself: ${link}`);
    }
  }

  /** Take the focus that the panel of the task before had; a frame that is not shown yet can't. */
  function takeFocus(tries = 40) {
    if (isEnded || !recall(FOCUS)) return;
    /** @type {HTMLElement} */ (node.querySelector(".sirr")).focus();
    if (node.contains(node.ownerDocument.activeElement) && node.offsetHeight) forget(FOCUS);
    else if (tries) setTimeout(takeFocus, 50, tries - 1);
  }

  function poll() {
    clearTimeout(timer);
    if (isEnded) return;
    const { status } = payload ?? {};
    const isQuick = status === "pending" || (status === "ready" && polls < QUICK_POLLS);
    timer = window.setTimeout(
      async () => {
        if (!node.ownerDocument.hidden && !isBusy) await ask();
        polls += 1;
        poll();
      },
      isQuick ? QUICK_POLL : SLOW_POLL,
    );
  }

  const start = async () => {
    await ask();
    poll();
  };
  let place = JSON.stringify(locate());
  const watch = setInterval(() => {
    const now = JSON.stringify(locate());
    if (now !== place) {
      place = now;
      start();
    }
  }, WATCH_ADDRESS);
  const stopKeys = listen(node, keys);
  start();
  return () => {
    isEnded = true;
    clearTimeout(timer);
    clearInterval(watch);
    request?.abort();
    stopKeys();
  };
}

/** The address on the host under which the person is logged in. */
function onHost(link, here) {
  const { pathname, search } = new URL(link);
  return new URL(`${pathname}${search}`, here).href;
}
