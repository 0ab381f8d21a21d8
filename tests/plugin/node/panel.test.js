/** What the panel shows, and what its buttons and keys do. */

import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";

import { listen } from "../../../plugin/panel/keys.js";
import { draw, field, open, PAIR, ready } from "./page.js";

const HOSTILE = "<img src=x onerror=alert(1)>";
let [window, node] = [null, null];
const text = (selector) => node.querySelector(selector)?.textContent;
const click = (selector) => node.querySelector(selector).click();
const chips = () => [...node.querySelectorAll(".sirr-chip")].map((element) => element.textContent);

beforeEach(() => {
  ({ window, node } = open());
});

describe("a task", () => {
  it("has one sentence, one number, and a card for each meaning", () => {
    draw(node, ready());
    assert.equal(text(".sirr-sentence"), "Chloé Martin wrote nothing.");
    assert.equal(text(".sirr-score"), "0.62");
    assert.equal(node.textContent.match(/\d\.\d\d/g).length, 1, "no other number");
    assert.equal(node.querySelectorAll(".sirr-card").length, 2);
    assert.deepEqual(
      [...node.querySelectorAll(".sirr-card:last-child .sirr-lacks")].map(
        (element) => element.querySelector("bdi").textContent,
      ),
      ["Ben Sample", "Chloé Martin"],
    );
    assert.equal(text(".sirr-progress"), "12 of 45 done");
  });

  it("shows what people wrote as text, never as markup", () => {
    const cards = [
      {
        texts: [{ text: HOSTILE, raters: ["2"] }],
        has: ["2"],
        lacks: [],
        why: { name: "side", text: HOSTILE },
        pairs: [{ ...PAIR, texts: [HOSTILE, "b"] }],
      },
    ];
    const raters = [{ id: "2", name: HOSTILE }];
    const review = { state: "sent back", who: HOSTILE, note: HOSTILE };
    const fields = [field({ cards, suggestion: [HOSTILE], answers: { 2: [HOSTILE] }, written: { 2: [HOSTILE] } })];
    const excluded = [{ name: HOSTILE, reason: HOSTILE }];
    draw(node, ready({ sentence: HOSTILE, raters, fields, review, excluded, warnings: [HOSTILE], message: "" }));
    assert.equal(node.querySelectorAll("img, script").length, 0);
    assert.ok(node.textContent.includes(HOSTILE));
  });

  it("asks only about pairs in doubt, and has no buttons for who may not decide", () => {
    draw(node, ready(), []);
    assert.equal(node.querySelectorAll(".sirr-verdict").length, 0);
    assert.equal(node.querySelectorAll(".sirr-pair").length, 1);
  });

  it("says which text is more specific", () => {
    const cards = [{ ...field().cards[0], pairs: [{ ...PAIR, specific: "pyrexia" }] }];
    draw(node, ready({ fields: [field({ cards })] }));
    assert.match(text(".sirr-pair"), /pyrexia \(more specific\)/);
  });

  it("takes the suggestion, which clicks on texts change", () => {
    const { choice } = draw(node, ready());
    assert.deepEqual(chips(), ["fever"]);
    click('[data-id="pick-findings-1-0"]');
    assert.deepEqual(choice.fields(), { findings: ["fever", "cough"] });
    click(".sirr-chip");
    assert.deepEqual(chips(), ["cough"]);
    assert.equal(node.querySelector('[data-id="pick-findings-1-0"]').getAttribute("aria-pressed"), "true");
    click('[data-id="take-findings-3"]');
    assert.deepEqual(choice.fields(), { findings: ["pyrexia"] });
  });

  it("needs a choice before it can be accepted; empty is one", () => {
    const { choice } = draw(node, ready({ fields: [field({ suggestion: [] })] }));
    assert.equal(node.querySelector('[data-id="accept"]').disabled, true);
    click(".sirr-empty");
    assert.equal(node.querySelector('[data-id="accept"]').disabled, false);
    assert.deepEqual(choice.fields(), { findings: [] });
  });

  it("offers the values of other fields with their majority", () => {
    const severity = {
      name: "severity",
      title: "severity",
      kind: "nominal",
      values: [
        { values: ["mild"], raters: ["2", "3"] },
        { values: ["severe"], raters: ["4"] },
      ],
      suggestion: ["mild"],
      suggested_by: "majority",
    };
    const { choice } = draw(node, ready({ fields: [field(), severity] }));
    assert.deepEqual(choice.fields(), { findings: ["fever"], severity: ["mild"] });
    click('[data-id="value-severity-1"]');
    assert.deepEqual(choice.fields().severity, ["severe"]);
  });

  it("begins with the agreed answer where there is one", () => {
    const agreed = { fields: { findings: ["cough"] }, who: "Rae", when: "2026-11-27T10:00:00Z", answers_changed: true };
    draw(node, ready({ agreed }));
    assert.deepEqual(chips(), ["cough"]);
    assert.match(text(".sirr-live"), /agreed by Rae.*answers have changed since/);
    assert.equal(text('[data-id="reopen"]'), "Withdraw");
  });

  it("can be marked as done by who has no session in Label Studio", () => {
    const { calls } = draw(node, ready(), ["done", "next"]);
    click('[data-id="accept"]');
    assert.deepEqual(
      calls.map(([name]) => name),
      ["done"],
    );
  });
});

