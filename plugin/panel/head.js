/** The head of the panel: the verdict in words, what can be done with the task, its agreement. */
import { noted } from "./acts.js";
import { bar, count, fold, isolated, number, ordinal, press, safe } from "./pieces.js";

/** Characters up to which the first line is shown whole, and of which a longer one shows at least so many. */
const LONGEST_VERDICT = 300;
const SHORT_VERDICT = 120;
/** Characters of a note to the annotators. */
const LONGEST_NOTE = 2000;

/**
 * @param {PanelContext} context
 * @param {PanelField[]} fields
 */
export function head(context, fields) {
  const { h, payload } = context;
  const several = fields.length > 1;
  const line = (field) => verdict(h, field.verdict, several ? [isolated(h, `${field.name}: `)] : [], field.name);
  const message = h("span", { class: "sirr-live", role: "status", "aria-live": "polite" }, payload.message || "");
  if (payload.follow) {
    message.append(" ", h("a", { href: safe(payload.follow.href), target: "_top" }, payload.follow.text));
  }
  return h(
    "header",
    { class: "sirr-head" },
    h("div", { class: "sirr-verdicts" }, ...fields.filter((field) => field.verdict).map(line)),
    score(context),
    tools(context),
    noteForm(context),
    review(context),
    message,
  );
}

/**
 * The first line; where many annotators differ, its first differences, and the others on demand.
 *
 * @param {PanelBuilder} h
 * @param {string} words
 * @param {Array<Node | string>} name
 * @param {string} field
 */
function verdict(h, words, name, field) {
  const end = words.length > LONGEST_VERDICT ? words.indexOf("; ", SHORT_VERDICT) : -1;
  const part = (text) => h("bdi", { dir: "ltr" }, text);
  if (end < 0) return h("p", { class: "sirr-verdict" }, ...name, part(words));
  const first = [...name, part(words.slice(0, end + 1))];
  return fold(h, `verdict-${field}`, first, { class: "sirr-verdict" }, part(words.slice(end + 2)));
}

/** @param {PanelContext} context */
function score({ h, payload: { task } }) {
  const value = task.agreement;
  const box = h("div", { class: "sirr-score" });
  if (value === null || value === undefined) {
    box.append(
      h("strong", { class: "sirr-value" }, "–"),
      h("span", { class: "sirr-word" }, task.word || "not comparable"),
    );
  } else {
    const chance =
      typeof task.chance === "number"
        ? { title: `Chance alone would give ${number(task.chance)} in this project.` }
        : {};
    box.append(
      h("strong", { class: "sirr-value", "data-agreement": value }, number(value)),
      h("span", { class: "sirr-word", ...chance }, task.word ? `${task.word} agreement` : "agreement"),
      bar(h, value, `Agreement of this task: ${number(value)}`),
    );
    if (task.of) box.append(h("span", { class: "sirr-quiet" }, isolated(h, task.of)));
  }
  if (task.rank && task.n_ranked > 1) {
    const fromTop = task.n_ranked - task.rank + 1;
    const nth = (n, which) => (n === 1 ? which : `${ordinal(n)} ${which}`);
    const place = task.rank <= fromTop ? nth(task.rank, "lowest") : nth(fromTop, "highest");
    box.append(h("span", { class: "sirr-quiet" }, `${place} of ${count(task.n_ranked)} tasks`));
  }
  return box;
}

/**
 * Done, send back, the next task, the last act, the report.
 *
 * @param {PanelContext} context
 */
function tools({ h, payload, actions }) {
  const box = h("div", { class: "sirr-tools" });
  const state = payload.review?.state;
  if (actions.mark && state !== "done") box.append(press(h, "done", "Done", () => actions.mark(), { key: "D" }));
  if (actions.unmark && state === "done") {
    box.append(press(h, "undone", "Not done", () => actions.unmark(), { key: "D" }));
  }
  if (actions.sendBack && state !== "sent back") {
    const open = () => showNote(box.closest(".sirr"), true);
    box.append(press(h, "send-back", "Send back", open, { key: "B", "aria-expanded": "false" }));
  }
  if (actions.next) box.append(press(h, "next", "Next task", () => actions.next(), { key: "N" }));
  if (actions.back) {
    const disabled = !noted(payload).length;
    box.append(press(h, "back", "Undo last", () => actions.back(), { key: "U", disabled }));
  }
  if (payload.links?.report) {
    const report = h("a", { href: safe(payload.links.report), target: "_blank", rel: "noopener" }, "Project report");
    box.append(h("nav", { class: "sirr-links", "aria-label": "Agreement report" }, report));
  }
  return box;
}

/**
 * Who marked the task as done or sent it back, on a line of its own, however long the note is.
 *
 * @param {PanelContext} context
 */
function review({ h, payload }) {
  const { state, who, note } = payload.review ?? {};
  if (state === "done") {
    return h("p", { class: "sirr-review sirr-decided" }, "✓ done", ...(who ? [", ", isolated(h, who)] : []));
  }
  if (state !== "sent back") return null;
  return h(
    "p",
    { class: "sirr-review sirr-decided" },
    "sent back by ",
    isolated(h, who || "a reviewer"),
    ...(note ? [": ", h("bdi", { dir: "auto", class: "sirr-note-text" }, note)] : []),
  );
}

/**
 * The note with which a task goes back to its annotators; hidden until it is asked for.
 *
 * @param {PanelContext} context
 */
function noteForm({ h, payload, actions }) {
  if (!actions.sendBack || payload.review?.state === "sent back") return null;
  const input = h("input", {
    type: "text",
    class: "sirr-note",
    "data-keep": "note",
    maxlength: LONGEST_NOTE,
    dir: "auto",
    "aria-label": "What the annotators are to do",
    placeholder: "What are the annotators to do?",
  });
  const form = h(
    "form",
    { class: "sirr-note-form", hidden: true },
    input,
    h("button", { type: "submit", "data-keep": "note-send" }, "Send back"),
    press(h, "note-cancel", "Cancel", () => showNote(form.closest(".sirr"), false), { key: "Escape" }),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const note = input.value.trim();
    if (!note) return input.focus();
    input.value = "";
    showNote(form.closest(".sirr"), false);
    actions.sendBack(note);
    return undefined;
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    showNote(form.closest(".sirr"), false);
  });
  return form;
}

/**
 * @param {Element} panel
 * @param {boolean} open
 */
function showNote(panel, open) {
  const form = /** @type {HTMLElement} */ (panel.querySelector(".sirr-note-form"));
  const button = /** @type {HTMLElement} */ (panel.querySelector('[data-keep="send-back"]'));
  form.hidden = !open;
  button.setAttribute("aria-expanded", String(open));
  (open ? /** @type {HTMLElement} */ (form.firstElementChild) : button).focus();
}
