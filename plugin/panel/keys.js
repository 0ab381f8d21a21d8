/**
 * Keys of the panel. They are those of whoever has the focus in it, so they never reach Label Studio's form, and Label Studio's keys never
 * reach the panel.
 */
const PLAIN = new Set(["s", "x", "u", "i", "t", "a", "d", "n", "?"]);
const STEPS = { arrowdown: 1, j: 1, arrowup: -1, k: -1 };

/**
 * Let keys press the buttons of the panel in `node`.
 *
 * @param {Element} node
 * @param {EventTarget} [where] what has the focus when the panel has it: the node itself, or the whole document of its frame
 * @returns {() => void} ends it
 */
export function listen(node, where = node) {
  const onKey = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
    const key = event.key.toLowerCase();
    const step = STEPS[key];
    const did = step ? go(node, step) : PLAIN.has(key) && press(node, key);
    if (!did) return;
    event.preventDefault();
    event.stopPropagation();
  };
  where.addEventListener("keydown", onKey);
  return () => where.removeEventListener("keydown", onKey);
}

/** Places that the arrows visit: each decision about two texts, and each text without a match. */
function stops(node) {
  const all = [...node.querySelectorAll(".sirr-choice, .sirr-unmatched .sirr-pick")].filter((one) => one.checkVisibility());
  return all.map((one) => (one.matches("button") ? one : one.querySelector("button"))).filter(Boolean);
}

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

function press(node, key) {
  if (key === "?") {
    const help = node.querySelector(".sirr-help");
    if (help) help.open = !help.open;
    return Boolean(help);
  }
  const button = find(node, key);
  if (!button || button.disabled || button.hidden) return false;
  button.click();
  return true;
}

function find(node, key) {
  const active = node.ownerDocument.activeElement;
  const near = active?.closest?.(".sirr-choice");
  const row = active?.closest?.("tr");
  const choice = (verb) => near?.querySelector(`[data-verb="${verb}"]`) ?? null;
  switch (key) {
    case "s":
      return picked(node) === 2 ? node.querySelector('.sirr-together[data-keep$="same"]') : choice("same");
    case "x":
      return picked(node) === 2 ? node.querySelector('.sirr-together[data-keep$="different"]') : choice("different");
    case "u":
      return choice("undo") ?? row?.querySelector('[data-keep*="count-"]:not([data-uncount])') ?? null;
    case "i":
      return (active?.closest?.("li, tr") ?? node).querySelector("[data-uncount]") ?? row?.querySelector("[data-uncount]") ?? null;
    case "t":
      return node.querySelector('[data-keep="accept"]');
    case "a":
      return node.querySelector('[data-keep="agree"]');
    case "d":
      return node.querySelector('[data-keep="done"], [data-keep="undone"]');
    default:
      return node.querySelector('[data-keep="next"]');
  }
}

function picked(node) {
  return node.querySelectorAll('.sirr-pick[aria-pressed="true"]').length;
}
