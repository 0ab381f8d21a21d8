/**
 * Keeps one panel up to date: asks the backend about the open task, draws the answer, asks again when something may have changed.
 * The iframe page, the same-origin page and the Enterprise plugin all use it; they differ in `locate` only.
 */
import { render } from "./render.js";

const QUICK = 2000;
const SLOW = 15000;
const QUICK_TURNS = 60;
const WATCH = 400;
/** Set in the browser's performance timeline when the first answer is drawn. */
const MARK = "softirr-panel";

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

/**
 * Draw the panel into `node` and keep it up to date.
 *
 * @param {Element} node
 * @param {{backend: string, key: string, locate: () => object, credentials?: RequestCredentials}} options
 * @returns {() => void} ends it
 */
export function follow(node, { backend, key, locate: where, credentials = "omit", accept = null }) {
  let etag = null;
  let shown = null;
  let turns = 0;
  let timer = null;
  let asking = null;
  let payload = null;

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

  function draw(message) {
    const actions = payload.viewer?.can_decide ? { decide, undo } : {};
    if (accept && payload.status === "ready") actions.accept = (suggestions) => accept(suggestions).then((text) => draw(text), (error) => draw(error.message));
    const links = Object.fromEntries(Object.entries(payload.links ?? {}).map(([name, link]) => [name, new URL(link, `${backend}/`).href]));
    const shownPayload = { ...payload, links, ...(message === undefined ? {} : { message }) };
    render(node, shownPayload, actions);
    node.dataset.ready = payload.status;
    if (!performance.getEntriesByName(MARK).length) performance.mark(MARK);
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

  function again() {
    clearTimeout(timer);
    timer = setTimeout(
      async () => {
        if (!node.ownerDocument.hidden) await ask();
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
  ask().then(again);
  return () => {
    clearTimeout(timer);
    clearInterval(watch);
    asking?.abort();
    node.ownerDocument.removeEventListener("visibilitychange", onVisible);
  };
}
