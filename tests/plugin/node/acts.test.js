/** What a reviewer does, and how `U` takes the last act back, whole. */

import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";

import { actsOf, noted, perform, takeBack } from "../../../plugin/panel/acts.js";
import { forget } from "../../../plugin/panel/handover.js";
import { ready } from "./page.js";

let asked;
let number;
let proposal;
/** A backend that notes requests and numbers decisions. */
async function call(path, { method, body }) {
  const sent = body ? JSON.parse(body) : null;
  asked.push([method, path, sent]);
  if (path.includes("fails")) throw new Error("No.");
  const pairs = (sent?.decisions ?? [sent]).flatMap((one) => one?.pairs ?? []);
  const agreed = { id: 9, control: sent?.control };
  const reply = {
    "/api/decisions": { ids: pairs.map((_, index) => number + index), pairs },
    "/api/uncounted": { proposal },
    "/api/consensus": { agreed },
  };
  return { json: async () => reply[path] ?? {} };
}

beforeEach(() => {
  [asked, number, proposal] = [[], 70, 5];
  forget("softirr-acts");
});

const MOVE = [
  { pairs: [["cough", "dry cough"]], verdict: "same" },
  { pairs: [["cough", "fever"]], verdict: "different" },
];

describe("the last act", () => {
  it("is taken back whole: a move is two decisions", async () => {
    const payload = ready();
    await perform(call, payload, actsOf(payload).decide(...MOVE));
    assert.equal(asked.length, 1);
    assert.deepEqual(asked[0][2].decisions, MOVE);
    assert.equal(await takeBack(call, payload), true);
    assert.deepEqual(asked.slice(1), [
      ["DELETE", "/api/decisions/70?project=12", null],
      ["DELETE", "/api/decisions/71?project=12", null],
    ]);
    assert.equal(await takeBack(call, payload), false);
  });

  it("restores a decision that it replaced", async () => {
    const payload = ready({ decisions: [{ id: 3, texts: ["fever", "cough"], verdict: "same" }] });
    await perform(call, payload, actsOf(payload).decide(MOVE[1]));
    await takeBack(call, payload);
    const restored = { project: 12, task: 101, pairs: [["fever", "cough"]], verdict: "same" };
    assert.deepEqual(asked.at(-1), ["POST", "/api/decisions", restored]);
  });

  it("can be any act, the newest first", async () => {
    const payload = ready({ review: { state: "sent back", note: "Again." } });
    const acts = actsOf(payload);
    await perform(call, payload, acts.uncount("side"));
    await perform(call, payload, acts.agree([{ control: "findings", texts: ["fever"] }]));
    await perform(call, payload, acts.mark());
    asked = [];
    while (await takeBack(call, payload));
    assert.deepEqual(asked, [
      ["POST", "/api/queue", { project: 12, task: 101, state: "sent back", note: "Again." }],
      ["DELETE", "/api/consensus/9?project=12", null],
      ["DELETE", "/api/uncounted/5?project=12", null],
    ]);
  });

  it("is the last one on this task", async () => {
    const payload = ready();
    await perform(call, payload, actsOf(payload).sendBack("Name the side."));
    assert.equal(noted(payload).length, 1);
    assert.equal(noted(ready({ task: { id: 102 } })).length, 0);
  });

  it("is taken back under its new number after it was restored", async () => {
    const payload = ready();
    const fever = { id: 70, texts: ["cough", "fever"], verdict: "different" };
    await perform(call, payload, actsOf(payload).decide(MOVE[1])); // decision 70
    const decided = ready({ decisions: [fever] });
    await perform(call, decided, actsOf(decided).decide({ ...MOVE[1], verdict: "same" }));
    number = 72;
    await takeBack(call, decided); // decides anew: 72
    await takeBack(call, ready({ decisions: [{ ...fever, id: 72 }] }));
    assert.deepEqual(asked.at(-1), ["DELETE", "/api/decisions/72?project=12", null]);

    await perform(call, payload, actsOf(payload).uncount("side")); // proposal 5
    const proposed = ready({ uncounted: [{ id: 5, attribute: "side", task: 101 }] });
    await perform(call, proposed, actsOf(proposed).count(5));
    proposal = 6;
    await takeBack(call, payload);
    await takeBack(call, payload);
    assert.deepEqual(asked.at(-1), ["DELETE", "/api/uncounted/6?project=12", null]);
  });

  it("stays where the backend can't be reached, and goes where the backend refuses", async () => {
    const payload = ready();
    await perform(call, payload, actsOf(payload).decide(...MOVE));
    let error = new TypeError("Failed to fetch");
    const away = async (path) => (path.includes("/71") ? Promise.reject(error) : call(path, { method: "DELETE" }));
    await assert.rejects(takeBack(away, payload));
    assert.deepEqual(
      noted(payload)
        .flat()
        .map((one) => one.path),
      ["/api/decisions/71?project=12"],
    );
    error = new Error("This decision was already withdrawn.");
    await assert.rejects(takeBack(away, payload));
    assert.equal(noted(payload).length, 0);
  });

  it("covers what was done before a request failed", async () => {
    const payload = ready();
    const act = actsOf(payload).agree([{ control: "findings", texts: [] }]);
    act.requests.push({ path: "/fails", method: "POST" });
    await assert.rejects(perform(call, payload, act));
    assert.equal(noted(payload).length, 1);
  });
});
