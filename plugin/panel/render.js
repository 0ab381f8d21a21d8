/**
 * The agreement panel: one payload in, one tree of elements out.
 *
 * `render(node, payload, actions)` replaces the children of `node`. Every text that comes from people goes through
 * `textContent` or an attribute, never through markup. `actions` are optional; without them the panel only shows.
 *
 * actions: {
 *   decide({pairs: [[text, text], ...], verdict: "same" | "different"}, ...), undo(decisionId),
 *   accept([{control, texts}, ...], one for each field with a suggestion),
 *   agree([{control, texts}, ...]), disagree(number): the suggestion is the agreed answer of the task,
 *   uncount(attribute), count(number): what does not count in the project, as a proposal to the lead,
 *   mark(), unmark(): the task is done; sendBack(note): to its annotators; next(): the next task of the queue,
 *   back(): takes back the last act; region(annotation, region): selects a region in Label Studio's form
 * }
 *
 * A task with several free-text fields has them in `payload.controls`; then each is shown under its name. Choices,
 * ratings and the like are in `payload.other_fields`, one line each; without any text, `payload.controls` is empty.
 */

import { otherFields } from "./fields.js";
import { foot } from "./foot.js";
import { head } from "./head.js";
import { MANY, meanings } from "./meanings.js";
import { remember, restore } from "./places.js";
import { builder, count, isolated, joined, number } from "./pieces.js";
import { agreed, decisions, excluded, matrix, suggestion, unsplit } from "./sections.js";
import { texts } from "./texts.js";

const MESSAGES = {
  pending: "The agreement of this task is being computed.",
  blind: "Agreement is not shown while you answer.",
  none: "There is nothing to compare yet.",
  unavailable: "Agreement can’t be shown right now. Your work is not affected.",
};

/**
 * Draw the panel.
 *
 * @param {HTMLElement} node emptied and filled
 * @param {PanelPayload} payload what `GET /api/panel` answers
 * @param {PanelActions} [actions] callbacks; see the top of this file
 */
export function render(node, payload, actions = {}) {
  const document = node.ownerDocument;
  const kept = remember(node);
  const fields = payload.controls ?? [payload];
  // an annotator without any answer that counts is no column of the table, but has a name
  const people = fields.flatMap((field) => [
    ...(field.excluded ?? []).map((one) => ({ id: one.rater, name: one.name })),
    ...(field.raters ?? []),
  ]);
  for (const field of payload.other_fields ?? []) people.push(...field.raters);
  const names = new Map(people.map((rater) => [String(rater.id), rater.name || `Annotator ${rater.id}`]));
  const context = {
    h: builder(document),
    payload,
    actions,
    name: (id) => names.get(String(id)) ?? `Annotator ${id}`,
  };
  const root = context.h("section", { class: "sirr", "aria-label": "Agreement", "data-status": payload.status });
  if (payload.status === "ready") {
    root.append(...misfits(context), head(context, fields.length ? fields : [payload]), ...bodies(context, fields));
    root.append(...[otherFields(context), facts(context), foot(context)].filter(Boolean));
  } else {
    root.append(notice(context));
  }
  node.replaceChildren(root);
  restore(node, kept);
  const ResizeObserver = document.defaultView.ResizeObserver ?? globalThis.ResizeObserver;
  const wider = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const needed = /** @type {HTMLElement} */ (target.querySelector(".sirr-texts"))?.dataset.needed;
      if (needed) target.classList.toggle("sirr-stacked", target.clientWidth < Number(needed));
      target.classList.toggle("sirr-wider", target.scrollWidth > target.clientWidth);
    }
  });
  for (const one of node.querySelectorAll(".sirr-scroll")) wider.observe(one);
}

// ------------------------------------------------------------------------------------------------------------

/** @param {PanelContext} context */
function notice({ h, payload }) {
  const { job, status } = payload;
  const names = new Map((payload.raters ?? []).map((rater) => [String(rater.id), rater.name]));
  const leftOut = (payload.excluded ?? []).map((one) => `${names.get(String(one.rater)) ?? one.rater} (${one.reason})`);
  const progress = job?.total
    ? { max: job.total, value: job.done, "aria-label": "Progress" }
    : { "aria-label": "Working" };
  const quiet = (...words) => h("p", { class: "sirr-quiet" }, ...words);
  return h(
    "div",
    { class: "sirr-notice", role: "status" },
    h("p", {}, payload.message || MESSAGES[status] || MESSAGES.unavailable),
    status === "pending" ? h("progress", progress) : null,
    status === "pending" && job?.total ? quiet(`${count(job.done)} of ${count(job.total)} text pairs compared`) : null,
    leftOut.length ? quiet("Left out: ", ...joined(h, leftOut)) : null,
  );
}

/**
 * Why the measure does not fit the texts of the project: above everything else.
 *
 * @param {PanelContext} context
 */
function misfits({ h, payload }) {
  return (payload.misfits ?? []).map((misfit) => h("p", { class: "sirr-misfit", role: "note" }, misfit));
}

/** @param {PanelContext} context */
function facts({ h, payload }) {
  const list = h("dl", { class: "sirr-facts" });
  const fact = (term, ...detail) => list.append(h("div", {}, h("dt", {}, ...[term].flat()), h("dd", {}, ...detail)));
  fact("Annotators", String(payload.task.n_raters ?? payload.raters?.length ?? 0));
  const controls = payload.controls ?? [payload];
  const fields = [...controls, ...(payload.other_fields ?? [])].filter((field) => field.headline);
  for (const { name, headline } of fields) {
    if (headline?.value === null || headline?.value === undefined) continue;
    const sentences = headline.sentences.filter((one) => one !== headline.references).join(" ");
    fact(fields.length > 1 ? ["Whole project, ", isolated(h, name)] : ["Whole project"], sentences);
  }
  return list;
}

/**
 * One body for each free-text field; the suggestions of all fields are taken over together.
 *
 * @param {PanelContext} context
 * @param {PanelField[]} fields
 */
function bodies(context, fields) {
  const last = fields.findLast((field) => field.suggestion?.length);
  return fields.map((field, index) =>
    body({
      ...context,
      payload: { ...context.payload, ...field },
      control: field.name ?? field.control,
      part: fields.length > 1 ? `${index}-` : "",
      isLast: field === last,
      heading: fields.length > 1,
    }),
  );
}

/** @param {PanelContext} context */
function body(context) {
  const { h, payload, heading } = context;
  const score = payload.agreement ?? null;
  const title = h(
    "p",
    { class: "sirr-field" },
    isolated(h, payload.name ?? ""),
    ...(score === null ? [] : [" ", h("span", { class: "sirr-number" }, number(score))]),
  );
  const many = (payload.raters ?? []).length >= MANY;
  const parts = [
    payload.suggestion?.length ? suggestion(context) : null,
    payload.agreed ? agreed(context) : null,
    payload.decisions?.length ? decisions(context) : null,
    Object.keys(payload.written ?? {}).length ? unsplit(context) : null,
    payload.excluded?.length ? excluded(context) : null,
    matrix(context),
  ].filter(Boolean);
  return h(
    "div",
    { class: "sirr-body" },
    h("div", { class: "sirr-main" }, heading ? title : null, ...(many ? meanings(context) : texts(context))),
    parts.length ? h("div", { class: "sirr-side" }, ...parts) : null,
  );
}
