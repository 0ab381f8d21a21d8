/**
 * The panel’s table of texts, and what reviewers decide in it. A decision is about two texts: they are the same,
 * or not.
 */
import { ALONE, move, moveButton, pairing, picking, takesDrops } from "./moving.js";
import { isEven, matchButtons, pairValues, verdictOf } from "./pairs.js";
import { bar, every, isolated, labels, number, openable, sign, written } from "./pieces.js";
import { RELATIONS, reasonsOfAlone, reasonsOfRow } from "./reasons.js";
import { regionsOf } from "./regions.js";

/**
 * Width in px that a column needs, that the values and decisions beside them need, and from which even many
 * columns stay side by side.
 */
const COLUMN = 96;
const VALUES = 170;
const ROOM = 640;

/**
 * What every view of texts needs besides: whether the viewer decides, and initials.
 *
 * @param {PanelContext} context
 */
export function deciderOf(context) {
  const { payload, name, actions } = context;
  const raters = payload.raters ?? [];
  const short = labels(raters.map((rater) => name(rater.id)));
  return {
    ...context,
    deciding: Boolean(actions.decide && payload.viewer?.can_decide !== false),
    short: new Map(raters.map((rater, index) => [String(rater.id), short[index]])),
  };
}

/**
 * Texts that the measure puts into one row and those without a match, as one table: a column for each annotator.
 *
 * @param {PanelContext} plain
 */
export function texts(plain) {
  const context = deciderOf(plain);
  const { h, payload, name, deciding } = context;
  const raters = payload.raters ?? [];
  const matches = payload.matches ?? [];
  const lonely = raters.some((rater) => (payload.unmatched?.[rater.id] ?? []).length);
  const title = h("h2", { class: "sirr-hidden" }, "Texts side by side");
  if (!matches.length && !lonely) return [title, h("p", { class: "sirr-quiet" }, "All answers are empty.")];

  // roles: where there is no room the cells are stacked, and a table that is no longer laid out as one would be none
  // for a screen reader
  const needed = Math.min(ROOM, VALUES + raters.length * COLUMN);
  const caption = "Texts that belong together are in one row; one column for each annotator";
  const heads = raters.map((rater) => {
    const empty = rater.n_texts === 0 ? h("span", { class: "sirr-quiet sirr-empty" }, "empty answer") : null;
    return h("th", { scope: "col", role: "columnheader" }, isolated(h, name(rater.id)), empty);
  });
  const first = h("th", { scope: "col", role: "columnheader" }, "Equivalence");
  const table = h(
    "table",
    { class: "sirr-texts", role: "table", "data-needed": needed },
    h("caption", { class: "sirr-hidden" }, caption),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, first, ...heads)),
    h("tbody", { role: "rowgroup" }, ...matches.map((match, index) => matchRow(context, match, index))),
    lonely || (deciding && matches.length)
      ? h("tbody", { role: "rowgroup" }, unmatchedRow(context, Boolean(lonely)))
      : null,
  );
  const scroll = { class: "sirr-scroll", tabindex: "0", role: "region" };
  const parts = [title, h("div", { ...scroll, "aria-label": "Texts side by side, scrolls sideways" }, table)];
  if (new Set(every(table, ".sirr-pick").map((one) => one.dataset.rater)).size > 1) parts.push(pairing(context));
  return parts;
}

/**
 * The value of a row and how its texts relate.
 *
 * @param {PanelContext} context
 * @param {PanelMatch} match
 */
export function valueLine({ h, name }, match) {
  const relation = RELATIONS[match.relation] ?? RELATIONS.equivalent;
  /** @type {PanelChild | PanelChild[]} */
  let word = isIdentical(match) ? "identical" : (match.relation ?? "equivalent");
  if (relation.directed) {
    const many = Object.keys(match.texts).length > 2;
    word = match.broader
      ? [isolated(h, `${name(match.broader)}’s`), many ? " is the broadest" : " is broader"]
      : "one is broader";
  }
  return h(
    "span",
    { class: "sirr-line" },
    h("span", { class: "sirr-number", "data-equivalence": match.equivalence }, number(match.equivalence)),
    bar(h, match.equivalence, null),
    h(
      "span",
      { class: `sirr-relation sirr-${relation.kind}` },
      h("span", { "aria-hidden": "true" }, `${relation.sign} `),
      ...[word].flat(),
    ),
  );
}

/** @param {PanelMatch} match */
export function isIdentical(match) {
  return new Set(Object.values(match.texts)).size === 1;
}

/**
 * @param {PanelContext} context
 * @param {PanelMatch} match
 * @param {number} index
 */
