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
 *   mark(), unmark(): the task is done; next(): the next task of the queue
 * }
 *
 * A task with several free-text fields has them in `payload.controls`; then each is shown under its name.
 */

import { bar, builder, codes, count, day, isolated, joined, labels, number, ordinal, safe, shade, written } from "./pieces.js";
import { pick, texts } from "./texts.js";

const COEFFICIENTS = {
  observed_agreement: "observed agreement",
  cohen_kappa: "Cohen’s kappa",
  scott_pi: "Scott’s pi",
  fleiss_kappa: "Fleiss’ kappa",
  krippendorff_alpha: "Krippendorff’s alpha",
  gwet_ac2: "Gwet’s AC2",
};
const HELP = [
  ["Agreement", "how much the answers to this task have in common in meaning, from 0 to 1: the mean over every two annotators. It says nothing of chance; the project’s coefficient does."],
  ["Equivalence", "how sure the measure is that the texts of a row mean the same, from 0 to 1. With more than two texts it is the mean over every two, which stand below it, the lowest first."],
  ["Equivalent", "an equivalence of {threshold} or more."],
  ["No match", "texts that nothing matches. They share no row: each stands alone."],
  ["Move", "a text that stands in the wrong place can be moved to any row: select it and press “Move here”, or drag it. It is then the same as each text of that row, and not the same as those that it was equivalent to before."],
  ["Broader", "this text says less than the other: “infection” is broader than “pneumonia”."],
  ["Suggestion", "texts that more than half of the annotators support. Taking it opens a draft of your own in Label Studio, to be edited and submitted; it does not count as an annotator’s answer."],
  ["Does not count", "a proposal to the project’s lead to leave this attribute out of what counts as different. Scores change only when the lead decides so."],
];
/** Keys, what they do, and the action that they need; `keys.js` listens to them. */
const KEYS = [
  [["↑", "↓"], "pair", "decide"],
  [["S"], "same", "decide"],
  [["X"], "not the same", "decide"],
  [["U"], "undo", "undo"],
  [["I"], "does not count", "uncount"],
  [["T"], "take the suggestion", "accept"],
  [["A"], "accept it as agreed", "agree"],
  [["D"], "done", "mark"],
  [["N"], "next task", "next"],
  [["?"], "help", "decide"],
];
const MESSAGES = {
  pending: "The agreement of this task is being computed.",
  blind: "Agreement is shown in review, after the answers are in.",
  none: "There is nothing to compare yet.",
  unavailable: "Agreement can’t be shown right now. Your work is not affected.",
};

/**
 * Draw the panel.
 * @param {Element} node emptied and filled
 * @param {object} payload what `GET /api/panel` answers
 * @param {object} [actions] callbacks; see the top of this file
 */
export function render(node, payload, actions = {}) {
  const document = node.ownerDocument;
  const kept = remember(node);
  const fields = payload.controls ?? [payload];
  // who is left out altogether is no column of the table, and has a name all the same
  const people = fields.flatMap((field) => [...(field.excluded ?? []).map((one) => ({ id: one.rater, name: one.name })), ...(field.raters ?? [])]);
  const names = new Map(people.map((rater) => [String(rater.id), rater.name || `Annotator ${rater.id}`]));
  const context = { h: builder(document), names, payload, actions, name: (id) => names.get(String(id)) ?? `Annotator ${id}` };
  const root = context.h("section", { class: "sirr", "aria-label": "Agreement", "data-status": payload.status });
  if (payload.status === "ready") {
    root.append(...misfits(context), head(context, fields), ...bodies(context, fields), facts(context), foot(context));
  } else {
    root.append(notice(context));
  }
  node.replaceChildren(root);
  restore(node, kept);
  // what scrolls has to be reachable by keyboard
  for (const text of node.querySelectorAll("td > .sirr-text, .sirr-suggestion .sirr-text")) if (text.scrollHeight > text.clientHeight) text.tabIndex = 0;
  const wider = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const needed = target.querySelector(".sirr-texts")?.dataset.needed;
      if (needed) target.classList.toggle("sirr-stacked", target.clientWidth < Number(needed));
      target.classList.toggle("sirr-wider", target.scrollWidth > target.clientWidth);
    }
  });
  for (const one of node.querySelectorAll(".sirr-scroll")) wider.observe(one);
}

