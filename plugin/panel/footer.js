/** The footer, which is always in sight: the agreed answer, and what to do with the task. */
import { button, day, inline, isolated, annotatorText } from "./pieces.js";

/** Maximum number of characters of a note to the annotators. */
const LONGEST_NOTE = 2000;

/** @type {[string, string][]} */
const KEYS = [
  ["Enter", "accept and open the next task"],
  ["S", "skip to the next task"],
  ["B", "send back with a note"],
  ["↑ ↓", "go to a pair of texts in doubt"],
  ["=", "the texts mean the same"],
  ["X", "they do not"],
  ["1–9", "add or drop a text of the agreed answer"],
  ["0", "the agreed answer is empty"],
  ["U", "undo your last action on this task"],
];

/** @param {PanelContext} context */
export function footer(context) {
  const { h, payload, actions } = context;
  const canAccept = Boolean(actions.accept);
  return h(
    "footer",
    { class: "sirr-foot" },
    noteForm(context),
    canAccept ? answers(context) : null,
    h(
      "p",
      { class: "sirr-live", role: "status", "aria-live": "polite", tabindex: 0, "data-id": "live" },
      payload.message || state(context),
      question(context),
    ),
    tools(context),
  );
}

/**
 * A button for what the backend asks before it acts.
 *
 * @param {PanelContext} context
 */
function question({ h, payload }) {
  return payload.question ? [" ", button(h, "question", "Replace it", payload.question)] : null;
}

/**
 * The agreed answer of each field.
 *
 * @param {PanelContext} context
 */
function answers(context) {
  const { h, payload } = context;
  const hasSeveralFields = payload.fields.length > 1;
  const rows = payload.fields.map((field) =>
    field.kind === "text" ? textRow(context, field, hasSeveralFields) : valueRow(context, field),
  );
  return h("section", { class: "sirr-agreed", "aria-label": "Agreed answer" }, h("h2", {}, "Agreed answer"), rows);
}

/**
 * @param {PanelContext} context
 * @param {PanelTextField} field
 * @param {boolean} hasSeveralFields
 */
function textRow({ h, name, choice }, field, hasSeveralFields) {
  const chips = choice.texts(field.name).map((text, index) =>
    button(h, `chip-${field.name}-${index}`, annotatorText(h, text), () => choice.toggle(field.name, text), {
      class: "sirr-chip",
      title: "Drop from the agreed answer",
      "aria-label": `Drop ${inline(text)}`,
    }),
  );
  const empty = button(
    h,
    `empty-${field.name}`,
    "empty",
    () => choice.take(field.name, choice.isEmpty(field.name) ? null : []),
    { class: "sirr-empty", "aria-pressed": choice.isEmpty(field.name), title: "The agreed answer is empty" },
  );
  const takes = Object.entries(field.answers).map(([rater, texts]) =>
    button(h, `take-${field.name}-${rater}`, isolated(h, name(rater)), () => choice.take(field.name, [...texts]), {
      title: `Take all texts of ${inline(name(rater))}`,
    }),
  );
  return h(
    "div",
    { class: "sirr-answer" },
    hasSeveralFields ? h("span", { class: "sirr-quiet" }, isolated(h, field.title)) : null,
    h("span", { class: "sirr-chosen" }, chips, chips.length ? null : empty),
    h(
      "details",
      { class: "sirr-take", "data-id": `fold-take-${field.name}` },
      h("summary", {}, "Take all of …"),
      h("span", {}, takes, chips.length ? empty : null),
    ),
  );
}

/**
 * The values of choices, ratings and the like, with the number of annotators who gave each.
 *
 * @param {PanelContext} context
 * @param {PanelValueField} field
 */
function valueRow({ h, name, choice }, field) {
  const agreedValues = JSON.stringify(choice.texts(field.name));
  const options = field.values.map(({ values, raters }, index) => {
    const isChosen = JSON.stringify(values) === agreedValues && values.length > 0;
    const label = [values.length ? isolated(h, values.join("; ")) : "nothing", ` ${raters.length}`];
    return button(
      h,
      `value-${field.name}-${index}`,
      h("span", {}, label),
      () => choice.take(field.name, isChosen ? null : [...values]),
      { class: "sirr-value", "aria-pressed": isChosen, title: raters.map(name).map(inline).join(", ") },
    );
  });
  const hint = field.suggestion ? ` (${field.suggested_by})` : "";
  return h(
    "div",
    { class: "sirr-answer" },
    h("span", { class: "sirr-quiet" }, isolated(h, field.title), hint),
    h("span", { class: "sirr-chosen" }, options),
  );
}

