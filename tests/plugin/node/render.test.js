/** What the panel draws for a payload, and which actions its buttons call. */

import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";

import { render } from "../../../plugin/panel/render.js";
import { noted, open, ready } from "./page.js";

let node;
beforeEach(() => {
  ({ node } = open());
});
const all = (selector) => [...node.querySelectorAll(selector)];
const words = (selector) => all(selector).map((one) => one.textContent);

describe("a task that is not ready", () => {
  for (const status of ["pending", "blind", "none", "unavailable"]) {
    it(`says why it is ${status}, and shows no number`, () => {
      render(node, { status, message: "Because of this.", raters: [] });
      assert.match(node.textContent, /Because of this\./);
      assert.equal(node.querySelector(".sirr").dataset.status, status);
      assert.deepEqual(all(".sirr-number, .sirr-value, table"), []);
    });
  }

  it("has a sentence of its own where the backend gives none", () => {
    render(node, { status: "unavailable", raters: [] });
    assert.match(node.textContent, /can’t be shown right now/);
  });
});

describe("a task that is ready", () => {
  it("puts each text into the column of its annotator", () => {
    render(node, ready());
    const [row] = all("tr[data-match]");
    const cells = [...row.querySelectorAll("td")];
    assert.deepEqual(
      cells.map((cell) => [cell.dataset.label, cell.querySelector(".sirr-text").textContent]),
      [
        ["Ann Example", "fever"],
        ["Ben Sample", "pyrexia"],
        ["Chloé Martin", "high fever"],
      ],
    );
    assert.deepEqual(words(".sirr-unmatched .sirr-text"), ["cough"]);
  });

  it("lists the pairs of a row from the lowest value and marks those below the threshold", () => {
    render(node, ready());
    assert.deepEqual(
      all("[data-pair]").map((one) => one.dataset.pair),
      ["0.4", "0.55", "0.9"],
    );
    assert.deepEqual(
      all(".sirr-low").map((one) => one.dataset.pair),
      ["0.4"],
    );
  });

  it("folds the pairs of a row whose values lie close together", () => {
    const [match] = ready().matches;
    const pairs = match.pairs.map((pair, index) => ({ ...pair, equivalence: 0.8 + index / 100 }));
    render(node, ready({ matches: [{ ...match, pairs }] }));
    assert.deepEqual(words("details[data-fold^='pairs'] summary"), ["mean of 3 pairs"]);
  });
});

describe("decisions", () => {
  it("are about the two texts of the pair", () => {
    const { calls, actions } = noted("decide", "undo");
    render(node, ready(), actions);
    const [lowest] = all("li[data-pair='0.4']");
    lowest.querySelector("[data-verb='different']").click();
    assert.deepEqual(calls, [["decide", { pairs: [["fever", "high fever"]], verdict: "different" }]]);
  });

  it("can be taken back", () => {
    const { calls, actions } = noted("decide", "undo");
    const [match] = ready().matches;
    const pairs = match.pairs.map((pair) => ({ ...pair, decision: { id: 7, verdict: "same" } }));
    render(node, ready({ matches: [{ ...match, pairs }] }), actions);
    all("[data-verb='undo']")[0].click();
    assert.deepEqual(calls, [["undo", 7]]);
  });

  it("are not offered to somebody who may not decide", () => {
    render(node, ready({ viewer: { can_decide: false } }), noted("decide", "undo").actions);
    assert.deepEqual(all("[data-verb], .sirr-pick"), []);
  });

  it("move a text: the same as the texts of the row, whoever wrote them", () => {
    const { calls, actions } = noted("decide", "undo");
    render(node, ready({ unmatched: { 2: ["high temperature"] }, matches: [{ ...twoTexts() }] }), actions);
    const [alone] = all(".sirr-unmatched .sirr-pick");
    alone.click();
    node.querySelector(".sirr-move[data-row='0']").click();
    const pairs = [
      ["high temperature", "pyrexia"],
      ["high temperature", "fever"],
    ];
    assert.deepEqual(calls, [["decide", { pairs, verdict: "same" }]]);
  });

  it("take a text out of its row: not the same as the others there", () => {
    const { calls, actions } = noted("decide", "undo");
    render(node, ready({ unmatched: {}, matches: [{ ...twoTexts() }] }), actions);
    all("tr[data-match] .sirr-pick")[0].click();
    node.querySelector(".sirr-move[data-row='alone']").click();
    assert.deepEqual(calls, [["decide", { pairs: [["pyrexia", "fever"]], verdict: "different" }]]);
  });
});

function twoTexts() {
  return {
    texts: { 3: "pyrexia", 4: "fever" },
    equivalence: 0.9,
    relation: "equivalent",
    pairs: [{ raters: ["3", "4"], equivalence: 0.9 }],
  };
}

describe("an update", () => {
  it("keeps the focus and what is selected", () => {
    const { actions } = noted("decide", "undo");
    render(node, ready(), actions);
    const [first] = all(".sirr-pick");
    first.click();
    first.focus();
    const { keep } = first.dataset;
    render(node, ready({ message: "Saved." }), actions);
    assert.equal(node.ownerDocument.activeElement.dataset.keep, keep);
    assert.deepEqual(
      all('.sirr-pick[aria-pressed="true"]').map((one) => one.dataset.keep),
      [keep],
    );
  });
});