// --- Parts ------------------------------------------------------------------------------------------------------------

function notice({ h, payload }) {
  const job = payload.job;
  const box = h("div", { class: "sirr-notice", role: "status" });
  box.append(h("p", {}, payload.message || MESSAGES[payload.status] || MESSAGES.unavailable));
  if (payload.status === "pending") {
    box.append(
      job?.total
        ? h("progress", { max: job.total, value: job.done, "aria-label": "Progress" })
        : h("progress", { "aria-label": "Working" }),
    );
    if (job?.total) box.append(h("p", { class: "sirr-quiet" }, `${count(job.done)} of ${count(job.total)} text pairs compared`));
  }
  if (payload.excluded?.length) {
    const names = new Map((payload.raters ?? []).map((rater) => [String(rater.id), rater.name]));
    box.append(
      h("p", { class: "sirr-quiet" }, "Left out: ", ...joined(h, payload.excluded.map((e) => `${names.get(String(e.rater)) ?? e.rater} (${e.reason})`))),
    );
  }
  return box;
}

/** Why the measure does not fit the texts of the project: above everything else. */
function misfits({ h, payload }) {
  return (payload.misfits ?? []).map((misfit) => h("p", { class: "sirr-misfit", role: "note" }, misfit));
}

/** The verdict in words first, then what can be done with the task, then its agreement. */
function head(context, fields) {
  const { h, payload } = context;
  const { task } = payload;
  const box = h("header", { class: "sirr-head" });
  const several = fields.length > 1;
  const said = fields.filter((field) => field.verdict);
  const line = (field) => h("p", { class: "sirr-verdict" }, ...(several ? [isolated(h, `${field.name}: `)] : []), h("bdi", { dir: "auto" }, field.verdict));
  box.append(h("div", { class: "sirr-verdicts" }, ...said.map(line)));
  const value = task.agreement;
  const score = h("div", { class: "sirr-score" });
  if (value === null || value === undefined) {
    score.append(h("strong", { class: "sirr-value" }, "–"), h("span", { class: "sirr-word" }, task.word || "not comparable"));
  } else {
    score.append(
      h("strong", { class: "sirr-value", "data-agreement": value }, number(value)),
      h("span", { class: "sirr-word" }, task.word ? `${task.word} agreement` : "agreement"),
      bar(h, value, `Agreement of this task: ${number(value)}`),
    );
  }
  if (task.rank && task.n_ranked > 1) {
    const fromTop = task.n_ranked - task.rank + 1;
    const nth = (n, which) => (n === 1 ? which : `${ordinal(n)} ${which}`);
    const place = task.rank <= fromTop ? nth(task.rank, "lowest") : nth(fromTop, "highest");
    score.append(h("span", { class: "sirr-quiet" }, `${place} of ${count(task.n_ranked)} tasks`));
  }
  const message = h("span", { class: "sirr-live", role: "status", "aria-live": "polite" }, payload.message || "");
  if (payload.follow) message.append(" ", h("a", { href: safe(payload.follow.href), target: "_top" }, payload.follow.text));
  box.append(tools(context), score, message);
  return box;
}

/** Done, the next task, the report. */
function tools({ h, payload, actions }) {
  const box = h("div", { class: "sirr-tools" });
  const button = (keep, label, key, act) => {
    const made = h("button", { type: "button", "data-keep": keep, "aria-keyshortcuts": key, title: `Key: ${key}` }, label);
    made.addEventListener("click", act);
    return made;
  };
  const review = payload.review ?? {};
  if (review.state === "sent back") {
    const note = review.note ? [": ", isolated(h, review.note)] : [];
    box.append(h("span", { class: "sirr-decided" }, "sent back by ", isolated(h, review.who || "a reviewer"), ...note));
  }
  if (actions.mark && review.state !== "done") box.append(button("done", "Done", "D", () => actions.mark()));
  if (review.state === "done") {
    box.append(h("span", { class: "sirr-decided" }, "✓ done", ...(review.who ? [", ", isolated(h, review.who)] : [])));
    if (actions.unmark) box.append(button("undone", "Not done", "D", () => actions.unmark()));
  }
  if (actions.next) box.append(button("next", "Next task", "N", () => actions.next()));
  if (payload.links?.report) {
    const report = h("a", { href: safe(payload.links.report), target: "_blank", rel: "noopener" }, "Project report");
    box.append(h("nav", { class: "sirr-links", "aria-label": "Agreement report" }, report));
  }
  return box;
}

