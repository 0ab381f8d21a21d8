/**
 * Keeps one panel up to date: asks the backend about the open task, draws the answer, and asks again when something may
 * have changed. The page in the frame and the Enterprise plugin use it; they differ in how they reach Label Studio.
 */
import { actsOf, perform, taskKey, undoable, undoLast } from "./acts.js";
import { makeChoice } from "./choice.js";
import { FOCUS, store, takeFocus } from "./handover.js";
import { listen, say } from "./keys.js";
import { endOfList, findNext, openNext } from "./next_task.js";
import { render } from "./render.js";
import { absoluteLinks, problem, service } from "./service.js";

const QUICK_POLL = 2000;
const SLOW_POLL = 15000;
const QUICK_POLLS = 60;
const WATCH_ADDRESS = 400;
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
 * @param {() => void} [options.reveal] scrolls to the panel
 * @returns {() => void} stops it
 */
export function follow(node, options) {
  const panel = new Panel(node, options);
  panel.start();
  return () => panel.stop();
}

class Panel {
  /** @type {PanelPayload | null} */
  #payload = null;
  #etag = null;
  #query = null;
  /** @type {AbortController | null} */
  #request = null;
  #timer = 0;
  #polls = 0;
  #isFirst = true;
  #isBusy = false;
  #isEnded = false;
  #message = { text: "", task: "", until: 0, question: /** @type {any} */ (null) };

  constructor(node, options) {
    const address = () => node.ownerDocument.location.href;
    this.node = node;
    this.options = {
      credentials: "omit",
      address,
      keys: node,
      openTask: null,
      openRegion: null,
      show() {},
      reveal() {},
      ...options,
    };
    this.call = service(this.options);
    this.choice = makeChoice(() => this.#draw());
  }

  start() {
    const spot = () => JSON.stringify(this.options.locate());
    let shownSpot = spot();
    this.stopKeys = listen(this.node, this.options.keys);
    this.watch = setInterval(() => {
      if (spot() === shownSpot) return;
      shownSpot = spot();
      this.#askAndPoll();
    }, WATCH_ADDRESS);
    this.#askAndPoll();
  }

  stop() {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    clearInterval(this.watch);
    this.#request?.abort();
    this.stopKeys();
  }

  async #ask() {
    const spot = this.options.locate();
    const parameters = new URLSearchParams();
    for (const name of ["project", "task", "key"]) if (spot[name]) parameters.set(name, spot[name]);
    if (spot.labeling) parameters.set("labeling", "1");
    const query = parameters.toString();
    if (query !== this.#query) this.#etag = null;
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
    const isCurrent = () => this.#request === request && !request.signal.aborted;
    try {
      const headers = this.#etag ? { "If-None-Match": this.#etag } : {};
      const response = await this.call(`/api/panel?${query}`, { signal: request.signal, headers });
      if (response.status === 304 || !isCurrent()) return;
      const payload = await response.json();
      if (!isCurrent()) return;
      this.#payload = payload;
      this.#etag = response.headers.get("ETag");
      this.#query = query;
      this.#polls = 0;
      this.choice.follow(payload);
      this.#draw();
    } catch (error) {
      if (!isCurrent()) return;
      this.#etag = null;
      this.#draw({ status: "unavailable", message: `${problem(error)} Your work is not affected.` });
    }
  }

  async #askAndPoll() {
    await this.#ask();
    this.#poll();
  }

