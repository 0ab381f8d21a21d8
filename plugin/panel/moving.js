/**
 * Moving a text to another row, and comparing two texts. Moving is a number of decisions: the text is the same as
 * each text of that row, and not the same as those that it matched before.
 */
import { pairsOf } from "./pairs.js";
import { every, inline, openable, press, written } from "./pieces.js";

export const ALONE = "alone";

/**
 * A text that can be selected, and dragged to another row; with a button that opens it where it is long.
 *
 * @param {PanelContext} context
 * @param {PanelRater} rater
 * @param {string} text
 * @param {string | number} row
 * @param {string} place
 * @returns {HTMLElement[]}
 */
export function picking(context, rater, text, row, place) {
  const { h, name, part } = context;
  const keep = `${part}pick-${rater.id}-${place}`;
  const button = press(h, keep, written(h, text), () => pick(button), {
    class: "sirr-pick",
    "aria-pressed": "false",
    draggable: "true",
    "data-rater": rater.id,
    "data-row": row,
    title: `Select or drag this text of ${inline(name(rater.id))}`,
  });
  button.addEventListener("dragstart", (event) => {
    event.dataTransfer.setData("text/plain", text);
    event.dataTransfer.effectAllowed = "move";
    button.classList.add("sirr-dragged");
  });
  button.addEventListener("dragend", () => button.classList.remove("sirr-dragged"));
  if (row === ALONE) {
    takesDrops(
      context,
      button,
      (picked) => picked.dataset.rater !== button.dataset.rater && decidePair(context, picked, button, "same"),
    );
  }
  return openable(h, button, text, keep);
}

/** @param {HTMLElement} button */
function textOf(button) {
  return button.querySelector(".sirr-text")?.textContent ?? "";
}

/**
 * What is dropped on `node`, of the same panel and field, is handed to `done`.
 *
 * @param {PanelContext} context
 * @param {HTMLElement} node
 * @param {(picked: HTMLElement) => void} done
 */
export function takesDrops(context, node, done) {
  const dragged = () => every(node.closest(".sirr-body") ?? node, ".sirr-dragged")[0];
  const fits = () => {
    const one = dragged();
    return (
      one &&
      one !== node &&
      one.dataset.row !== node.dataset.match &&
      !(node.classList.contains("sirr-unmatched") && one.dataset.row === ALONE)
    );
  };
  node.addEventListener("dragover", (event) => {
    if (!fits()) return;
    event.preventDefault();
    node.classList.add("sirr-target");
  });
  node.addEventListener("dragleave", () => node.classList.remove("sirr-target"));
  node.addEventListener("drop", (event) => {
    node.classList.remove("sirr-target");
    if (!fits()) return;
    event.preventDefault();
    event.stopPropagation();
    done(dragged());
  });
}

/**
 * One text selected to be moved, or one of each of two annotators to be compared; a third replaces the older of
 * the others.
 *
 * @param {HTMLElement} button
 */
export function pick(button) {
  const panel = button.closest(".sirr-body");
  const pressed = every(panel, '.sirr-pick[aria-pressed="true"]').sort((a, b) => a.dataset.order - b.dataset.order);
  const on = button.getAttribute("aria-pressed") !== "true";
  if (on) {
    const same = pressed.filter((other) => other.dataset.rater === button.dataset.rater);
    for (const other of same.length ? same : pressed.slice(0, Math.max(0, pressed.length - 1))) {
      other.setAttribute("aria-pressed", "false");
    }
    button.dataset.order = String(1 + Math.max(0, ...pressed.map((other) => Number(other.dataset.order))));
  }
  button.setAttribute("aria-pressed", String(on));
  offer(panel);
}

/**
 * What can be done with the selected texts.
 *
 * @param {Element} panel
 */
function offer(panel) {
  const picked = every(panel, '.sirr-pick[aria-pressed="true"]');
  for (const one of every(panel, ".sirr-together")) {
    one.disabled = picked.length !== 2;
    one.hidden = !picked.length;
  }
  const [only] = picked.length === 1 ? picked : [];
  for (const one of every(panel, ".sirr-move")) {
    one.hidden = !only || one.dataset.row === only.dataset.row;
    const [twice, identical] =
      only && !one.hidden
        ? [
            one.dataset.row !== ALONE && holdsAlready(panel, only, one.dataset.row),
            one.dataset.row === ALONE && isIdentical(panel, only),
          ]
        : [];
    one.disabled = Boolean(twice || identical);
    one.title = twice
      ? "The annotator has the same words in this row already."
      : identical
        ? "The other annotators wrote the same words."
        : "";
  }
}

