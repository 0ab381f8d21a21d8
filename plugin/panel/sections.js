/** What is beside the texts: the suggestion, the agreed answer, the matrix, and what was left out. */
import { day, every, fold, inline, isolated, labels, number, openable } from "./pieces.js";
import { press, shade, sign, written } from "./pieces.js";

/**
 * The suggestion, whose texts can be dropped one by one before it is accepted or taken.
 *
 * @param {PanelContext} context
 */
export function suggestion(context) {
  const { h, payload, actions, part, control, isLast } = context;
  const choosing = (actions.agree && !payload.agreed) || actions.accept;
  const texts = payload.suggestion.map((text, index) => {
    const words = written(h, text);
    const keep = `${part}suggested-${index}`;
    const inside = choosing && payload.suggestion.length > 1 ? dropping(context, words, text, keep) : words;
    return h("li", {}, ...openable(h, inside, text, keep));
  });
  const list = h("ul", { class: "sirr-suggestion", "data-control": control }, ...texts);
  const box = h("section", { class: "sirr-block", "aria-label": "Suggestion" }, h("h2", {}, "Suggestion"), list);
  if (!isLast) return box;
  const chosen = () => chosenIn(box.closest(".sirr"));
  if (actions.agree && !payload.agreed) {
    box.append(press(h, "agree", "Accept as agreed answer", () => actions.agree(chosen()), { key: "A" }));
  }
  const fields = context.payload.controls ?? [context.payload];
  const takes = new Set(
    fields.filter((one) => one.can_take !== false).map((one) => one.name ?? one.control ?? control),
  );
  if (actions.accept && takes.size) {
    const take = () => actions.accept(chosen().filter((one) => takes.has(one.control)));
    box.append(press(h, "accept", "Take into my annotation", take, { key: "T", class: "sirr-main-button" }));
  } else if (actions.accept) {
    const words = "It can be taken into an annotation once the project was read again: its texts belong to regions.";
    box.append(h("p", { class: "sirr-quiet" }, words));
  } else if (payload.how_to_accept) {
    box.append(h("p", { class: "sirr-quiet" }, payload.how_to_accept));
  }
  return box;
}

/**
 * A text of the suggestion that can be dropped and kept again; the last one of a field stays.
 *
 * @param {PanelContext} context
 * @param {HTMLElement} words
 * @param {string} text
 * @param {string} keep
 */
function dropping({ h }, words, text, keep) {
  const toggle = () => {
    const kept = button.getAttribute("aria-pressed") === "true";
    const others = every(button.closest(".sirr-suggestion"), '.sirr-keep[aria-pressed="true"]');
    if (kept && others.length < 2) return;
    button.setAttribute("aria-pressed", String(!kept));
  };
  const more = { class: "sirr-keep", "aria-pressed": "true", title: "Drop or keep this text of the suggestion" };
  const button = press(h, keep, words, toggle, { ...more, "data-text": text });
  return button;
}

/**
 * The suggestion of each field without the texts that were dropped.
 *
 * @param {Element} panel
 * @returns {PanelSuggestion[]}
 */
function chosenIn(panel) {
  return every(panel, ".sirr-suggestion[data-control]").map((list) => ({
    control: list.dataset.control,
    texts: every(list, "li > .sirr-text, .sirr-keep[aria-pressed='true'] .sirr-text").map((one) => one.textContent),
  }));
}

/**
 * The agreed answer of the task, who accepted it, and whether annotators have changed their answers since.
 *
 * @param {PanelContext} context
 */
export function agreed({ h, payload, actions, part }) {
  const one = payload.agreed;
  const list = one.texts.length
    ? h("ul", { class: "sirr-suggestion" }, ...one.texts.map((text) => h("li", {}, written(h, text))))
    : h("span", { class: "sirr-quiet" }, "nothing to say");
  const facts = [
    "✓ ",
    isolated(h, one.who || "someone"),
    one.when ? `, ${day(one.when)}` : "",
    one.edited ? ", edited" : "",
    one.answers_changed ? "; answers have changed since" : "",
  ];
  const more = { class: "sirr-small", "aria-label": "Undo: the agreed answer" };
  return h(
    "section",
    { class: "sirr-block sirr-beside", "aria-label": "Agreed answer" },
    h("h2", {}, "Agreed answer"),
    list,
    h("span", { class: "sirr-decided" }, ...facts),
    actions.disagree ? press(h, `${part}disagree`, "Undo", () => actions.disagree(one.id), more) : null,
  );
}