  #poll() {
    clearTimeout(this.#timer);
    if (this.#isEnded) return;
    const { status } = this.#payload ?? {};
    const isQuick = status === "pending" || (status === "ready" && this.#polls < QUICK_POLLS);
    this.#timer = window.setTimeout(
      async () => {
        if (!this.node.ownerDocument.hidden && !this.#isBusy) await this.#ask();
        this.#polls += 1;
        this.#poll();
      },
      isQuick ? QUICK_POLL : SLOW_POLL,
    );
  }

  /** @param {PanelPayload} [content] what to draw instead of the last answer */
  #draw(content = this.#payload) {
    const { node, options } = this;
    const { text, task, until, question } = this.#message;
    const hasMessage = content === this.#payload && task === taskKey(content) && Date.now() < until;
    const links = absoluteLinks(content.links, options.backend);
    const payload = { ...content, links, question: hasMessage ? question : null };
    if (hasMessage) payload.message = text;
    const actions = this.#actions(content);
    render(node, payload, { actions, choice: this.choice, canUndo: undoable(content).length > 0 });
    node.dataset.ready = content.status;
    options.show(content.status !== "hidden");
    if (!performance.getEntriesByName(MARK).length) performance.mark(MARK);
    if (content.status === "ready" && this.#isFirst) {
      this.#isFirst = false;
      takeFocus(node, () => this.#isEnded, options.reveal);
    }
  }

  /**
   * Draw the last answer with a message in the footer.
   *
   * @param {string} text
   * @param {(() => void) | null} [question] what happens if the person confirms
   */
  #tell(text, question = null) {
    const until = question ? Infinity : Date.now() + MESSAGE_STAYS;
    this.#message = { text, task: taskKey(this.#payload), until, question };
    this.#draw();
  }

  /**
   * @param {PanelPayload} content
   * @returns {PanelActions}
   */
  #actions({ status, viewer }) {
    if (status !== "ready") return {};
    const acts = actsOf(this.#payload);
    const decide = (texts, verdict, cause) => this.#actAndStay(acts.decide(texts, verdict, cause));
    return {
      next: () => this.#goOn(this.#findNext()),
      done: () => this.#actAndGoOn(acts.done()),
      sendBack: (note) => this.#actAndGoOn(acts.sendBack(note)),
      reopen: () => this.#actAndStay(acts.reopen()),
      undoLast: () => this.#undo(),
      ...(viewer.can_decide ? { decide } : {}),
      ...(viewer.can_agree ? { accept: () => this.#accept(false) } : {}),
      ...(this.options.openRegion ? { region: this.options.openRegion } : {}),
    };
  }

  /**
   * Do something on the server; false if it was refused.
   *
   * @param {() => Promise<any>} work
   * @param {(error: any) => boolean} [handled] whether the error is dealt with
   */
  async #save(work, handled = () => false) {
    if (this.#isBusy) {
      say(this.node, "The last action is being saved.");
      return false;
    }
    this.#isBusy = true;
    try {
      await work();
    } catch (error) {
      if (!handled(error)) this.#tell(problem(error, "Not saved"));
      return false;
    } finally {
      this.#isBusy = false;
    }
    this.choice.forget();
    return true;
  }

  #send = async (path, options) => (await this.call(path, options)).json();

  /** @param {import("./acts.js").PanelAct} act */
  async #actAndStay(act) {
    if (await this.#save(() => perform(this.#send, this.#payload, act))) await this.#refresh(act.done);
  }

  /**
   * @param {import("./acts.js").PanelAct} act
   * @param {(error: any) => boolean} [handled]
   */
  async #actAndGoOn(act, handled = undefined) {
    const next = this.#findNext(); // while the act is saved
    if (!(await this.#save(() => perform(this.#send, this.#payload, act), handled))) return;
    say(this.node, act.done);
    await this.#goOn(next, act.done);
  }

  async #undo() {
    let text = "";
    const undo = async () => {
      text = (await undoLast(this.#send, this.#payload))
        ? "Undone."
        : "There is nothing of yours to undo on this task.";
    };
    if (await this.#save(undo)) await this.#refresh(text);
  }

  /** @param {boolean} replace whether to replace a ground truth that a person set */
  async #accept(replace) {
    const fields = this.choice.fields();
    if (!fields) return;
    const confirmFirst = (error) => {
      if (error.asks !== "replace") return false;
      this.#tell(error.message, () => this.#accept(true));
      return true;
    };
    await this.#actAndGoOn(actsOf(this.#payload).accept(fields, replace), confirmFirst);
  }

  /** Draw what an act changed. */
  async #refresh(text) {
    await this.#ask();
    this.#tell(text);
    this.#poll();
  }

  #findNext() {
    return findNext(this.#send, this.#payload, this.options.address());
  }

  /**
   * Open the next task, in the same tab of the Data Manager.
   *
   * @param {ReturnType<typeof findNext>} next
   * @param {string} [done] what was done on this task
   */
  async #goOn(next, done = "") {
    try {
      const queue = await next;
      if (queue.link) {
        store(FOCUS, String(Date.now()));
        await openNext(this.node, queue, this.options.openTask);
        return;
      }
      await this.#refresh(`${done} ${endOfList(queue)}`.trim());
    } catch (error) {
      this.#tell(problem(error));
    }
  }
}