/**
 * The texts of a row without the texts of the annotator whose text is moved there.
 *
 * @param {Element} panel
 * @param {HTMLElement} picked
 * @param {string} row
 */
function othersIn(panel, picked, row) {
  const all = every(panel, `.sirr-pick[data-row="${CSS.escape(row)}"]`);
  return [...new Set(all.filter((one) => one.dataset.rater !== picked.dataset.rater).map(textOf))];
}

/**
 * @param {Element} panel
 * @param {HTMLElement} picked
 * @param {string} row
 */
function holdsAlready(panel, picked, row) {
  return every(panel, `.sirr-pick[data-row="${CSS.escape(row)}"]`).some(
    (one) => one.dataset.rater === picked.dataset.rater && textOf(one) === textOf(picked),
  );
}

/**
 * @param {Element} panel
 * @param {HTMLElement} picked
 */
function isIdentical(panel, picked) {
  return othersIn(panel, picked, picked.dataset.row).every((text) => text === textOf(picked));
}

/**
 * @param {PanelContext} context
 * @param {string | number} row
 */
export function moveButton(context, row) {
  const { h, part } = context;
  const label = row === ALONE ? "Take out of its row" : "Move here";
  const act = () => {
    const [picked] = every(button.closest(".sirr-body"), '.sirr-pick[aria-pressed="true"]');
    if (picked) move(context, picked, row);
  };
  const button = press(h, `${part}move-${row}`, label, act, { class: "sirr-move", hidden: true, "data-row": row });
  return button;
}

/**
 * @param {PanelContext} context
 * @param {HTMLElement} picked
 * @param {string | number} row
 */
export function move({ actions, payload }, picked, row) {
  const panel = picked.closest(".sirr-body");
  const text = textOf(picked);
  if (row !== ALONE && holdsAlready(panel, picked, String(row))) return;
  const there = row === ALONE ? [] : othersIn(panel, picked, String(row)).filter((other) => other !== text);
  // it is not the same as what it was equivalent to in its row; what was not equivalent needs no decision
  const before = picked.dataset.row === ALONE ? null : payload.matches[Number(picked.dataset.row)];
  const threshold = payload.threshold ?? 0.5;
  const left = before
    ? pairsOf(before)
        .filter(
          (pair) =>
            pair.raters.map(String).includes(picked.dataset.rater) &&
            (row === ALONE || (pair.equivalence ?? before.equivalence) >= threshold),
        )
        .map((pair) => before.texts[pair.raters.find((id) => String(id) !== picked.dataset.rater)])
        .filter((other) => other !== text && !there.includes(other))
    : [];
  /** @type {{ pairs: string[][], verdict: PanelVerdict }[]} */
  const all = [
    { pairs: there.map((other) => [text, other]), verdict: "same" },
    { pairs: [...new Set(left)].map((other) => [text, other]), verdict: "different" },
  ];
  const decisions = all.filter((one) => one.pairs.length);
  if (decisions.length) {
    letGo(panel);
    actions.decide(...decisions);
  }
}

/**
 * @param {PanelContext} context
 * @param {HTMLElement} one
 * @param {HTMLElement} other
 * @param {PanelVerdict} verdict
 */
function decidePair({ actions }, one, other, verdict) {
  if (textOf(one) === textOf(other)) return;
  letGo(one.closest(".sirr-body"));
  actions.decide({ pairs: [[textOf(one), textOf(other)]], verdict });
}

/**
 * What was selected is decided: the next selection begins anew.
 *
 * @param {Element} panel
 */
function letGo(panel) {
  for (const one of every(panel, '.sirr-pick[aria-pressed="true"]')) {
    one.setAttribute("aria-pressed", "false");
  }
  offer(panel);
}

/** @param {PanelContext} context */
export function pairing(context) {
  const { h, part } = context;
  /** @type {[PanelVerdict, string][]} */
  const verdicts = [
    ["same", "These are the same"],
    ["different", "These are not the same"],
  ];
  const buttons = verdicts.map(([verdict, label]) => {
    const act = () => {
      const picked = every(button.closest(".sirr-body"), '.sirr-pick[aria-pressed="true"]');
      if (picked.length === 2) decidePair(context, picked[0], picked[1], verdict);
    };
    const more = { class: "sirr-together", disabled: true, hidden: true };
    const button = press(h, `${part}together-${verdict}`, label, act, more);
    return button;
  });
  const words = " Select one text to move it, two to compare them.";
  return h("p", { class: "sirr-pairing" }, ...buttons, h("span", { class: "sirr-quiet" }, words));
}
