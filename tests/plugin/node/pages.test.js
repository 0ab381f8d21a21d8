/** The report and the audit page while the service is away for a moment, or refuses. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, it, mock } from "node:test";

import { open } from "./page.js";

const PAGE = "http://backend.example/report/12";
const WINDOW_NAMES = ["location", "history", "DOMParser", "Event", "scrollY", "localStorage"];
const AWAY = "The agreement service can’t be reached.";

/**
 * Open a page of the backend.
 *
 * @param {string} body
 * @param {object} answer of the backend's API
 * @returns the page's elements by their id, and the backend, which may be away, or refuse with a status
 */
function openPage(body, answer) {
  const { window } = open(PAGE);
  window.document.documentElement.innerHTML = body;
  for (const name of WINDOW_NAMES) globalThis[name] = window[name];
  for (const name of ["addEventListener", "dispatchEvent"]) globalThis[name] = window[name].bind(window);
  globalThis.scrollTo = () => {};
  const service = { answer, isAway: false, status: 200, nRequests: 0 };
  globalThis.fetch = async () => {
    service.nRequests += 1;
    if (service.isAway) throw new TypeError("Failed to fetch");
    return { ok: service.status < 400, status: service.status, json: async () => service.answer, text: async () => "" };
  };
  return { byId: (id) => window.document.getElementById(id), document: window.document, service };
}

/** Let time pass. */
async function pass(milliseconds) {
  mock.timers.tick(milliseconds);
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function auditPage(answer) {
  const file = new URL("../../../ml_backend/web/templates/audit.html", import.meta.url);
  const template = readFileSync(file, "utf8").replace(/\{%.*?%\}|\{\{.*?\}\}/gs, "");
  return openPage(`<body data-project="12" data-control="findings" data-who="Ann">${template}</body>`, answer);
}

beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
afterEach(() => mock.timers.reset());

describe("the report", () => {
  it("takes a mark back that the service does not save, and shows why", async () => {
    const { byId, document, service } = openPage(
      `<body data-project="12" data-version="1" data-marks="1"><p id="news" hidden></p><main><table>
        <tr data-item="5"><td data-label="Done"></td></tr></table></main></body>`,
      { version: "1", marks: "1" },
    );
    await import("../../../ml_backend/web/static/report.js");
    await pass(0);
    const box = document.querySelector("input.done");
    service.isAway = true;
    box.click();
    await pass(0);
    assert.deepEqual([box.checked, byId("news").textContent], [false, AWAY]);
    Object.assign(service, { isAway: false, answer: { version: "1", marks: "2" } });
    box.click();
    await pass(0);
    assert.equal(box.checked, true);
    assert.ok(document.querySelector("tr.is-done"));
  });
});

describe("the audit page", () => {
  it("waits for an audit and its result while the service is away", async () => {
    const coefficient = { key: "cohen_kappa", name: "Cohen’s kappa", value: 0.4, ci95: null, plain: 0.3 };
    const audit = { id: 3, status: "done", n_pairs: 1, wanted: 1, judges: [{ name: "Ann", n: 1 }] };
    const result = { headline: "cohen_kappa", coefficients: [coefficient], audit: { judgments: 1, judges: 1 } };
    const more = { judge: "Ann", pairs: [{ row: 0, texts: ["a", "b"], verdict: "same" }], own: { n: 1, same: 1 } };
    const { byId, service } = auditPage({ ...audit, ...more, audit, result });
    service.isAway = true;
    await import("../../../ml_backend/web/static/audit.js?away");
    await pass(0);
    assert.equal(byId("said").textContent, AWAY);
    service.isAway = false;
    await pass(5000);
    assert.deepEqual([byId("said").textContent, byId("start").hidden], ["", false]);
    const { nRequests } = service;
    byId("begin").dispatchEvent(new Event("submit", { cancelable: true }));
    while (service.nRequests === nRequests) await null; // the pairs are requested
    service.isAway = true;
    await pass(0);
    assert.deepEqual([byId("said").textContent, byId("done").hidden], [AWAY, true]);
    service.isAway = false;
    await pass(5000);
    assert.equal(byId("result").firstElementChild.textContent, "0.40");
  });

  it("does not repeat a request that the service refuses", async () => {
    const { byId, service } = auditPage({ error: "You have no access." });
    service.status = 403;
    await import("../../../ml_backend/web/static/audit.js?refused");
    await pass(0);
    assert.equal(byId("said").textContent, "You have no access.");
    await pass(60_000);
    assert.equal(service.nRequests, 1);
  });
});
