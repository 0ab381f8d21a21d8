/** The panel of a page: what is pressed while the backend works. */

import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";

import { forget } from "../../../plugin/panel/handover.js";
import { follow } from "../../../plugin/panel/panel.js";
import { open, ready } from "./page.js";

let end = () => {};
/** @type {(signal: AbortSignal) => Promise<void>} */
let slow = async () => {};
afterEach(() => {
  end();
  slow = async () => {};
  forget("softirr-acts");
});

/** A panel whose backend answers nothing until it is let go. */
async function started(more = {}) {
  const page = open();
  const asked = [];
  const held = [];
  let decisions = [];
  globalThis.fetch = async (address, { method = "GET", body, signal } = {}) => {
    const path = new URL(address).pathname;
    if (method === "GET") {
      await slow(signal);
      const viewer = { can_decide: true, can_mark: true, can_take: true };
      const payload = ready({ viewer, decisions, ...more });
      return { ok: true, status: 200, headers: new Map(), json: async () => payload };
    }
    asked.push(`${method} ${path}`);
    await new Promise((go) => {
      held.push(go);
    });
    const pairs = (JSON.parse(body ?? "{}").decisions ?? []).flatMap((one) => one.pairs);
    if (pairs.length) decisions = [{ id: 70 + asked.length, texts: pairs[0], verdict: "same" }];
    return { ok: true, status: 201, json: async () => ({ ids: [70 + asked.length], pairs }) };
  };
  const locate = () => ({ project: "12", task: "101" });
  end = follow(page.node, { backend: "http://backend.example", key: "KEY", locate });
  const settle = () => new Promise((go) => setTimeout(go, 20));
  const release = async () => {
    await settle();
    while (held.length) {
      held.shift()();
      for (let i = 0; i < 4; i += 1) await settle();
    }
  };
  await settle();
  const press = (key) =>
    page.node
      .querySelector(".sirr-texts")
      .dispatchEvent(new page.window.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  return { ...page, asked, press, release, said: () => page.node.querySelector(".sirr-live").textContent };
}

describe("the panel while the backend works", () => {
  it("does once what is pressed twice, and says so", async () => {
    const { asked, press, release, said } = await started();
    press("d");
    press("d");
    assert.equal(said(), "This is being saved already.");
    await release();
    assert.deepEqual(asked, ["POST /api/queue"]);
    assert.equal(said(), "Done.");
  });

  it("takes back an act that is on its way, and says when there is no other", async () => {
    const { asked, press, release, said } = await started();
    press("d");
    press("u");
    press("u");
    await release();
    assert.deepEqual(asked, ["POST /api/queue", "DELETE /api/queue/101"]);
    assert.equal(said(), "There is nothing of yours on this task to take back.");
  });

  it("knows the decision that is on its way, which the next one replaces", async () => {
    const { asked, node, press, release, window } = await started();
    const [, , same] = node.querySelectorAll('[data-verb="same"]');
    const [, , different] = node.querySelectorAll('[data-verb="different"]');
    same.click();
    different.click();
    // a look at the payload that is slower than the clock is aborted by the next one
    let looks = 0;
    Object.defineProperty(window.document, "hidden", { value: false });
    slow = (signal) =>
      new Promise((go, fail) => {
        looks += 1;
        if (looks > 1) setTimeout(go, 10);
        else setTimeout(() => window.document.dispatchEvent(new window.Event("visibilitychange")), 1);
        signal.addEventListener("abort", () => fail(new DOMException("", "AbortError")));
      });
    await release();
    press("u");
    await release();
    assert.deepEqual(asked, ["POST /api/decisions", "POST /api/decisions", "POST /api/decisions"]);
  });
});

describe("the panel of an annotator who still answers", () => {
  it("shows the notice of a payload that names no task", async () => {
    const page = open();
    const payload = { status: "blind", message: "Agreement is not shown while you answer." };
    globalThis.fetch = async () => ({ ok: true, status: 200, headers: new Map(), json: async () => payload });
    end = follow(page.node, { backend: "http://backend.example", key: "KEY", locate: () => ({ project: "12" }) });
    await new Promise((go) => setTimeout(go, 20));
    assert.match(page.node.textContent, /Agreement is not shown while you answer/);
  });
});

describe("the panel of a project without texts", () => {
  it("names no keys for texts", async () => {
    const keys = ({ node }) => [...node.querySelectorAll(".sirr-keys kbd")].map((one) => one.textContent).join(" ");
    assert.equal(keys(await started()), "↑ ↓ S X U I 1–9 T A B D N ?");
    end();
    assert.equal(keys(await started({ controls: [], other_fields: [] })), "U B D N ?");
  });
});