/**
 * Those who were compared with nobody have no row; two who were are shown by their texts alone.
 *
 * @param {PanelContext} context
 */
export function matrix(context) {
  const { h, payload, name } = context;
  const isKnown = (value) => value !== null && value !== undefined;
  const places = (payload.matrix ?? []).map((_, place) => place);
  const compared = places.filter((i) => places.some((j) => i !== j && isKnown(payload.matrix[i][j])));
  if (compared.length < 3) return null;
  const raters = compared.map((place) => payload.raters[place]);
  const table = h(
    "table",
    { class: "sirr-matrix" },
    h("caption", { class: "sirr-hidden" }, "Agreement of each pair of annotators on this task"),
  );
  const short = labels(raters.map((rater) => name(rater.id)));
  const top = h("tr", {}, h("td", {}));
  raters.forEach((rater, index) =>
    top.append(h("th", { scope: "col" }, h("abbr", { title: name(rater.id) }, short[index]))),
  );
  table.append(h("thead", {}, top));
  const rows = h("tbody", {});
  raters.forEach((rater, i) => {
    const row = h("tr", {}, h("th", { scope: "row" }, isolated(h, name(rater.id))));
    raters.forEach((other, j) => {
      const value = payload.matrix[compared[i]][compared[j]];
      const cell = h("td", {});
      if (i === j) {
        cell.append(...sign(h, "·", "the same annotator", "sirr-self"));
      } else if (!isKnown(value)) {
        cell.append(...sign(h, "–", "not compared"));
      } else {
        cell.className = `sirr-shade-${shade(value)}`;
        cell.dataset.value = String(value);
        cell.append(number(value));
      }
      row.append(cell);
    });
    rows.append(row);
  });
  table.append(rows);
  const title = "Annotator by annotator";
  const scroll = { class: "sirr-scroll", tabindex: "0", role: "region", "aria-label": `${title}, scrolls sideways` };
  return fold(h, `${context.part}matrix`, title, { class: "sirr-block sirr-folded" }, h("div", scroll, table));
}

/**
 * The answers that were split into several texts, as they were written.
 *
 * @param {PanelContext} context
 */
export function unsplit({ h, payload, name, part }) {
  const list = h(
    "ul",
    { class: "sirr-inline" },
    ...Object.entries(payload.written).map(([rater, texts]) =>
      h(
        "li",
        {},
        isolated(h, name(rater)),
        ": ",
        ...texts.flatMap((text, index) => (index ? [h("span", {}, " | "), written(h, text)] : [written(h, text)])),
      ),
    ),
  );
  return fold(h, `${part}written`, "Answers before splitting", { class: "sirr-block sirr-folded" }, list);
}

/** @param {PanelContext} context */
export function excluded({ h, payload, name }) {
  const list = h(
    "ul",
    { class: "sirr-inline" },
    ...payload.excluded.map((one) => h("li", {}, isolated(h, name(one.rater)), `: ${one.reason}`)),
  );
  return h("section", { class: "sirr-block sirr-beside", "aria-label": "Left out" }, h("h2", {}, "Left out"), list);
}

/** @param {PanelContext} context */
export function decisions(context) {
  const { h, payload, actions } = context;
  const list = h("ul", { class: "sirr-decisions" });
  for (const one of payload.decisions) {
    const item = h(
      "li",
      {},
      written(h, one.texts[0]),
      h("span", {}, one.verdict === "same" ? " = " : " ≠ "),
      written(h, one.texts[1]),
      h(
        "span",
        { class: "sirr-quiet" },
        ` ${one.verdict === "same" ? "same" : "not the same"}, `,
        isolated(h, one.who || "someone"),
        one.when ? `, ${day(one.when)}` : "",
      ),
    );
    if (actions.undo) {
      const label = `Undo the decision on ${inline(one.texts[0])} and ${inline(one.texts[1])}`;
      const act = () => actions.undo(one.id);
      item.append(" ", press(h, `undo-list-${one.id}`, "Undo", act, { "aria-label": label }));
    }
    list.append(item);
  }
  return h("section", { class: "sirr-block", "aria-label": "Decisions" }, h("h2", {}, "Decided by reviewers"), list);
}