function matchRow(context, match, index) {
  const { h, payload, deciding } = context;
  const raters = payload.raters ?? [];
  const members = raters.filter((rater) => match.texts[rater.id] !== undefined);
  const several = members.length > 2;
  const each = several && match.pairs?.length; // then each pair has its own line and its own buttons
  const mean = `mean of ${(members.length * (members.length - 1)) / 2} pairs`;
  const regions = members.map((rater) => [rater.id, match.regions?.[rater.id]]);
  const cell = h(
    "th",
    { scope: "row", role: "rowheader", class: "sirr-equivalence" },
    valueLine(context, match),
    several && !isIdentical(match) && !isEven(context, match)
      ? h("span", { class: "sirr-quiet sirr-mean" }, mean)
      : null,
    regionsOf(context, /** @type {any} */ (regions), String(index)),
    ...reasonsOfRow(context, match),
    several ? pairValues(context, match, index) : null,
    match.decision && !deciding && !each ? h("span", { class: "sirr-decided" }, verdictOf(match.decision)) : null,
    deciding
      ? h(
          "div",
          { class: "sirr-deciding" },
          ...(each ? [] : matchButtons(context, match, index)),
          moveButton(context, index),
        )
      : null,
  );
  const row = h("tr", { role: "row", "data-match": index }, cell);
  for (const rater of raters) {
    const text = match.texts[rater.id];
    row.append(text === undefined ? absent(context, rater) : present(context, rater, text, index));
  }
  if (deciding) takesDrops(context, row, (picked) => move(context, picked, index));
  return row;
}

/**
 * A cell of an annotator's column; where the columns are stacked it is headed by the name.
 *
 * @param {PanelContext} context
 * @param {PanelRater} rater
 */
function cellOf({ name }, rater) {
  return { role: "cell", "data-label": name(rater.id) + (rater.n_texts === 0 ? " (empty answer)" : "") };
}

/**
 * @param {PanelContext} context
 * @param {PanelRater} rater
 */
function absent(context, rater) {
  const { h } = context;
  return h("td", { ...cellOf(context, rater), class: "sirr-absent" }, ...sign(h, "–", "nothing that matches"));
}

/**
 * @param {PanelContext} context
 * @param {PanelRater} rater
 * @param {string} text
 * @param {number} index
 */
function present(context, rater, text, index) {
  const { h, deciding } = context;
  const inside = deciding
    ? picking(context, rater, text, index, `match-${index}`)
    : openable(h, written(h, text), text, `${rater.id}-${index}`);
  return h("td", cellOf(context, rater), h("div", { class: "sirr-cell" }, ...inside));
}

/**
 * @param {PanelContext} context
 * @param {boolean} lonely
 */
function unmatchedRow(context, lonely) {
  const { h, payload, deciding } = context;
  const apart = (payload.matches ?? []).some((match) => match.equivalence < (payload.threshold ?? 0.5));
  const nothing = lonely || apart ? null : h("span", { class: "sirr-quiet" }, "every text has a match");
  const row = h(
    "tr",
    { role: "row", class: "sirr-unmatched" },
    h(
      "th",
      { scope: "row", role: "rowheader" },
      "No match",
      deciding ? h("div", { class: "sirr-deciding" }, nothing, moveButton(context, ALONE)) : null,
    ),
  );
  for (const rater of payload.raters ?? []) {
    const own = payload.unmatched?.[rater.id] ?? [];
    const inside = own.length
      ? [h("ul", {}, ...own.map((text, index) => h("li", {}, ...aloneText(context, rater, text, index))))]
      : sign(h, "–", "none", "sirr-absent");
    row.append(h("td", cellOf(context, rater), ...inside));
  }
  if (deciding) takesDrops(context, row, (picked) => move(context, picked, ALONE));
  return row;
}

/**
 * A text without a match: where it is, why it has none, and what was decided about it.
 *
 * @param {PanelContext} context
 * @param {PanelRater} rater
 * @param {string} text
 * @param {number} index
 */
export function aloneText(context, rater, text, index) {
  const { h, payload, deciding } = context;
  const region = payload.alone_regions?.[rater.id]?.[index];
  return [
    ...(deciding
      ? picking(context, rater, text, ALONE, String(index))
      : openable(h, written(h, text), text, `${rater.id}-alone-${index}`)),
    regionsOf(context, [[rater.id, region]], `alone-${index}`),
    ...reasonsOfAlone(context, rater, text),
    aloneDecided(context, text),
  ];
}

/**
 * A text that was decided to be the same as another has no match until the task is scored again; this is shown
 * meanwhile.
 *
 * @param {PanelContext} context
 * @param {string} text
 */
function aloneDecided({ h, payload }, text) {
  const decision = (payload.decisions ?? []).find((one) => one.verdict === "same" && one.texts.includes(text));
  if (!decision) return null;
  const other = decision.texts.find((one) => one !== text) ?? text;
  return h("span", { class: "sirr-decided" }, "decided: same as ", written(h, other));
}
