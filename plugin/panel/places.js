/** The reader's place in the panel, which an update must not take away. */
import { pick } from "./moving.js";
import { every } from "./pieces.js";

const PRESSED = '.sirr-pick[aria-pressed="true"]';

/**
 * Focus, picks, what is open, what is written and scroll positions.
 *
 * @param {HTMLElement} node
 */
export function remember(node) {
  const active = /** @type {HTMLElement | null} */ (node.ownerDocument.activeElement);
  const [form] = every(node, ".sirr-note-form");
  return {
    focus: node.contains(active) ? active.dataset.keep : undefined,
    picks: every(node, PRESSED).map((one) => [one.dataset.keep, one.textContent]),
    dropped: every(node, '.sirr-keep[aria-pressed="false"]').map((one) => [one.dataset.keep, one.textContent]),
    open: every(node, '.sirr-more[aria-expanded="true"]').map((one) => one.dataset.keep),
    folds: every(node, "[data-fold]").map((one) => [one.dataset.fold, one.open]),
    scrolls: every(node, ".sirr-scroll").map((one) => one.scrollLeft),
    note: form && !form.hidden ? form.querySelector("input").value : null,
  };
}

/**
 * @param {HTMLElement} node
 * @param {ReturnType<typeof remember>} kept
 */
export function restore(node, kept) {
  const named = (keep) => every(node, `[data-keep="${CSS.escape(keep)}"]`)[0];
  for (const [keep, text] of kept.picks) {
    if (named(keep)?.textContent === text) pick(named(keep));
  }
  for (const [keep, text] of kept.dropped) {
    if (named(keep)?.textContent === text) named(keep).click();
  }
  for (const keep of kept.open) named(keep)?.click();
  for (const [fold, open] of kept.folds) {
    const [one] = every(node, `[data-fold="${CSS.escape(fold)}"]`);
    if (one) one.open = open;
  }
  node.querySelectorAll(".sirr-scroll").forEach((one, index) => {
    one.scrollLeft = kept.scrolls[index] ?? 0;
  });
  const [form] = every(node, ".sirr-note-form");
  if (form && kept.note !== null) {
    form.hidden = false;
    form.querySelector("input").value = kept.note;
    named("send-back")?.setAttribute("aria-expanded", "true");
  }
  if (kept.focus) {
    // a button that a decision took away leaves the focus at the table that it was in
    const before = named(kept.focus);
    const usable = before && !before.disabled && !before.hidden;
    (usable ? before : every(node, ".sirr-scroll")[0])?.focus({ preventScroll: true });
  }
}
