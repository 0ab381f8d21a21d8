/**
 * Draws the agreement panel: one payload in, one tree of elements out.
 *
 * Every text that people wrote goes through `textContent` or an attribute, never through markup.
 */
import { cards } from "./cards.js";
import { footer } from "./footer.js";
import { builder, elements, isolated, number, safe, annotatorText } from "./pieces.js";

/**
 * Replace the children of `node` by the panel.
 *
 * @param {HTMLElement} node
 * @param {PanelPayload} payload the answer of `GET /api/panel`
 * @param {object} options
 * @param {PanelActions} options.actions what the viewer may do; without an action there is no button
 * @param {PanelChoice} options.choice
 * @param {boolean} [options.canUndo]
 */
export function render(node, payload, { actions, choice, canUndo = false }) {
  const document = node.ownerDocument;
  const state = remember(node);
  const h = builder(document);
  const names = new Map((payload.raters ?? []).map((rater) => [String(rater.id), rater.name]));
  const name = (id) => names.get(String(id)) ?? `Annotator ${id}`;
  const context = { h, payload, actions, choice, name, canUndo };
  const root = h("section", { class: "sirr", "aria-label": "Agreement", "data-status": payload.status, tabindex: -1 });
  if (payload.status === "ready") root.append(head(context), ...bodies(context), footer(context));
  else if (payload.status === "note") root.append(note(context));
  else if (payload.status !== "hidden") root.append(notice(context));
  node.replaceChildren(root);
  restore(node, state);
}

/** @param {PanelContext} context */
function head({ h, payload }) {
  const { task, warnings = [], links, excluded = [] } = payload;
  const value = task.agreement;
  const leftOut = excluded.map((row) => h("li", {}, isolated(h, row.name), `: ${row.reason}`));
  return h(
    "header",
    { class: "sirr-head" },
    warnings.map((warning) => h("p", { class: "sirr-warning", role: "note" }, warning)),
    h("p", { class: "sirr-sentence", dir: "auto" }, payload.sentence),
    h(
      "span",
      { class: "sirr-score", "data-agreement": value, title: "Agreement on this task, from 0 to 1" },
      number(value),
    ),
    links?.report ? h("a", { href: safe(links.report), target: "_blank", rel: "noopener" }, "Report") : null,
    leftOut.length
      ? h(
          "details",
          { class: "sirr-out", "data-id": "fold-out" },
          h("summary", {}, `${leftOut.length} left out`),
          h("ul", {}, leftOut),
        )
      : null,
  );
}

/** @param {PanelContext} context */
function bodies(context) {
  const { h, payload } = context;
  const texts = payload.fields.filter((field) => field.kind === "text");
  return texts.map((field) =>
    h(
      "section",
      { class: "sirr-field", "aria-label": field.title },
      texts.length > 1 ? h("h2", {}, isolated(h, field.title)) : null,
      cards(context, /** @type {PanelTextField} */ (field)),
      asWritten(context, /** @type {PanelTextField} */ (field)),
    ),
  );
}

/**
 * Answers that were split into several texts, as they were written.
 *
 * @param {PanelContext} context
 * @param {PanelTextField} field
 */
function asWritten({ h, name }, field) {
  const rows = Object.entries(field.written ?? {}).map(([rater, texts]) =>
    h(
      "li",
      {},
      isolated(h, name(rater)),
      ": ",
      texts.map((text) => annotatorText(h, text)),
    ),
  );
  if (!rows.length) return null;
  return h(
    "details",
    { "data-id": `fold-written-${field.name}` },
    h("summary", {}, "Answers before splitting"),
    h("ul", {}, rows),
  );
}

/**
 * What an annotator sees of a task that a reviewer sent back.
 *
 * @param {PanelContext} context
 */
function note({ h, payload }) {
  const texts = (payload.texts ?? []).map((text) => h("li", {}, annotatorText(h, text)));
  return h(
    "div",
    { class: "sirr-notice", role: "status" },
    h("p", {}, "A reviewer sent this task back: ", h("strong", {}, annotatorText(h, payload.note))),
    texts.length ? h("p", { class: "sirr-quiet" }, "Your answer was:") : null,
    texts.length ? h("ul", {}, texts) : null,
  );
}

/** @param {PanelContext} context */
function notice({ h, payload }) {
  const { job, status, excluded = [] } = payload;
  const progress = job?.total ? { max: job.total, value: job.done } : {};
  return h(
    "div",
    { class: "sirr-notice", role: "status" },
    h("p", {}, payload.message || "Agreement can’t be shown right now. Your work is not affected."),
    status === "pending" ? h("progress", { ...progress, "aria-label": "Progress" }) : null,
    excluded.map((row) => h("p", { class: "sirr-quiet" }, isolated(h, row.name), `: ${row.reason}`)),
  );
}

/**
 * Focus, open parts and the note, which an update must not take away.
 *
 * @param {HTMLElement} node
 */
function remember(node) {
  const active = /** @type {HTMLElement | null} */ (node.ownerDocument.activeElement);
  const form = /** @type {HTMLFormElement | null} */ (node.querySelector(".sirr-note"));
  return {
    focus: node.contains(active) ? (active.dataset.id ?? "panel") : null,
    open: elements(node, "details[open]").map(({ dataset }) => dataset.id),
    long: elements(node, '.sirr-more[aria-expanded="true"]').map(({ dataset }) => dataset.id),
    note: form && !form.hidden ? form.querySelector("input").value : null,
  };
}

/**
 * @param {HTMLElement} node
 * @param {ReturnType<typeof remember>} state
 */
function restore(node, state) {
  const elementOf = (id) => elements(node, "[data-id]").find(({ dataset }) => dataset.id === id);
  for (const id of state.open) if (elementOf(id)) elementOf(id).open = true;
  for (const id of state.long) elementOf(id)?.click();
  const form = /** @type {HTMLFormElement | null} */ (node.querySelector(".sirr-note"));
  if (form && state.note !== null) {
    form.hidden = false;
    form.querySelector("input").value = state.note;
  }
  if (state.focus === null) return;
  const target = elementOf(state.focus);
  const usable = target && !target.disabled && !target.closest("[hidden]");
  (usable ? target : node.querySelector(".sirr")).focus({ preventScroll: true });
}