function facts({ h, payload }) {
  const { task, project } = payload;
  const list = h("dl", { class: "sirr-facts" });
  const fact = (term, ...detail) => list.append(h("div", {}, h("dt", {}, ...[term].flat()), h("dd", {}, ...detail)));
  fact("Annotators", String(task.n_raters ?? payload.raters?.length ?? 0));
  const fields = payload.controls ?? [{ headline: project?.coefficient }];
  for (const field of fields) {
    const of = field.headline;
    if (of?.value === null || of?.value === undefined) continue;
    const term = fields.length > 1 ? ["Whole project, ", isolated(h, field.name)] : ["Whole project"];
    fact(term, headline(of));
  }
  return list;
}

/** The coefficient that stands for the project: the value, whether it is audited, the target, who pulls it down. */
function headline(of) {
  const interval = of.ci95 ? ` (${number(of.ci95[0])} to ${number(of.ci95[1])})` : "";
  const parts = [`${COEFFICIENTS[of.name] ?? of.name} ${number(of.value)}${interval}, ${of.audited ? "audited" : "not audited"}.`];
  if (of.standing) parts.push(of.standing);
  if (of.without) parts.push(`Without ${of.without.name} it would be ${number(of.without.value)}${of.audited ? " (by the measure alone)" : ""}.`);
  return parts.join(" ");
}

/** One body for each free-text field; the suggestions of all fields are taken over together. */
function bodies(context, fields) {
  const suggestions = fields.filter((field) => field.suggestion?.length).map((field) => ({ control: field.name ?? field.control, texts: field.suggestion }));
  return fields.map((field, index) => {
    const payload = { ...context.payload, ...field };
    const last = payload.suggestion === suggestions.at(-1)?.texts;
    return body({ ...context, payload, part: fields.length > 1 ? `${index}-` : "", suggestions: last ? suggestions : null, heading: fields.length > 1 });
  });
}

function body(context) {
  const { h, payload, heading } = context;
  const main = h("div", { class: "sirr-main" });
  const side = h("div", { class: "sirr-side" });
  if (heading) {
    const score = payload.agreement ?? null;
    main.append(h("p", { class: "sirr-field" }, isolated(h, payload.name), score === null ? "" : " ", score === null ? null : h("span", { class: "sirr-number" }, number(score))));
  }
  main.append(...texts(context));
  if (payload.suggestion?.length) side.append(suggestion(context));
  if (payload.agreed) side.append(agreed(context));
  if (payload.decisions?.length) side.append(decisions(context));
  if (Object.keys(payload.written ?? {}).length) side.append(unsplit(context));
  if (payload.excluded?.length) side.append(excluded(context));
  if ((payload.raters?.length ?? 0) > 2) side.append(matrix(context));
  return h("div", { class: "sirr-body" }, main, side.childElementCount ? side : null);
}

function suggestion(context) {
  const { h, payload, actions, suggestions } = context;
  const found = payload.suggestion_codes ?? {};
  // a suggestion that was joined to one text has the codes of its parts
  const parts = payload.suggestion.length === 1 && !(payload.suggestion[0] in found) ? Object.values(found).flat() : null;
  const list = h("ul", { class: "sirr-suggestion" }, ...payload.suggestion.map((text) => h("li", {}, written(h, text), codes(h, parts ?? found[text], parts?.length))));
  const box = h("section", { class: "sirr-block", "aria-label": "Suggestion" }, h("h2", {}, "Suggestion"), list);
  if (!suggestions) return box;
  if (actions.agree && !payload.agreed) {
    const button = h("button", { type: "button", "data-keep": "agree", "aria-keyshortcuts": "A", title: "Key: A" }, "Accept as agreed answer");
    button.addEventListener("click", () => actions.agree(suggestions));
    box.append(button);
  }
  if (actions.accept) {
    const button = h("button", { type: "button", class: "sirr-main-button", "data-keep": "accept", "aria-keyshortcuts": "T", title: "Key: T" }, "Take into my annotation");
    button.addEventListener("click", () => actions.accept(suggestions));
    box.append(button);
  } else if (payload.how_to_accept) {
    box.append(h("p", { class: "sirr-quiet" }, payload.how_to_accept));
  }
  return box;
}

