/** The pages of the backend while it can't be reached for a moment. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";

import { open } from "./page.js";

/** Address of a page of the backend, by which it is asked for anew. */
const PAGE = "http://backend.example/report/12";
const settled = () => new Promise((done) => setImmediate(done));

/**
 * A page of the backend.
 *
 * @param {string} body
 * @param {object} answer of the backend's API
 * @returns {{document: Document, service: {page: string | null}}} the page, and the newest one that the backend has
 */
function openPage(body, answer) {
  const { window } = open(PAGE);
  window.document.documentElement.innerHTML = body;
  window.scrollTo = () => {};
  const names = [
    "location",
    "history",
    "DOMParser",
    "Event",
    "addEventListener",
    "dispatchEvent",
    "scrollY",
    "scrollTo",
  ];
  for (const name of names) {
    const value = typeof window[name] === "function" && name in window.EventTarget.prototype;
    globalThis[name] = value ? window[name].bind(window) : window[name];
  }
  const service = { page: null };
  globalThis.fetch = async (address) => {
    if (address !== PAGE) return { ok: true, json: async () => answer };
    if (service.page === null) throw new TypeError("Failed to fetch");
    return { ok: true, text: async () => service.page };
  };
  return { document: window.document, service };
}

describe("a page whose newest parts can't be had", () => {
  beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
  afterEach(() => mock.timers.reset());

  it("looks again for a codebook that is made meanwhile", async () => {
    const { document, service } = openPage(
      '<body data-project="12" data-control="findings" data-waiting="1"><p id="said"></p><main>old</main></body>',
      { waiting: false, made_at: 5 },
    );
    const look = async () => {
      mock.timers.tick(1500);
      for (let turn = 0; turn < 5; turn += 1) await settled();
      return [document.querySelector("main").textContent, document.getElementById("said").textContent];
    };
    await import("../../../ml_backend/web/static/codebook.js");
    assert.deepEqual(await look(), ["old", ""]);
    service.page = '<body data-made="5"><main>nausea</main></body>';
    assert.deepEqual(await look(), ["nausea", "The codebook is made."]);
  });

  it("says that a task is taken back, because it is", async () => {
    const { document } = openPage(
      `<body data-project="12" data-version="1" data-marks="1"><p id="news"></p><p id="queue-said"></p><main><table>
        <tr data-task="5" data-sent-back="1"><td><button class="send-back">Take back</button></td></tr>
      </table></main></body>`,
      { version: "1", marks: "1" },
    );
    await import("../../../ml_backend/web/static/report.js");
    document.querySelector("button").click();
    for (let turn = 0; turn < 5; turn += 1) await settled();
    assert.equal(document.getElementById("queue-said").textContent, "Task 5 is back in the queue.");
  });
});