/**
 * Who agreed on an answer, marked the task as done or sent it back.
 *
 * @param {PanelContext} context
 */
function state({ h, payload }) {
  const { agreed, review } = payload;
  if (agreed) {
    const changed = agreed.answers_changed ? "; answers have changed since" : "";
    return h(
      "span",
      { class: "sirr-decided" },
      "✓ agreed by ",
      isolated(h, agreed.who || "a reviewer"),
      `, ${day(agreed.when)}${changed}`,
    );
  }
  const who = isolated(h, review?.who || "a reviewer");
  if (review?.state === "done") return h("span", { class: "sirr-decided" }, "✓ done by ", who);
  if (review?.state === "sent back") {
    return h("span", { class: "sirr-decided" }, "sent back by ", who, ": ", annotatorText(h, review.note ?? ""));
  }
  const isNamedAbove = Boolean(payload.changed_after_return?.length); // by a warning, which names the annotators
  if (review?.answered_again && !isNamedAbove) return h("span", {}, "answered again after ", who, " sent it back");
  return review?.waits ? h("span", { class: "sirr-quiet" }, review.waits) : "";
}

/** @param {PanelContext} context */
function tools({ h, payload, actions, choice, canUndo }) {
  const { review, queue, agreed } = payload;
  const isReady = Boolean(choice.fields());
  const accept = actions.accept
    ? button(h, "accept", "Accept and next", actions.accept, {
        class: "sirr-main",
        disabled: !isReady,
        title: isReady ? "Enter" : "Choose a text, or “empty”",
        "aria-keyshortcuts": "Enter",
      })
    : null;
  const done =
    !actions.accept && actions.done
      ? button(h, "accept", "Done and next", actions.done, { class: "sirr-main", "aria-keyshortcuts": "Enter" })
      : null;
  const sendBack =
    actions.sendBack && review?.state !== "sent back"
      ? button(h, "send-back", "Send back", () => showNote(sendBack, true), {
          "aria-keyshortcuts": "b",
          "aria-expanded": "false",
        })
      : null;
  const skip = actions.next ? button(h, "skip", "Skip", actions.next, { "aria-keyshortcuts": "s" }) : null;
  const reopen =
    actions.reopen && (agreed || ["done", "sent back"].includes(review?.state))
      ? button(h, "reopen", agreed ? "Withdraw" : "Reopen", actions.reopen)
      : null;
  const undo = actions.undoLast
    ? button(h, "undo", "Undo", actions.undoLast, {
        disabled: !canUndo,
        "aria-keyshortcuts": "u",
        title: "Undo your last action on this task",
      })
    : null;
  const progress = queue ? h("span", { class: "sirr-progress" }, `${queue.done} of ${queue.total} done`) : null;
  return h("div", { class: "sirr-tools" }, accept, done, sendBack, skip, reopen, undo, progress, help(h));
}

/** @param {PanelBuilder} h */
function help(h) {
  const rows = KEYS.flatMap(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)]);
  return h(
    "details",
    { class: "sirr-help", "data-id": "fold-help" },
    h("summary", { "aria-label": "Keys", title: "Keys" }, "?"),
    h("dl", {}, rows),
  );
}

/** @param {PanelContext} context */
function noteForm({ h, actions }) {
  if (!actions.sendBack) return null;
  const input = h("input", {
    type: "text",
    "data-id": "note",
    maxlength: LONGEST_NOTE,
    dir: "auto",
    "aria-label": "Note to the annotators",
    placeholder: "What are the annotators to do?",
  });
  const form = h(
    "form",
    { class: "sirr-note", hidden: true },
    input,
    h("button", { type: "submit" }, "Send back"),
    button(h, "note-cancel", "Cancel", () => showNote(form, false)),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const note = input.value.trim();
    if (note) actions.sendBack(note);
    else input.focus();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") showNote(form, false);
  });
  return form;
}

/**
 * @param {Element} inside an element of the footer
 * @param {boolean} isOpen
 */
function showNote(inside, isOpen) {
  const foot = inside.closest(".sirr-foot");
  const form = /** @type {HTMLFormElement} */ (foot.querySelector(".sirr-note"));
  const opener = /** @type {HTMLElement} */ (foot.querySelector('[data-id="send-back"]'));
  form.hidden = !isOpen;
  opener.setAttribute("aria-expanded", String(isOpen));
  (isOpen ? form.querySelector("input") : opener).focus();
}