/** The agreed answer of the task, who accepted it, and whether annotators have changed their answers since. */
function agreed({ h, payload, actions, part }) {
  const one = payload.agreed;
  const list = one.texts.length ? h("ul", { class: "sirr-suggestion" }, ...one.texts.map((text) => h("li", {}, written(h, text)))) : h("span", { class: "sirr-quiet" }, "nothing to say");
  const said = ["✓ ", isolated(h, one.who || "someone"), one.when ? `, ${day(one.when)}` : "", one.edited ? ", edited" : "", one.answers_changed ? "; answers have changed since" : ""];
  const box = h("section", { class: "sirr-block sirr-beside", "aria-label": "Agreed answer" }, h("h2", {}, "Agreed answer"), list, h("span", { class: "sirr-decided" }, ...said));
  if (actions.disagree) {
    const undo = h("button", { type: "button", class: "sirr-small", "data-keep": `${part}disagree`, "aria-label": "Undo: the agreed answer" }, "Undo");
    undo.addEventListener("click", () => actions.disagree(one.id));
    box.append(undo);
  }
  return box;
}

function matrix(context) {
  const { h, payload, name } = context;
  const raters = payload.raters;
  const table = h("table", { class: "sirr-matrix" }, h("caption", { class: "sirr-hidden" }, "Agreement of each pair of annotators on this task"));
  const short = labels(raters.map((rater) => name(rater.id)));
  const top = h("tr", {}, h("td", {}));
  raters.forEach((rater, index) => top.append(h("th", { scope: "col" }, h("abbr", { title: name(rater.id) }, short[index]))));
  table.append(h("thead", {}, top));
  const rows = h("tbody", {});
  raters.forEach((rater, i) => {
    const row = h("tr", {}, h("th", { scope: "row" }, isolated(h, name(rater.id))));
    raters.forEach((other, j) => {
      const value = payload.matrix?.[i]?.[j];
      const cell = h("td", {});
      if (i === j) cell.append(h("span", { class: "sirr-self", "aria-hidden": "true" }, "·"), h("span", { class: "sirr-hidden" }, "the same annotator"));
      else if (value === null || value === undefined) cell.append(h("span", { "aria-hidden": "true" }, "–"), h("span", { class: "sirr-hidden" }, "not compared"));
      else {
        cell.className = `sirr-shade-${shade(value)}`;
        cell.dataset.value = value;
        cell.append(number(value));
      }
      row.append(cell);
    });
    rows.append(row);
  });
  table.append(rows);
  return h(
    "details",
    { class: "sirr-block sirr-folded", "data-fold": `${context.part}matrix` },
    h("summary", { "data-keep": `${context.part}matrix` }, "Annotator by annotator"),
    h("div", { class: "sirr-scroll", tabindex: "0", role: "region", "aria-label": "Annotator by annotator, scrolls sideways" }, table),
  );
}

/** The answers that were split into several texts, as they were written. */
function unsplit({ h, payload, name, part }) {
  const list = h(
    "ul",
    { class: "sirr-inline" },
    ...Object.entries(payload.written).map(([rater, texts]) => h("li", {}, isolated(h, name(rater)), ": ", ...texts.flatMap((text, index) => (index ? [h("span", {}, " | "), written(h, text)] : [written(h, text)])))),
  );
  return h("details", { class: "sirr-block sirr-folded", "data-fold": `${part}written` }, h("summary", { "data-keep": `${part}written` }, "Answers before splitting"), list);
}

function excluded({ h, payload, name }) {
  const list = h("ul", { class: "sirr-inline" }, ...payload.excluded.map((one) => h("li", {}, isolated(h, name(one.rater)), `: ${one.reason}`)));
  return h("section", { class: "sirr-block sirr-beside", "aria-label": "Left out" }, h("h2", {}, "Left out"), list);
}

