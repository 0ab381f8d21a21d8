/**
 * What a reviewer does to a task, as requests, with the requests that take it back. `U` takes back the last act, whole:
 * moving a text is two decisions and one act.
 *
 * A request that restores something makes it anew, under a new number: `was` is the number that acts before it know.
 *
 * @typedef {{ path: string, method: string, body?: object, was?: number }} PanelRequest
 * @typedef {{ requests: PanelRequest[], done: string, back(replies: any[]): PanelRequest[] }} PanelAct
 */
import { keep, recall } from "./handover.js";

const KEPT = "softirr-acts";
const MOST = 30;

/**
 * @param {PanelPayload} payload
 * @returns {Record<string, (...given: any[]) => PanelAct>}
 */
export function actsOf(payload) {
  const about = { project: Number(payload.project.id), task: Number(payload.task.id) };
  const query = `?project=${encodeURIComponent(payload.project.id)}`;
  const post = (path, body) => ({ path, method: "POST", body: { ...about, ...body } });
  const remove = (path, id) => ({ path: `${path}/${encodeURIComponent(id)}${query}`, method: "DELETE" });
  const fields = payload.controls ?? [payload];
  const earlier = fields.flatMap((field) => field.decisions ?? []);
  const sameTexts = (a, b) => JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());
  const redecide = (one) => ({ ...post("/api/decisions", { pairs: [one.texts], verdict: one.verdict }), was: one.id });
  const agreeOn = (answers) => post("/api/agreed", { fields: answers });
  const agreedBefore = () => {
    const known = fields.filter((field) => field.agreed);
    return known.length
      ? agreeOn(Object.fromEntries(known.map((field) => [field.name ?? payload.control, field.agreed.texts])))
      : null;
  };

  /** The mark of the task as it is now. */
  const mark = () => {
    const { state, note } = payload.review ?? {};
    if (state === "done") return post("/api/queue", {});
    return state === "sent back" ? post("/api/queue", { state, note }) : remove("/api/queue", payload.task.id);
  };

  return {
    decide: (...decisions) => ({
      requests: [post("/api/decisions", { decisions })],
      done:
        decisions.length > 1
          ? "Saved: moved."
          : `Saved: ${decisions[0].verdict === "same" ? "the same" : "not the same"}.`,
      back: ([reply]) =>
        reply.pairs.map((pair, index) => {
          const before = earlier.find((one) => sameTexts(one.texts, pair));
          return before ? redecide(before) : remove("/api/decisions", reply.ids[index]);
        }),
    }),
    undo: (id) => ({
      requests: [remove("/api/decisions", id)],
      done: "Decision taken back.",
      back: () => earlier.filter((one) => one.id === id).map(redecide),
    }),
    agree: (suggestions) => ({
      requests: [agreeOn(Object.fromEntries(suggestions.map(({ control, texts }) => [control, texts])))],
      done: "Saved as the agreed answer.",
      back: () => [agreedBefore() ?? remove("/api/agreed", payload.task.id)],
    }),
    disagree: () => ({
      requests: [remove("/api/agreed", payload.task.id)],
      done: "Agreed answer taken back.",
      back: () => [agreedBefore()].filter(Boolean),
    }),
    mark: () => ({ requests: [post("/api/queue", {})], done: "Done.", back: () => [mark()] }),
    unmark: () => ({
      requests: [remove("/api/queue", payload.task.id)],
      done: "Back in the queue.",
      back: () => [mark()],
    }),
    sendBack: (note) => ({
      requests: [post("/api/queue", { state: "sent back", note })],
      done: "Sent back to the annotators.",
      back: () => [mark()],
    }),
  };
}

/** Acts run one after the other, and one that is asked for again before it has run runs once. */
export function ordered() {
  const waiting = new Set();
  let last = Promise.resolve();
  return {
    isBusy: () => waiting.size > 0,
    /**
     * @param {unknown} name
     * @param {() => Promise<void>} work which throws nothing
     * @returns {boolean} false where an act of this name waits already
     */
    add(name, work) {
      if (waiting.has(name)) return false;
      waiting.add(name);
      last = last.then(work).finally(() => waiting.delete(name));
      return true;
    },
  };
}

/**
 * Do an act, and note what takes it back.
 *
 * @param {(path: string, options?: RequestInit) => Promise<Response>} call
 * @param {PanelPayload} payload
 * @param {PanelAct} act
 */
export async function perform(call, payload, act) {
  const replies = [];
  try {
    for (const one of act.requests) replies.push(await ask(call, one));
  } finally {
    // also what was done before a later request failed can be taken back
    if (replies.length) remember(payload, act.back(replies));
  }
}

/**
 * Take back the last act on this task; false if there is none.
 *
 * @param {(path: string, options?: RequestInit) => Promise<Response>} call
 * @param {PanelPayload} payload
 */
export async function takeBack(call, payload) {
  const last = noted(payload).at(-1);
  if (!last) return false;
  for (const one of last) {
    let reply;
    try {
      reply = await ask(call, one);
    } catch (error) {
      // what can't be reached now can be taken back later; what is refused can not
      if (!(error instanceof TypeError)) write(payload, noted(payload).slice(0, -1));
      throw error;
    }
    const acts = noted(payload);
    const rest = acts.pop().slice(1);
    write(payload, renumbered([...acts, ...(rest.length ? [rest] : [])], one, reply));
  }
  return true;
}

/**
 * The acts with the new number of what a request restored.
 *
 * @param {PanelRequest[][]} acts
 * @param {PanelRequest} request
 * @param {any} reply
 */
function renumbered(acts, { path, was }, reply) {
  const number = reply.ids?.[0];
  if (was === undefined || number === undefined) return acts;
  const start = `${path}/${was}?`;
  const renumber = (one) =>
    one.path.startsWith(start) ? { ...one, path: `${path}/${number}?${one.path.slice(start.length)}` } : one;
  return acts.map((requests) => requests.map(renumber));
}

/**
 * @param {(path: string, options?: RequestInit) => Promise<Response>} call
 * @param {PanelRequest} request
 */
async function ask(call, { path, method, body }) {
  const response = await call(path, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
  return response.json();
}

/**
 * Project and task of a payload; empty where it names none, as for annotators who still answer.
 *
 * @param {PanelPayload} payload
 */
export function placeOf(payload) {
  return `${payload.project?.id ?? ""}/${payload.task?.id ?? ""}`;
}

/**
 * @param {PanelPayload} payload
 * @returns {PanelRequest[][]}
 */
export function noted(payload) {
  try {
    const { place, acts } = JSON.parse(recall(KEPT));
    return place === placeOf(payload) ? acts : [];
  } catch {
    return [];
  }
}

function remember(payload, requests) {
  write(payload, [...noted(payload), requests].slice(-MOST));
}

function write(payload, acts) {
  keep(KEPT, JSON.stringify({ place: placeOf(payload), acts }));
}
