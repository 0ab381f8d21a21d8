/** The small parts: numbers as they read, initials, places, keys, and the sentences of the audit page. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

import {
  account,
  cost,
  drawnLines,
  minutes,
  number as numberOfAudit,
  outcome,
  widthSentence,
} from "../../../ml_backend/web/static/audit_words.js";
import { number, safe } from "../../../plugin/panel/pieces.js";
import { locate } from "../../../plugin/panel/spot.js";
import { open } from "./page.js";

describe("numbers", () => {
  it("have the same digits and minus sign as in Python, in the panel and on the audit page", () => {
    const cases = JSON.parse(readFileSync(new URL("numbers.json", import.meta.url), "utf8"));
    for (const writeNumber of [number, numberOfAudit]) {
      assert.deepEqual(
        cases.map(([value]) => [value, writeNumber(value)]),
        cases,
      );
    }
  });
});

describe("addresses", () => {
  it("that run scripts are dropped", () => {
    assert.doesNotMatch(String(safe("javascript:alert(1)")), /javascript/);
    assert.equal(safe("https://labels.example/x"), "https://labels.example/x");
  });
});

describe("where the panel is", () => {
  const another = () => {
    throw new Error("another origin");
  };
  const form = () => ({ Htx: { task: { id: 8 } }, location: { href: "http://ls/projects/12/data?labeling=1" } });
  // its own address, the page that it was opened by, the page around it; the place
  const cases = [
    ["&project=4&task=9&labeling=1", "", another, ["4", "9", true, "query"]],
    ["", "http://ls/projects/12/data?tab=3&task=5271", another, ["12", "5271", false, "referrer"]],
    ["", "http://ls/projects/12/data?tab=3&labeling=1", another, ["12", undefined, true, "referrer"]],
    ["", "http://ls/prefix/projects/12/data?task=7", another, ["12", "7", false, "referrer"]],
    ["", "", another, [undefined, undefined, false, "referrer"]],
    ["", "", form, ["12", "8", true, "same-origin"]],
  ];
  for (const [own, referrer, parent, wanted] of cases) {
    it(`is ${wanted.join(", ")}`, () => {
      const window = {
        location: { href: `http://ls/agreement/panel?k=x${own}` },
        document: { referrer },
        get parent() {
          return parent();
        },
      };
      const { project, task, labeling, door } = locate(window);
      assert.deepEqual([project, task, labeling, door], wanted);
    });
  }
});

describe("the audit page", () => {
  it("gives the time that judgments take", () => {
    assert.equal(cost(60), "60 judgments: about 5 to 12 minutes.");
    assert.equal(cost(1), "1 judgment: about 1 minute.");
    assert.equal(cost(0), "");
    assert.equal(cost(Number.NaN), "");
  });

  it("gives the audited coefficient with its interval", () => {
    open();
    const coefficients = [{ key: "cohen_kappa", name: "Cohen’s kappa", value: -0.1, ci95: [-0.2, 0.05], plain: null }];
    const [value, words] = outcome({ headline: "cohen_kappa", coefficients });
    assert.equal(value.textContent, "−0.10");
    assert.match(words.textContent, /95% interval −0\.20 to 0\.05\. By the measure alone: none\./);
  });

  it("says that judgments without a decision count for nothing", () => {
    open();
    const lines = account({ n: 3, same: 0, different: 0, unsure: 3, counts: true }, 60);
    assert.match(lines[0].textContent, /You judged 3 of 60 pairs: 0 the same, 0 not the same, 3 can’t tell\./);
    assert.match(lines[1].textContent, /counts as not judged/);
  });

  it("forecasts how many judgments a width takes, at the judge's pace", () => {
    const look = { judged: 20, value: 0.5, ci95: [0.35, 0.65], width: 0.3, needed: { 0.2: 50 } };
    const times = [0, 6000, 12_000, 18_000, 600_000, 606_000];
    assert.equal(minutes(30, times), 3);
    assert.equal(minutes(30, []), 4);
    assert.equal(
      widthSentence(look, "0.2", 60, times),
      "After 20 judgments: 0.50, 95% interval 0.35 to 0.65. " +
        "About 30 more judgments (3 minutes at your pace) make it 0.2 wide.",
    );
    assert.match(widthSentence(look, "0.2", 40, times), /make it 0\.2 wide, more than were drawn\.$/);
    assert.match(widthSentence(look, "0.3", 60, times), /You can stop: it is as narrow as you want it\.$/);
    assert.match(widthSentence({ ...look, judged: 5 }, "0.2", 60, times), /After a few more judgments/);
    assert.match(
      widthSentence({ ...look, needed: {} }, "0.2", 60, times),
      / Judgments hardly make it 0\.2 wide: the tasks are too few/,
    );
  });

  it("says who has judged the pairs, and why an audit failed", () => {
    open();
    const judges = [
      { name: "Ann", n: 60 },
      { name: "Ben", n: 12 },
    ];
    const audit = { status: "judging", n_pairs: 60, wanted: 100, created_by: "Lee", judges, unused: "1 pair is gone." };
    assert.deepEqual(
      drawnLines(audit, true).map((line) => line.textContent),
      [
        "60 pairs of texts were drawn for Lee; there are no more than these to judge.",
        "1 pair is gone.",
        "Ann has judged all of them.",
        "Ben has judged 12 of them.",
      ],
    );
    const [failed] = drawnLines({ status: "failed", problem: "no pairs." }, false);
    assert.equal(failed.textContent, "The last audit could not be done: no pairs.");
    assert.deepEqual(drawnLines(null, false), []);
  });
});
