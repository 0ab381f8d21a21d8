/**
 * Keys of the panel. Whoever has the focus in the panel presses them, so they never reach Label Studio's form, and
 * Label Studio's keys never reach the panel. Each key does something or says why not.
 */
import { every } from "./pieces.js";

const STEPS = { arrowdown: 1, j: 1, arrowup: -1, k: -1 };
const DIGIT = /^[1-9]$/;

/** What a key answers that has nothing to do here. */
export const NOTHING = {
  step: "There is no pair of texts to decide about.",
  s: "Go to a pair first (↑ ↓), or select two texts.",
  x: "Go to a pair first (↑ ↓), or select two texts.",
  u: "There is nothing of yours on this task to take back.",
  i: "No difference here can be proposed not to count.",
  t: "There is no suggestion that can be taken.",
  a: "There is no suggestion to accept, or it is accepted already.",
  d: "This task can’t be marked as done here.",
  b: "This task can’t be sent back here, or it is sent back already.",
  n: "There is no list of tasks here.",
  digit: "The suggestion has no text with this number to drop.",
  "?": "There is no help here.",
};

/**
 * Let keys press the buttons of the panel in `node`.
 *
 * @param {Element} node
 * @param {EventTarget} [where] what has the focus when the panel has it: the node, or the whole document of its frame
 * @returns {() => void} ends it
 */
export function listen(node, where = node) {
  const onKey = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
    const key = event.key.toLowerCase();
    const step = STEPS[key];
    const kind = step ? "step" : DIGIT.test(key) ? "digit" : key;
    // a panel without a button has nothing for keys to do
    if (!(kind in NOTHING) || !node.querySelector("button")) return;
    event.preventDefault();
    event.stopPropagation();
    answer(node, "");
    if (!(step ? go(node, step) : press(node, key))) answer(node, NOTHING[kind]);
  };
  where.addEventListener("keydown", onKey);
  return () => where.removeEventListener("keydown", onKey);
}

/**
 * Say something in the panel's line of messages.
 *
 * @param {Element} node
 * @param {string} text
 */
export function answer(node, text) {
  const [live] = every(node, ".sirr-live");
  if (live) live.textContent = text;
}

/**
 * Places that the arrows visit: each decision about two texts, each text without a match, and each meaning that opens.
 *
 * @param {Element} node
 * @returns {HTMLElement[]}
 */
function stops(node) {
  const places = ".sirr-choice, .sirr-unmatched .sirr-pick, .sirr-meaning > details > summary";
  const all = every(node, places).filter((one) => one.checkVisibility());
  return all.map((one) => (one.matches(".sirr-choice") ? one.querySelector("button") : one)).filter(Boolean);
}

/**
 * @param {Element} node
 * @param {number} step
 */
function go(node, step) {
  const all = stops(node);
  if (!all.length) return false;
  const active = node.ownerDocument.activeElement;
  const here = active?.closest?.(".sirr-choice");
  const at = all.findIndex((one) => one === active || (here && here.contains(one)));
  const to = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step))];
  to.focus();
  to.scrollIntoView({ block: "nearest" });
  return true;
}

/**
 * @param {Element} node
 * @param {string} key
 */
function press(node, key) {
  if (key === "?") {
    const [help] = every(node, ".sirr-help");
    if (help) help.open = !help.open;
    return Boolean(help);
  }
  const button = target(node, key);
  if (!button || button.disabled || button.hidden) return false;
  button.click();
  return true;
}

/**
 * @param {Element} node
 * @param {string} key
 * @returns {any} the button that the key presses, or null
 */
function target(node, key) {
  const active = node.ownerDocument.activeElement;
  const near = active?.closest?.(".sirr-choice");
  const choice = (verb) => near?.querySelector(`[data-verb="${verb}"]`) ?? null;
  const compared = node.querySelectorAll('.sirr-pick[aria-pressed="true"]').length === 2;
  const together = (verdict) =>
    compared ? node.querySelector(`.sirr-together[data-keep$="${verdict}"]`) : choice(verdict);
  /** @returns {any} */
  const named = (...keeps) => node.querySelector(keeps.map((keep) => `[data-keep="${keep}"]`).join(", "));
  if (DIGIT.test(key)) return node.querySelectorAll(".sirr-keep")[Number(key) - 1];
  switch (key) {
    case "s":
      return together("same");
    case "x":
      return together("different");
    case "u": {
      const back = named("back");
      return back && !back.disabled ? back : choice("undo");
    }
    case "i":
      return (active?.closest?.("li, tr") ?? node).querySelector("[data-uncount]") ?? null;
    case "t":
      return named("accept");
    case "a":
      return named("agree");
    case "d":
      return named("done", "undone");
    case "b":
      return named("send-back");
    default:
      return named("next");
  }
}
