/** The pages of the backend while it can't be reached for a moment. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, it, mock } from "node:test";

import { open } from "./page.js";

/** Address of a page of the backend, by which it is asked for anew. */
const PAGE = "http://backend.example/report/12";
const OF_WINDOW = ["location", "history", "DOMParser", "Event", "scrollY", "localStorage"];

/**
 * A page of the backend.
 *
 * @param {string} body
 * @param {object} answer of the backend's API
 * @returns the page's elements by their id, and the backend, which may be away and may have a newer page
 */
function openPage(body, answer) {
  const { window } = open(PAGE);
  window.document.documentElement.innerHTML = body;
  for (const name of OF_WINDOW) globalThis[name] = window[name];
  for (const name of ["addEventListener", "dispatchEvent"]) globalThis[name] = window[name].bind(window);
  globalThis.scrollTo = () => {};
  const service = { answer, isAway: false, page: null, asked: 0 };
  globalThis.fetch = async (address) => {
    service.asked += 1;
    if (service.isAway || (address === PAGE && !service.page)) throw new TypeError("Failed to fetch");
    return { ok: true, json: async () => service.answer, text: async () => service.page };
  };
  return { at: (id) => window.document.getElementById(id), document: window.document, service };
}

/** What happens in so many milliseconds. */
async function after(milliseconds) {
  mock.timers.tick(milliseconds);
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
}

describe("a page whose service is away for a moment", () => {
  beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
  afterEach(() => mock.timers.reset());

  it("says that a task is taken back, because it is", async () => {
    const { at, document } = openPage(
      `<body data-project="12" data-version="1" data-marks="1"><p id="news"></p><p id="queue-said"></p><main><table>
        <tr data-task="5" data-sent-back="1"><td><button class="send-back">Take back</button></td></tr>
      </table></main></body>`,
      { version: "1", marks: "1" },
    );
    await import("../../../ml_backend/web/static/report.js");
    document.querySelector("button").click();
    await after(0);
    assert.equal(at("queue-said").textContent, "Task 5 is back in the queue.");
  });

  it("takes the rest of the tasks back later", async () => {
    const template = readFileSync(new URL("../../../ml_backend/web/templates/low.html", import.meta.url), "utf8");
    const { at, service } = openPage(`<body data-project="12">${template}</body>`, { tasks: [5, 6, 7] });
    await import("../../../ml_backend/web/static/low.js");
    at("low-form").dispatchEvent(new Event("submit", { cancelable: true }));
    await after(0);
    assert.equal(at("low-count").textContent, "3 tasks sent back.");
    service.isAway = true;
    at("low-undo").click();
    await after(0);
    assert.equal(at("low-count").textContent, "The agreement service can’t be reached.");
    service.isAway = false;
    at("low-undo").click();
    await after(0);
    assert.equal(at("low-count").textContent, "3 tasks back in the queue.");
  });

  it("waits for an audit and its result", async () => {
    const file = new URL("../../../ml_backend/web/templates/audit.html", import.meta.url);
    const template = readFileSync(file, "utf8").replace(/\{%.*?%\}|\{\{.*?\}\}/gs, "");
    const coefficient = { key: "cohen_kappa", name: "Cohen’s kappa", value: 0.4, ci95: null, plain: 0.3 };
    const audit = { id: 3, status: "done", n_pairs: 1, wanted: 1, judges: [{ name: "Ann", n: 1 }] };
    const result = { headline: "cohen_kappa", coefficients: [coefficient], audit: { judgements: 1, judges: 1 } };
    const more = { judge: "Ann", pairs: [{ place: 0, texts: ["a", "b"], verdict: "same" }], own: { n: 1, same: 1 } };
    const { at, service } = openPage(
      `<body data-project="12" data-control="findings" data-who="Ann">${template}</body>`,
      { ...audit, ...more, audit, result },
    );
    service.isAway = true;
    await import("../../../ml_backend/web/static/audit.js");
    await after(0);
    assert.equal(at("said").textContent, "The agreement service can’t be reached.");
    service.isAway = false;
    await after(5000);
    assert.deepEqual([at("said").textContent, at("start").hidden], ["", false]);
    const { asked } = service;
    at("begin").dispatchEvent(new Event("submit", { cancelable: true }));
    while (service.asked === asked) await null; // the pairs are asked for
    service.isAway = true;
    await after(0);
    assert.deepEqual([at("said").textContent, at("done").hidden], ["The agreement service can’t be reached.", true]);
    service.isAway = false;
    await after(5000);
    assert.equal(at("result").firstElementChild.textContent, "0.40");
  });
});
