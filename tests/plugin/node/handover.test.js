/** The focus goes from the panel of a task to that of the next, even if Label Studio draws the next one twice. */

import assert from "node:assert/strict";
import { beforeEach, it, mock } from "node:test";

import { FOCUS, recall, store, takeFocus } from "../../../plugin/panel/handover.js";
import { open } from "./page.js";

const LATER = 5000;
let node = null;

/** A panel as it is drawPanel in a frame. */
function drawPanel() {
  ({ node } = open());
  node.innerHTML = '<div class="sirr" tabindex="-1"></div>';
  Object.defineProperty(node, "offsetHeight", { value: 100 });
  return node;
}

const hasFocus = () => node.contains(node.ownerDocument.activeElement);
const takeOver = () =>
  takeFocus(
    drawPanel(),
    () => false,
    () => {},
  );

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

it("gives the focus to a second frame that replaces the first at once", () => {
  store(FOCUS, "1");
  takeOver();
  assert.ok(hasFocus());
  takeOver();
  assert.ok(hasFocus());
});

it("leaves the focus of a frame alone that is drawPanel later", () => {
  store(FOCUS, "1");
  takeOver();
  mock.timers.tick(LATER);
  takeOver();
  assert.ok(!hasFocus());
});

it("keeps what is stored for the next task while the last one settles", () => {
  store(FOCUS, "1");
  takeOver();
  store(FOCUS, "2");
  mock.timers.tick(LATER);
  assert.equal(recall(FOCUS), "2");
});
