/**
 * What a reviewer does to a task, as requests, each with the request that undoes it.
 *
 * @typedef {{ path: string, method: string, body?: object }} PanelRequest
 * @typedef {{ request: PanelRequest, done: string, undo(reply: any): PanelRequest }} PanelAct
 */
import { recall, store } from "./handover.js";

const KEY = "softirr-acts";
const MOST_ACTS = 30;

/**
 * @param {PanelPayload} payload
 */
export function actsOf(payload) {
  const { project, task, agreed, review } = payload;
  const taskIds = { project: Number(project.id), task: Number(task.id) };
  const query = `?project=${encodeURIComponent(project.id)}`;
  const post = (path, body) => ({ path, method: "POST", body: { ...taskIds, ...body } });
  const remove = (path, more = "") => ({
    path: `${path}/${encodeURIComponent(task.id)}${query}${more}`,
    method: "DELETE",
  });
  const decision = (texts, verdict, cause) => post("/api/decisions", { pairs: [texts], verdict, cause });
  const pairs = (payload.fields ?? []).flatMap((field) => field.cards ?? []).flatMap((card) => card.pairs);
  const decisionOn = (texts) => pairs.find((pair) => JSON.stringify(pair.texts) === JSON.stringify(texts))?.decision;
  const mark = () => {
    if (review?.state === "done") return post("/api/queue", {});
    return review?.state === "sent back"
      ? post("/api/queue", { state: "sent back", note: review.note })
      : remove("/api/queue");
  };
  const agree = (fields, replace) => post("/api/agreed", { fields, replace });

  return {
    /** @param {string[]} texts @param {PanelVerdict} verdict @param {string | null} [cause] @returns {PanelAct} */
    decide: (texts, verdict, cause = null) => ({
      request: decision(texts, verdict, cause),
      done: { same: "Saved: the same.", different: "Saved: not the same.", none: "Decision withdrawn." }[verdict],
      undo: () => decision(texts, decisionOn(texts)?.verdict ?? "none", decisionOn(texts)?.cause ?? null),
    }),
    /** @param {Record<string, string[]>} fields @param {boolean} replace @returns {PanelAct} */
    accept: (fields, replace) => ({
      request: agree(fields, replace),
      done: "Accepted.",
      undo: ({ replaced }) =>
        agreed ? agree(agreed.fields, true) : remove("/api/agreed", replaced ? `&restore=${replaced}` : ""),
    }),
    /** @returns {PanelAct} */
    done: () => ({ request: post("/api/queue", {}), done: "Done.", undo: mark }),
    /** @returns {PanelAct} */
    reopen: () => ({
      request: remove(agreed ? "/api/agreed" : "/api/queue"),
      done: agreed ? "Agreed answer withdrawn." : "Open again.",
      undo: () => (agreed ? agree(agreed.fields, true) : mark()),
    }),
    /** @param {string} note @returns {PanelAct} */
    sendBack: (note) => ({
      request: post("/api/queue", { state: "sent back", note }),
      done: "Sent back to the annotators.",
      undo: mark,
    }),
  };
}

/**
 * Do an act, and remember how to undo it.
 *
 * @param {(path: string, options?: RequestInit) => Promise<any>} call
 * @param {PanelPayload} payload
 * @param {PanelAct} act
 */
export async function perform(call, payload, act) {
  const reply = await send(call, act.request);
  write(payload, [...undoable(payload), act.undo(reply)].slice(-MOST_ACTS));
}

/**
 * Undo the last act on this task; false if there is none.
 *
 * @param {(path: string, options?: RequestInit) => Promise<any>} call
 * @param {PanelPayload} payload
 */
export async function undoLast(call, payload) {
  const acts = undoable(payload);
  const last = acts.pop();
  if (!last) return false;
  try {
    await send(call, last);
  } catch (error) {
    // a request that did not arrive can be repeated; a refused request can not
    if (!(error instanceof TypeError)) write(payload, acts);
    throw error;
  }
  write(payload, acts);
  return true;
}

/**
 * The requests that undo what was done on this task, the last one last.
 *
 * @param {PanelPayload} payload
 * @returns {PanelRequest[]}
 */
export function undoable(payload) {
  try {
    const { task, acts } = JSON.parse(recall(KEY));
    return task === taskKey(payload) ? acts : [];
  } catch {
    return [];
  }
}

/** @param {PanelPayload} payload */
export function taskKey(payload) {
  return `${payload?.project?.id ?? ""}/${payload?.task?.id ?? ""}`;
}

function write(payload, acts) {
  store(KEY, JSON.stringify({ task: taskKey(payload), acts }));
}

/**
 * @param {(path: string, options?: RequestInit) => Promise<any>} call
 * @param {PanelRequest} request
 */
function send(call, { path, method, body }) {
  return call(path, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
}
