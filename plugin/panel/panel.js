/**
 * Keeps one panel up to date: asks the backend about the open task, draws the answer, asks again when something may have changed.
 * The iframe page, the same-origin page and the Enterprise plugin all use it; they differ in `locate` only.
 */
import { listen } from "./keys.js";
import { render } from "./render.js";

const QUICK = 2000;
const SLOW = 15000;
const QUICK_TURNS = 60;
const WATCH = 400;
/** How long Label Studio has for opening another task in the same page. */
const OPENS = 5000;
/** Set in the browser's performance timeline when the first answer is drawn. */
const MARK = "softirr-panel";
/** What the panel of the page before asks of this one: to take the focus, or to open a draft. */
const FOCUS = "softirr-focus";
const DRAFT = "softirr-draft";

/**
 * Where the panel is: from Label Studio's own page when it is of the same origin, else from `?task=` or `?key=`, else from the referrer.
 *
 * @param {Window} window the panel's window
 * @returns {{project?: string, task?: string, key?: string, labeling: boolean, door: "same-origin"|"query"|"referrer"}}
 */
export function locate(window) {
  const own = new URL(window.location.href).searchParams;
  try {
    if (window.parent !== window && window.parent.Htx?.task) {
      const page = place(window.parent.location.href);
      return { ...page, project: page.project ?? own.get("project"), task: String(window.parent.Htx.task.id), door: "same-origin" };
    }
  } catch {
    // another origin: its window can't be read
  }
  const page = place(window.document.referrer);
  const labeling = page.labeling || own.get("labeling") === "1";
  const project = own.get("project") ?? page.project;
  if (own.get("task")) return { project, task: own.get("task"), labeling, door: "query" };
  if (own.get("key")) return { project, key: own.get("key"), labeling, door: "query" };
  return { project: page.project ?? project, task: page.task, labeling, door: "referrer" };
}

function place(address) {
  try {
    const url = new URL(address);
    return {
      project: url.pathname.match(/\/projects\/(\d+)(?:\/|$)/)?.[1],
      task: url.searchParams.get("task") ?? undefined,
      labeling: url.searchParams.get("labeling") === "1",
    };
  } catch {
    return { labeling: false };
  }
}

/** Address of Label Studio's page around the panel. */
export function address(window) {
  try {
    if (window.parent !== window && window.parent.location.href) return window.parent.location.href;
  } catch {
    // another origin: its referrer policy tells
  }
  return window.document.referrer;
}

/**
 * Draw the panel into `node` and keep it up to date.
 *
 * @param {Element} node
 * @param {object} options
 * @param {string} options.backend
 * @param {string} options.key
 * @param {() => object} options.locate
 * @param {RequestCredentials} [options.credentials]
 * @param {() => string} [options.address] address of Label Studio's page, which the next task replaces
 * @param {EventTarget} [options.keys] where the panel's keys are pressed
 * @param {(draft: string, done: () => void) => void} [options.openDraft] opens the viewer's own draft in Label Studio's form
 * @param {(task: number) => Promise<boolean>} [options.openTask] opens a task without loading Label Studio's page again, where that can be done
 * @returns {() => void} ends it
 */
