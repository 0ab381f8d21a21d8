/** A page without a browser, for what draws the panel, and payloads as the backend sends them. */

import { JSDOM } from "jsdom";

/** An empty page; `globals` of a browser that the panel uses are set while it is open. */
export function open(address = "http://panel.example/panel?k=KEY") {
  const { window } = new JSDOM('<!doctype html><main id="panel"></main>', { url: address });
  globalThis.document = window.document;
  globalThis.ResizeObserver = class {
    observe() {}
    disconnect() {}
  };
  globalThis.CSS = { escape: (text) => String(text).replace(/["\\]/g, "\\$&") };
  window.Element.prototype.checkVisibility = function checkVisibility() {
    return !this.closest("[hidden]");
  };
  window.Element.prototype.scrollIntoView = () => {};
  return { window, node: window.document.getElementById("panel") };
}

export const RATERS = [
  { id: "2", name: "Ann Example", n_texts: 1 },
  { id: "3", name: "Ben Sample", n_texts: 1 },
  { id: "4", name: "Chloé Martin", n_texts: 1 },
];

/** A task with an agreement: one row of three texts, and one text that stands alone. */
export function ready(changes = {}) {
  return {
    status: "ready",
    message: "",
    project: { id: 12, title: "Findings", coefficient: null },
    task: { id: 101, agreement: 0.62, word: "moderate", rank: 2, n_ranked: 9, n_raters: 3 },
    control: "findings",
    threshold: 0.5,
    raters: RATERS,
    matrix: [
      [1, 0.9, 0.4],
      [0.9, 1, 0.55],
      [0.4, 0.55, 1],
    ],
    matches: [
      {
        texts: { 2: "fever", 3: "pyrexia", 4: "high fever" },
        equivalence: 0.6167,
        relation: "equivalent",
        pairs: [
          { raters: ["2", "3"], equivalence: 0.9 },
          { raters: ["2", "4"], equivalence: 0.4 },
          { raters: ["3", "4"], equivalence: 0.55 },
        ],
      },
    ],
    unmatched: { 2: ["cough"] },
    suggestion: ["fever"],
    reasons: [],
    decisions: [],
    excluded: [],
    verdict: "fever: two of three agree",
    provenance: { measure: "nli" },
    viewer: { can_decide: true },
    links: {},
    uncounted: [],
    ...changes,
  };
}

/** Actions that note their calls. */
export function noted(...names) {
  const calls = [];
  return {
    calls,
    actions: Object.fromEntries(names.map((name) => [name, (...given) => calls.push([name, ...given])])),
  };
}
