/** A page without a browser for the panel, and payloads as the backend sends them. */

import { JSDOM } from "jsdom";
import { makeChoice } from "../../../plugin/panel/choice.js";
import { render } from "../../../plugin/panel/render.js";

/** An empty page, with the globals of a browser that the panel uses. */
export function open(address = "http://panel.example/panel?k=KEY") {
  const { window } = new JSDOM('<!doctype html><main id="panel"></main>', { url: address });
  globalThis.document = window.document;
  window.Element.prototype.checkVisibility = function checkVisibility() {
    return !this.closest("[hidden]");
  };
  window.Element.prototype.scrollIntoView = () => {};
  return { window, node: window.document.getElementById("panel") };
}

export const RATERS = [
  { id: "2", name: "Ann Example" },
  { id: "3", name: "Ben Sample" },
  { id: "4", name: "Chloé Martin" },
];

export const PAIR = { texts: ["fever", "pyrexia"], decision: null, specific: null };

/** A field of texts: a meaning of two annotators, and a text that only one has. */
export function field(changes = {}) {
  return {
    name: "findings",
    title: "findings",
    kind: "text",
    cards: [
      {
        texts: [
          { text: "fever", raters: ["2"] },
          { text: "pyrexia", raters: ["3"] },
        ],
        has: ["2", "3"],
        lacks: ["4"],
        why: null,
        pairs: [PAIR],
      },
      { texts: [{ text: "cough", raters: ["2"] }], has: ["2"], lacks: ["3", "4"], why: null, pairs: [] },
    ],
    suggestion: ["fever"],
    empty: ["4"],
    answers: { 2: ["fever", "cough"], 3: ["pyrexia"], 4: [] },
    written: {},
    ...changes,
  };
}

/** A task with an agreement, as a reviewer sees it. */
export function ready(changes = {}) {
  return {
    status: "ready",
    message: "",
    warnings: [],
    project: { id: 12, title: "Findings" },
    task: { id: 101, agreement: 0.62 },
    sentence: "Chloé Martin wrote nothing.",
    raters: RATERS,
    fields: [field()],
    excluded: [],
    agreed: null,
    review: { state: "open" },
    queue: { done: 12, total: 45 },
    causes: { ambiguous: "ambiguous text", slip: "slip" },
    viewer: { can_decide: true, can_agree: true, name: "Rae", role: "reviewer" },
    links: { report: "http://panel.example/report/12" },
    ...changes,
  };
}

/** Draw a payload; returns the choice and the calls of the actions. */
export function draw(node, payload, names = ["accept", "decide", "sendBack", "next", "reopen", "undoLast"], more = {}) {
  const calls = [];
  const actions = Object.fromEntries(names.map((name) => [name, (...given) => calls.push([name, ...given])]));
  const choice = makeChoice(() => render(node, payload, { actions, choice, ...more }));
  choice.follow(payload);
  render(node, payload, { actions, choice, ...more });
  return { calls, choice };
}
