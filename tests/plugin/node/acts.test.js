/** Acts of reviewers as requests, and what undoes them. */

import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";

import { actsOf, perform, undoable, undoLast } from "../../../plugin/panel/acts.js";
import { field, open, PAIR, ready } from "./page.js";

let requests = [];
let reply = {};
const call = async (path, options) => {
  requests.push([options.method, path, options.body ? JSON.parse(options.body) : null]);
  return reply;
};
const taskOfReview = { project: 12, task: 101 };

beforeEach(() => {
  const { window } = open();
  globalThis.sessionStorage = window.sessionStorage;
  [requests, reply] = [[], {}];
});

describe("undo", () => {
  it("withdraws a decision, and restores the one that it replaced with its cause", async () => {
    const undecided = ready();
    await perform(call, undecided, actsOf(undecided).decide(PAIR.texts, "same"));
    const decision = { id: 1, texts: PAIR.texts, verdict: "same", cause: "slip" };
    const decided = ready({ fields: [field({ cards: [{ ...field().cards[0], pairs: [{ ...PAIR, decision }] }] })] });
    await perform(call, decided, actsOf(decided).decide(PAIR.texts, "different"));
    await undoLast(call, decided);
    await undoLast(call, decided);
    const sent = requests.map(([, , body]) => [body.verdict, body.cause]);
    assert.deepEqual(sent, [
      ["same", null],
      ["different", null],
      ["same", "slip"],
      ["none", null],
    ]);
    assert.equal(await undoLast(call, decided), false);
  });

  it("withdraws an agreed answer and gives the star back to the annotation that had it", async () => {
    reply = { annotation: 7, replaced: 5 };
    const payload = ready();
    await perform(call, payload, actsOf(payload).accept({ findings: ["fever"] }, true));
    await undoLast(call, payload);
    assert.deepEqual(requests, [
      ["POST", "/api/agreed", { ...taskOfReview, fields: { findings: ["fever"] }, replace: true }],
      ["DELETE", "/api/agreed/101?project=12&restore=5", null],
    ]);
  });

  it("restores the agreed answer before", async () => {
    const payload = ready({ agreed: { fields: { findings: ["cough"] }, who: "", when: "", answers_changed: false } });
    await perform(call, payload, actsOf(payload).accept({ findings: [] }, false));
    await undoLast(call, payload);
    assert.deepEqual(requests.at(-1)[2].fields, { findings: ["cough"] });
  });

  it("reopens a task that was sent back", async () => {
    const payload = ready();
    await perform(call, payload, actsOf(payload).sendBack("Name the side."));
    await undoLast(call, payload);
    assert.deepEqual(requests.at(-1), ["DELETE", "/api/queue/101?project=12", null]);
  });

  it("belongs to a task, and stays possible after a request that did not arrive", async () => {
    const payload = ready();
    await perform(call, payload, actsOf(payload).done());
    const away = async () => {
      throw new TypeError("no network");
    };
    await assert.rejects(undoLast(away, payload));
    assert.equal(undoable(payload).length, 1);
    const refused = async () => {
      throw new Error("refused");
    };
    await assert.rejects(undoLast(refused, payload));
    assert.equal(undoable(payload).length, 0, "a refused request can't be repeated");
    await perform(call, payload, actsOf(payload).done());
    assert.equal(undoable(ready({ task: { id: 102 } })).length, 0);
  });
});