export function follow(node, { backend, key, locate: where, credentials = "omit", address: page = () => node.ownerDocument.location.href, keys = node, openDraft = null, openTask = null }) {
  let etag = null;
  let shown = null;
  let turns = 0;
  let timer = null;
  let asking = null;
  let payload = null;
  let arrived = false;

  async function call(path, options = {}) {
    const response = await fetch(`${backend}${path}`, {
      cache: "no-store",
      credentials,
      ...options,
      headers: { "X-Softirr-Key": key, ...(options.body ? { "Content-Type": "application/json" } : {}), ...options.headers },
    });
    if (response.status !== 304 && !response.ok) {
      const problem = await response.json().catch(() => ({}));
      throw new Error(problem.message || problem.error || `The agreement service answered ${response.status}.`);
    }
    return response;
  }

  async function ask() {
    const spot = where();
    const parameters = new URLSearchParams();
    for (const name of ["project", "task", "key"]) if (spot[name]) parameters.set(name, spot[name]);
    if (spot.labeling) parameters.set("labeling", "1");
    const wanted = parameters.toString();
    if (wanted !== shown) etag = null;
    asking?.abort();
    const mine = new AbortController();
    asking = mine;
    try {
      const response = await call(`/api/panel?${wanted}`, { signal: mine.signal, headers: etag ? { "If-None-Match": etag } : {} });
      if (mine.signal.aborted) return;
      if (response.status !== 304) {
        payload = await response.json();
        if (mine.signal.aborted) return;
        etag = response.headers.get("ETag");
        shown = wanted;
        draw();
        turns = 0;
      }
    } catch (error) {
      if (error.name === "AbortError" || mine.signal.aborted) return;
      etag = null;
      const message = error instanceof TypeError ? "The agreement service can’t be reached. Your work is not affected." : error.message;
      render(node, { status: "unavailable", message });
    }
  }

  function draw(message, follow) {
    const viewer = payload.viewer ?? {};
    const ready = payload.status === "ready";
    const actions = {
      ...(viewer.can_decide ? { decide, undo, uncount, count, agree, disagree } : {}),
      ...(viewer.can_take && ready ? { accept } : {}),
      ...(viewer.can_mark && ready ? { mark, unmark, next } : {}),
    };
    const links = Object.fromEntries(Object.entries(payload.links ?? {}).map(([name, link]) => [name, new URL(link, `${backend}/`).href]));
    const shownPayload = { ...payload, links, follow, ...(message === undefined ? {} : { message }) };
    render(node, shownPayload, actions);
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
    if (draft && openDraft) openDraft(draft, () => forget(DRAFT));
    if (!recall(FOCUS)) return;
    forget(FOCUS);
    const root = node.querySelector(".sirr");
    root.tabIndex = -1;
    root.focus();
  }

  /** Open a page of Label Studio in place of this one; a link to it where the browser does not let the panel do that. */
  function leave(link, message, text) {
    const view = node.ownerDocument.defaultView;
    try {
      view.top.location.href = link;
      draw(message);
    } catch {
      draw(message, { href: link, text });
    }
  }

  async function send(path, options, done) {
    try {
      await call(path, options);
      await ask();
      draw(done);
      turns = 0;
      again();
    } catch (error) {
      draw(unsaved(error));
    }
  }

  function unsaved(error) {
    return error instanceof TypeError ? "Not saved: the agreement service can’t be reached." : `Not saved: ${error.message}`;
  }

  /** Each of `said` is about pairs of texts: the same, or not. */
  async function decide(...said) {
    const about = { project: Number(payload.project.id), task: Number(payload.task.id) };
    const last = said.pop();
    const done = said.length ? "Saved: moved." : last.verdict === "same" ? "Saved: the same." : "Saved: not the same.";
    const options = (one) => ({ method: "POST", body: JSON.stringify({ ...about, ...one }) });
    try {
      for (const one of said) await call("/api/decisions", options(one));
    } catch (error) {
      draw(unsaved(error));
      return;
    }
    await send("/api/decisions", options(last), done);
  }

  function undo(id) {
    return send(`/api/decisions/${encodeURIComponent(id)}?project=${encodeURIComponent(payload.project.id)}`, { method: "DELETE" }, "Undone.");
  }

  /** The suggestion becomes a draft of the viewer's own, which Label Studio then opens to be edited and submitted. */
  async function accept(suggestions) {
    draw("Taking the suggestion …");
    try {
      const body = JSON.stringify({ project: Number(payload.project.id), task: Number(payload.task.id), suggestions });
      const { draft } = await (await call("/api/take", { method: "POST", body })).json();
      keep(DRAFT, String(draft));
      const link = new URL(page());
      for (const name of ["annotation", "region"]) link.searchParams.delete(name);
      link.searchParams.set("task", String(payload.task.id));
      link.hash = "";
      leave(link.href, "Saved as your draft: edit it and submit it.", "Open the draft");
    } catch (error) {
      draw(error instanceof TypeError ? "Not taken: the agreement service can’t be reached." : `Not taken: ${error.message}`);
    }
  }

  /** The suggestion is the agreed answer of each of its fields. */
  async function agree(suggestions) {
    const about = { project: Number(payload.project.id), task: Number(payload.task.id) };
    const options = (one) => ({ method: "POST", body: JSON.stringify({ ...about, ...one }) });
    try {
      for (const one of suggestions.slice(0, -1)) await call("/api/consensus", options(one));
    } catch (error) {
      draw(unsaved(error));
      return;
    }
    await send("/api/consensus", options(suggestions.at(-1)), "Saved as the agreed answer.");
  }

  function disagree(number) {
    return send(`/api/consensus/${encodeURIComponent(number)}?project=${encodeURIComponent(payload.project.id)}`, { method: "DELETE" }, "Undone.");
  }

  function uncount(attribute) {
    const body = JSON.stringify({ project: Number(payload.project.id), task: Number(payload.task.id), attribute });
    return send("/api/uncounted", { method: "POST", body }, "Proposed to the project’s lead. Scores stay as they are until the lead decides.");
  }

  function count(number) {
    return send(`/api/uncounted/${encodeURIComponent(number)}?project=${encodeURIComponent(payload.project.id)}`, { method: "DELETE" }, "Undone.");
  }

  function mark() {
    const body = JSON.stringify({ project: Number(payload.project.id), task: Number(payload.task.id) });
    return send("/api/queue", { method: "POST", body }, "Done.");
  }

  function unmark() {
    return send(`/api/queue/${encodeURIComponent(payload.task.id)}?project=${encodeURIComponent(payload.project.id)}`, { method: "DELETE" }, "Back in the queue.");
  }

  /** Open the next task of the queue in the same tab of the Data Manager. */
  async function next() {
    const here = new URL(page());
    const asked = new URLSearchParams({ project: payload.project.id, task: payload.task.id });
    if (here.searchParams.get("tab")) asked.set("tab", here.searchParams.get("tab"));
    try {
      const found = await (await call(`/api/queue/next?${asked}`)).json();
      const there = (link) => {
        const { pathname, search } = new URL(link);
        return new URL(`${pathname}${search}`, here).href; // the host that the person is logged in on
      };
      if (found.link) {
        keep(FOCUS, "1");
        const link = there(found.link);
        const saying = `Opening task ${found.task} …`;
        const load = () => leave(link, saying, `Open task ${found.task}`);
        const sameTab = new URL(link).searchParams.get("tab") === here.searchParams.get("tab");
        if (!openTask || !sameTab || !(await openTask(found.task))) return load();
        draw(saying);
        // the form is drawn anew, and this frame ends with it; if not, the page is loaded
        setTimeout(() => String(where().task) === String(found.task) || load(), OPENS);
      } else if (found.left) {
        const left = found.left === 1 ? "One task is" : `${found.left} tasks are`;
        draw(`This is the end of the list. ${left} left that you passed:`, { href: there(found.first.link), text: `open task ${found.first.task}` });
      } else {
        draw(found.waiting ? `Every task that is ready is done. ${found.waiting} wait for answers.` : "Every task is done.");
      }
    } catch (error) {
      draw(error instanceof TypeError ? "The agreement service can’t be reached." : error.message);
    }
  }

  function again() {
    clearTimeout(timer);
    timer = setTimeout(
      async () => {
        if (!node.ownerDocument.hidden && node.ownerDocument.defaultView.innerWidth) await ask(); // hidden in Compare All
        turns += 1;
        again();
      },
      turns < QUICK_TURNS || payload?.status === "pending" ? QUICK : SLOW,
    );
  }

  // in same-origin mode the page stays while the task changes
  let last = JSON.stringify(where());
  const watch = setInterval(() => {
    const now = JSON.stringify(where());
    if (now !== last) {
      last = now;
      ask();
    }
  }, WATCH);
  const onVisible = () => {
    if (!node.ownerDocument.hidden) {
      turns = 0;
      ask();
    }
  };
  node.ownerDocument.addEventListener("visibilitychange", onVisible);
  const deaf = listen(node, keys);
  ask().then(again);
  return () => {
    deaf();
    clearTimeout(timer);
    clearInterval(watch);
    asking?.abort();
    node.ownerDocument.removeEventListener("visibilitychange", onVisible);
  };
}

// What one page asks of the next; a browser that keeps nothing for frames only loses the convenience.

function keep(name, value) {
  try {
    sessionStorage.setItem(name, value);
  } catch {
    // not kept
  }
}

function recall(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}

function forget(name) {
  try {
    sessionStorage.removeItem(name);
  } catch {
    // nothing was kept
  }
}