function decisions(context) {
  const { h, payload, actions } = context;
  const list = h("ul", { class: "sirr-decisions" });
  for (const one of payload.decisions) {
    const item = h(
      "li",
      {},
      written(h, one.texts[0]),
      h("span", {}, one.verdict === "same" ? " = " : " ≠ "),
      written(h, one.texts[1]),
      h("span", { class: "sirr-quiet" }, ` ${one.verdict === "same" ? "same" : "not the same"}, `, isolated(h, one.who || "someone"), one.when ? `, ${day(one.when)}` : ""),
    );
    if (actions.undo) {
      const button = h("button", { type: "button", "data-keep": `undo-list-${one.id}`, "aria-label": `Undo the decision on ${one.texts[0]} and ${one.texts[1]}` }, "Undo");
      button.addEventListener("click", () => actions.undo(one.id));
      item.append(" ", button);
    }
    list.append(item);
  }
  return h("section", { class: "sirr-block", "aria-label": "Decisions" }, h("h2", {}, "Decided by reviewers"), list);
}

function foot({ h, payload, actions }) {
  const from = payload.provenance ?? {};
  const parts = [];
  if (from.measure) parts.push(`Measure ${from.measure}`);
  if (from.model && !from.measure?.endsWith(from.model)) parts.push(`model ${from.model}`);
  if (from.terminologies?.length) parts.push(`codes of ${from.terminologies.join(", ")}`);
  if (from.policy) parts.push(`what counts as the same: ${from.policy}`);
  if (from.calibrated) parts.push(`calibrated by ${count(from.calibrated)} decisions`);
  if (from.computed_at) parts.push(`computed ${day(from.computed_at)}`);
  const threshold = number(payload.threshold ?? 0.5);
  const terms = HELP.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text.replace("{threshold}", threshold))]);
  const help = h("details", { class: "sirr-help" }, h("summary", { "data-keep": "help" }, "How to read this"), h("dl", {}, ...terms));
  const keys = shortcuts(h, actions);
  return h("footer", { class: "sirr-foot" }, keys, h("span", {}, parts.join(" · ")), help);
}

/** The help line of the keys that do something here. */
function shortcuts(h, actions) {
  const known = KEYS.filter(([, , needs]) => actions[needs]);
  if (!known.length) return null;
  const each = known.flatMap(([keys, text], index) => [index ? " · " : "", ...keys.flatMap((key) => [h("kbd", {}, key), " "]), text]);
  return h("p", { class: "sirr-keys" }, "Keys in this panel: ", ...each);
}

// --- What an update leaves alone ---------------------------------------------------------------------------------------

/** Focus, picks and scroll positions, so that an update does not take the reader's place away. */
function remember(node) {
  const active = node.ownerDocument.activeElement;
  return {
    focus: node.contains(active) ? active.dataset.keep : undefined,
    picks: [...node.querySelectorAll('.sirr-pick[aria-pressed="true"]')].map((one) => [one.dataset.keep, one.textContent]),
    help: node.querySelector(".sirr-help")?.open,
    folds: [...node.querySelectorAll("[data-fold]")].filter((one) => one.open).map((one) => one.dataset.fold),
    scrolls: [...node.querySelectorAll(".sirr-scroll")].map((one) => one.scrollLeft),
  };
}

function restore(node, kept) {
  for (const [key, text] of kept.picks) {
    const one = node.querySelector(`[data-keep="${CSS.escape(key)}"]`);
    if (one?.textContent === text) pick(one);
  }
  const help = node.querySelector(".sirr-help");
  if (help && kept.help) help.open = true;
  for (const fold of kept.folds) {
    const one = node.querySelector(`[data-fold="${CSS.escape(fold)}"]`);
    if (one) one.open = true;
  }
  node.querySelectorAll(".sirr-scroll").forEach((one, index) => {
    one.scrollLeft = kept.scrolls[index] ?? 0;
  });
  if (kept.focus) {
    // a button that a decision took away leaves the focus at the table that it stood in
    const before = node.querySelector(`[data-keep="${CSS.escape(kept.focus)}"]`);
    (before && !before.disabled && !before.hidden ? before : node.querySelectorAll(".sirr-scroll")[0])?.focus({ preventScroll: true });
  }
}
