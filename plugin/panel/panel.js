/**
 * Keeps one panel up to date: asks the backend about the open task, draws the answer, asks again when something may
 * have changed. The iframe page, the same-origin page and the Enterprise plugin all use it; they differ in `locate`
 * and in how they reach Label Studio's form.
 */
import { actsOf, noted, ordered, perform, placeOf, takeBack } from "./acts.js";
import { DRAFT, FOCUS, forget, keep, recall } from "./handover.js";
import { answer, listen, NOTHING } from "./keys.js";
import { every } from "./pieces.js";
import { render } from "./render.js";
import { problem, service } from "./service.js";

const QUICK = 2000;
const SLOW = 15000;
const QUICK_TURNS = 60;
const WATCH = 400;

/** How long Label Studio has for opening another task in the same page. */
const OPENS = 5000;

/** How long Label Studio has for drawing the form anew for a draft. */
const REDRAWN = 1500;

/** How long the last message stays when the panel is drawn anew. */
const STAYS = 8000;

/** Set in the browser's performance timeline when the first answer is drawn. */
const MARK = "softirr-panel";

/** Actions that need the right to decide, and those that need a task that can be marked. */
const DECIDING = ["decide", "undo", "agree", "disagree"];
const MARKING = ["mark", "unmark", "sendBack"];

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
 * @param {(draft: string, done: () => void) => void} [options.openDraft] opens the viewer's draft in the form
 * @param {(task: number) => Promise<boolean>} [options.openTask] opens a task without loading the page
 * @param {(annotation: number, region: string) => void} [options.openRegion] selects a region in the form
 * @returns {() => void} ends it
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
    openDraft = null,
    openTask = null,
    openRegion = null,
  },
) {
  const call = service({ backend, key, credentials });
  let [etag, shown, timer, asking, payload] = [null, null, null, null, /** @type {PanelPayload} */ (null)];
  let [turns, arrived, taking, isEnded] = [0, false, false, false];
  let last = { place: "", message: "", follow: undefined, until: 0 };
  const doing = ordered();
  /** @type {Promise<void>} */
  let newest;

  function ask() {
    newest = look();
    return newest;
  }

  /** The payload as it is now; one that a newer request aborts ends with that one. */
  async function look() {
    const spot = locate();
    const parameters = new URLSearchParams();
    for (const name of ["project", "task", "key"]) if (spot[name]) parameters.set(name, spot[name]);
    if (spot.labeling) parameters.set("labeling", "1");
    const wanted = parameters.toString();
    if (wanted !== shown) etag = null;
    asking?.abort();
    const mine = new AbortController();
    asking = mine;
    try {
      const headers = etag ? { "If-None-Match": etag } : {};
      const response = await call(`/api/panel?${wanted}`, { signal: mine.signal, headers });
      if (response.status === 304) return undefined;
      const body = await response.json();
      if (asking !== mine) return newest;
      payload = body;
      etag = response.headers.get("ETag");
      shown = wanted;
      draw();
      turns = 0;
    } catch (error) {
      if (asking !== mine) return newest;
      if (mine.signal.aborted) return undefined;
      etag = null;
      const away = error instanceof TypeError ? " Your work is not affected." : "";
      render(node, { status: "unavailable", message: problem(error) + away });
    }
    return undefined;
  }

  function draw(message, target) {
    const place = placeOf(payload);
    if (message !== undefined) last = { place, message, follow: target, until: Date.now() + STAYS };
    const viewer = payload.viewer ?? {};
    const ready = payload.status === "ready";
    const hasTexts = payload.controls?.length !== 0;
    const allowed = [...(viewer.can_decide && hasTexts ? DECIDING : []), ...(viewer.can_mark ? MARKING : [])];
    const does = (name) => [name, (...given) => doAct(name, given)];
    const actions = ready
      ? {
          ...Object.fromEntries(allowed.map(does)),
          ...(allowed.length ? { back } : {}),
          ...(viewer.can_take && hasTexts ? { accept } : {}),
          ...(viewer.can_mark ? { next } : {}),
          ...(openRegion ? { region: openRegion } : {}),
        }
      : {};
    const links = Object.fromEntries(
      Object.entries(payload.links ?? {}).map(([name, link]) => [name, new URL(link, `${backend}/`).href]),
    );
    const isNew = last.place === place && Date.now() < last.until;
    const more = isNew ? { message: last.message, follow: last.follow } : {};
    render(node, { ...payload, links, ...more }, actions);
    node.dataset.ready = payload.status;
    if (!performance.getEntriesByName(MARK).length) performance.mark(MARK);
    if (ready && !arrived) {
      arrived = true;
      arrive();
    }
  }

  /** Do what the panel of the page before asked for, once. */
  function arrive() {
    const draft = recall(DRAFT);
    if (!draft || !openDraft) return takeFocus();
    // the form is drawn anew for the draft, and this frame ends with it: then the next panel takes the focus
    return openDraft(draft, () => {
      forget(DRAFT);
      setTimeout(takeFocus, REDRAWN);
    });
  }

  function takeFocus() {
    if (isEnded || !recall(FOCUS)) return;
    forget(FOCUS);
    const root = /** @type {HTMLElement} */ (node.querySelector(".sirr"));
    root.tabIndex = -1;
    root.focus();
  }

  /**
   * Open a page of Label Studio in place of this one; a link to it where the browser does not let the panel do
   * that.
   */
  function leave(link, message, text) {
    try {
      node.ownerDocument.defaultView.top.location.href = link;
      draw(message);
    } catch {
      draw(message, { href: link, text });
    }
  }

  /**
   * Do what changes the task on the server, after what was asked for before.
   *
   * @param {unknown} name
   * @param {() => Promise<string>} work what to say then
   */
  function save(name, work) {
    const isFirst = doing.add(name, async () => {
      const message = await work().catch((error) => problem(error, "Not saved"));
      await ask();
      draw(message);
      turns = 0;
      again();
    });
    if (!isFirst) answer(node, "This is being saved already.");
    for (const button of every(node, '[data-keep="back"]')) button.disabled = false;
  }

  /** The act is made when its turn comes: what takes it back depends on what was done before. */
  function doAct(name, given) {
    const there = payload;
    save(JSON.stringify([placeOf(there), name, given]), async () => {
      const now = placeOf(payload) === placeOf(there) ? payload : there;
      const act = actsOf(now)[name](...given);
      await perform(call, now, act);
      return act.done;
    });
  }

  /** Take back the last act; false where there is none on this task. */
  function back() {
    const there = payload;
    if (!doing.isBusy() && !noted(there).length) return false;
    save(Symbol("back"), async () => ((await takeBack(call, there)) ? "Last act taken back." : NOTHING.u));
    return true;
  }

  /** The suggestion becomes a draft of the viewer's own, which Label Studio then opens to be edited and submitted. */
  async function accept(suggestions) {
    if (taking) return answer(node, "The suggestion is being taken already.");
    taking = true;
    draw("Taking the suggestion …");
    try {
      const body = JSON.stringify({ project: Number(payload.project.id), task: Number(payload.task.id), suggestions });
      const { draft, again: known } = await (await call("/api/take", { method: "POST", body })).json();
      keep(DRAFT, String(draft));
      keep(FOCUS, "1");
      const link = new URL(address());
      for (const name of ["annotation", "region"]) link.searchParams.delete(name);
      link.searchParams.set("task", String(payload.task.id));
      link.hash = "";
      const words = known ? "You have this draft already: edit it" : "Saved as your draft: edit it";
      leave(link.href, `${words} and submit it.`, "Open the draft");
    } catch (error) {
      draw(problem(error, "Not taken"));
    } finally {
      taking = false;
    }
    return undefined;
  }

  /** Open the next task of the queue in the same tab of the Data Manager. */
  async function next() {
    const here = new URL(address());
    const asked = new URLSearchParams({ project: String(payload.project.id), task: String(payload.task.id) });
    if (here.searchParams.get("tab")) asked.set("tab", here.searchParams.get("tab"));
    try {
      const queue = await (await call(`/api/queue/next?${asked}`)).json();
      if (!queue.link) return endOfQueue(queue, here);
      keep(FOCUS, "1");
      const link = onHost(queue.link, here);
      const message = `Opening task ${queue.task} …`;
      const load = () => leave(link, message, `Open task ${queue.task}`);
      const sameTab = new URL(link).searchParams.get("tab") === here.searchParams.get("tab");
      if (!openTask || !sameTab || !(await openTask(queue.task))) return load();
      draw(message);
      // the form is drawn anew, and this frame ends with it; if not, the page is loaded
      setTimeout(() => String(locate().task) === String(queue.task) || load(), OPENS);
    } catch (error) {
      draw(problem(error));
    }
    return undefined;
  }

  function endOfQueue({ left, first, waiting }, here) {
    if (!left) {
      const waits = `${waiting} ${waiting === 1 ? "waits" : "wait"} for answers.`;
      return draw(waiting ? `Every task that is ready is done. ${waits}` : "Every task is done.");
    }
    const words = left === 1 ? "One task is" : `${left} tasks are`;
    return draw(`This is the end of the list. ${words} left that you passed:`, {
      href: onHost(first.link, here),
      text: `open task ${first.task}`,
    });
  }

  function again() {
    clearTimeout(timer);
    if (isEnded) return;
    timer = setTimeout(
      async () => {
        // in Compare All the frame is hidden
        if (!node.ownerDocument.hidden && node.ownerDocument.defaultView.innerWidth) await ask();
        turns += 1;
        again();
      },
      turns < QUICK_TURNS || payload?.status === "pending" ? QUICK : SLOW,
    );
  }

  // in same-origin mode the page stays while the task changes
  let shownSpot = JSON.stringify(locate());
  const watch = setInterval(() => {
    const spot = JSON.stringify(locate());
    if (spot === shownSpot) return;
    shownSpot = spot;
    ask();
  }, WATCH);
  const onVisible = () => {
    if (node.ownerDocument.hidden) return;
    turns = 0;
    ask();
  };
  node.ownerDocument.addEventListener("visibilitychange", onVisible);
  const deaf = listen(node, keys);
  ask().then(again);
  return () => {
    isEnded = true;
    deaf();
    clearTimeout(timer);
    clearInterval(watch);
    asking?.abort();
    node.ownerDocument.removeEventListener("visibilitychange", onVisible);
  };
}

/** The address on the host that the person is logged in on. */
function onHost(link, here) {
  const { pathname, search } = new URL(link);
  return new URL(`${pathname}${search}`, here).href;
}