describe("decisions", () => {
  const decision = { id: 3, texts: PAIR.texts, verdict: "same", cause: "slip", who: "Rae", when: null };
  const decided = () =>
    ready({ fields: [field({ cards: [{ ...field().cards[0], pairs: [{ ...PAIR, decision }] }] })] });

  it("are one press", () => {
    const { calls } = draw(node, ready());
    click('[data-verdict="different"]');
    assert.equal(calls[0][0], "decide");
    assert.deepEqual(calls[0].slice(1, 3), [PAIR.texts, "different"]);
  });

  it("are withdrawn by pressing again, and have an optional cause", () => {
    const { calls } = draw(node, decided());
    click('[data-verdict="same"]');
    assert.deepEqual(calls[0].slice(0, 3), ["decide", PAIR.texts, "none"]);
    const [ambiguous, slip] = node.querySelectorAll(".sirr-cause");
    assert.equal(slip.getAttribute("aria-pressed"), "true");
    ambiguous.click();
    slip.click();
    assert.deepEqual(
      calls.slice(1).map((call) => call[3]),
      ["ambiguous", null],
    );
  });
});

describe("other states", () => {
  it("show nothing to annotators who answer", () => {
    draw(node, { status: "hidden", message: "", project: { id: 1 }, task: { id: 2 } });
    assert.equal(node.textContent, "");
  });

  it("show the note and the annotator's own texts of a task that came back", () => {
    draw(node, { status: "note", note: "Name the side.", texts: ["arm"], project: { id: 1 }, task: { id: 2 } });
    assert.equal(node.textContent, "A reviewer sent this task back: Name the side.Your answer was:arm");
  });

  it("show why there is no agreement, with progress", () => {
    draw(node, { status: "pending", message: "Being computed.", job: { phase: "x", done: 3, total: 10 } });
    assert.equal(node.querySelector("progress").value, 3);
    draw(node, { status: "unavailable" });
    assert.match(node.textContent, /not affected/);
  });
});

describe("keys", () => {
  const press = (key) => {
    const target = window.document.activeElement;
    target.dispatchEvent(new window.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  };

  it("accept, skip, decide and choose without a mouse", () => {
    const { calls, choice } = draw(node, ready());
    listen(node, window.document);
    node.querySelector(".sirr").focus();
    press("Enter");
    press("s");
    press("ArrowDown");
    press("x");
    press("3");
    press("b");
    assert.deepEqual(
      calls.map(([name]) => name),
      ["accept", "next", "decide"],
    );
    assert.deepEqual(choice.fields(), { findings: ["fever", "cough"] });
    assert.equal(node.querySelector(".sirr-note").hidden, false);
  });

  it("say why they do nothing", () => {
    draw(node, ready({ fields: [field({ suggestion: [] })] }));
    listen(node, window.document);
    node.querySelector(".sirr").focus();
    press("Enter");
    assert.match(text(".sirr-live"), /Choose a text/);
    press("=");
    assert.match(text(".sirr-live"), /Go to a pair/);
  });

  it("leave what is typed alone", () => {
    const { calls } = draw(node, ready());
    listen(node, window.document);
    click('[data-id="send-back"]');
    press("s");
    assert.deepEqual(calls, []);
  });
});

describe("an update", () => {
  it("keeps the focus, open parts and the note", () => {
    const payload = ready();
    draw(node, payload);
    click('[data-id="send-back"]');
    node.querySelector(".sirr-note input").value = "half a se";
    node.querySelector(".sirr-help").open = true;
    draw(node, payload);
    assert.equal(node.querySelector(".sirr-note input").value, "half a se");
    assert.equal(node.querySelector(".sirr-help").open, true);
    assert.equal(window.document.activeElement.dataset.id, "note");
  });
});
