/**
 * Keys of the panel. They work while the panel has the focus, so they never reach Label Studio's form, and Label
 * Studio's keys never reach the panel.
 */
import { elements } from "./pieces.js";

const STEPS = { arrowdown: 1, arrowup: -1 };
const BUTTONS = { enter: "accept", s: "skip", b: "send-back", u: "undo" };
const VERDICTS = { "=": "same", x: "different" };

/** What the panel says if a key has nothing to do. */
const NOTHING = {
  enter: "Choose a text for the agreed answer, or “empty”.",
  s: "There is no list of tasks here.",
  b: "This task can’t be sent back.",
  u: "There is nothing of yours to undo on this task.",
  "=": "Go to a pair of texts first (↑ ↓).",
  x: "Go to a pair of texts first (↑ ↓).",
  step: "No pair of texts is in doubt.",
  digit: "There is no text with this number.",
};

/**
 * Let keys press the buttons of the panel in `node`.
 *
 * @param {Element} node
 * @param {EventTarget} where what has the focus if the panel has it: the node, or the document of its frame
 * @returns {() => void} stops listening
 */
export function listen(node, where) {
  const onKey = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
    const key = event.key.toLowerCase();
    // Enter presses the button, link or fold that has the focus
    if (key === "enter" && event.target.closest?.("button, summary, a")) return;
    const result = press(node, key);
    if (result === null) return;
    event.preventDefault();
    event.stopPropagation();
    say(node, result);
  };
  where.addEventListener("keydown", onKey);
  return () => where.removeEventListener("keydown", onKey);
}

/**
 * Show a sentence in the footer.
 *
 * @param {Element} node
 * @param {string} text
 */
export function say(node, text) {
  const live = node.querySelector(".sirr-live");
  if (live && text) live.textContent = text;
}

/**
 * Press the button of a key; returns what to say, or null if the panel does not know the key.
 *
 * @param {Element} node
 * @param {string} key
 */
function press(node, key) {
  if (!node.querySelector(".sirr-foot")) return null;
  if (key in STEPS) return step(node, STEPS[key]) ? "" : NOTHING.step;
  if (key === "?") {
    const help = /** @type {HTMLDetailsElement} */ (node.querySelector(".sirr-help"));
    help.open = !help.open;
    return "";
  }
  if (key in BUTTONS) return click(node.querySelector(`[data-id="${BUTTONS[key]}"]`)) ? "" : NOTHING[key];
  if (key in VERDICTS) {
    const pair = node.ownerDocument.activeElement?.closest(".sirr-pair");
    return click(pair?.querySelector(`[data-verdict="${VERDICTS[key]}"]`)) ? "" : NOTHING[key];
  }
  if (key === "0") return click(node.querySelector(".sirr-empty")) ? "" : NOTHING.digit;
  if (/^[1-9]$/.test(key)) return click(elements(node, ".sirr-pick")[Number(key) - 1]) ? "" : NOTHING.digit;
  return null;
}

/** @param {any} element */
function click(element) {
  if (!element || element.disabled) return false;
  element.click();
  return true;
}

/**
 * Move the focus to the next pair of texts in doubt.
 *
 * @param {Element} node
 * @param {number} by
 */
function step(node, by) {
  const pairs = elements(node, ".sirr-pair").filter((pair) => pair.checkVisibility() && pair.querySelector("button"));
  if (!pairs.length) return false;
  const present = pairs.indexOf(node.ownerDocument.activeElement?.closest(".sirr-pair"));
  const next = present < 0 ? (by > 0 ? 0 : pairs.length - 1) : Math.min(pairs.length - 1, Math.max(0, present + by));
  pairs[next].querySelector("button").focus();
  pairs[next].scrollIntoView({ block: "nearest" });
  return true;
}
