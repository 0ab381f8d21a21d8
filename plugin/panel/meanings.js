/**
 * The texts of many annotators: a line for each meaning, in which people are chips. Differences come first; meanings
 * that everybody has are folded, and a line opens to its texts and decisions.
 */
import { ALONE, move, moveButton, pairing, picking, takesDrops } from "./moving.js";
import { matchButtons, pairValues } from "./pairs.js";
import { count, every, fold, inline, number, openable, sign, written } from "./pieces.js";
import { reasonsOfRow } from "./reasons.js";
import { regionsOf } from "./regions.js";
import { aloneText, deciderOf, isIdentical, valueLine } from "./texts.js";

/** Annotators from which a column for each is too narrow. */
export const MANY = 6;

/** Lines that are shown at first. */
const LINES = 12;

/**
 * @param {PanelContext} plain
 * @returns {HTMLElement[]}
 */
export function meanings(plain) {
  const context = deciderOf(plain);
  const { h, payload, part, deciding } = context;
  const raters = payload.raters ?? [];
  const threshold = payload.threshold ?? 0.5;
  const rows = (payload.matches ?? []).map((match, index) => ({ match, index }));
  const agrees = ({ match }) =>
    Object.keys(match.texts).length === raters.length &&
    match.equivalence >= threshold &&
    !(match.pairs ?? []).some((pair) => pair.equivalence < threshold);
  const lowest = ({ match }) => Math.min(match.equivalence, ...(match.pairs ?? []).map((pair) => pair.equivalence));
  const split = rows
    .filter((row) => !agrees(row))
    .sort(
      (a, b) =>
        Number(lowest(a) >= threshold) - Number(lowest(b) >= threshold) ||
        Object.keys(b.match.texts).length - Object.keys(a.match.texts).length,
    );
  const alone = raters.flatMap((rater) =>
    (payload.unmatched?.[rater.id] ?? []).map((text, index) => ({ rater, text, index })),
  );
  const title = h("h2", { class: "sirr-hidden" }, "Texts by meaning");
  if (!rows.length && !alone.length) return [title, h("p", { class: "sirr-quiet" }, "All answers are empty.")];
  const lines = [
    ...split.map(({ match, index }) => line(context, match, index)),
    ...alone.map((one) => aloneLine(context, one)),
  ];
  const same = rows.filter(agrees).map(({ match, index }) => line(context, match, index));
  const folded = (words, some, keep) =>
    fold(h, `${part}${keep}`, words, { class: "sirr-folded" }, h("ol", { class: "sirr-meanings" }, ...some));
  const plural = (n, words) => `${count(n)} ${n === 1 ? words : `${words}s`}`;
  const rest = lines.slice(LINES);
  const parts = [
    title,
    h("ol", { class: "sirr-meanings", "aria-label": "Differences" }, ...lines.slice(0, LINES)),
    rest.length ? folded(plural(rest.length, "more difference"), rest, "rest") : null,
    same.length ? folded(`${plural(same.length, "meaning")} that all ${raters.length} share`, same, "shared") : null,
  ].filter(Boolean);
  if (deciding) parts.push(outside(context));
  if (new Set(parts.flatMap((one) => every(one, ".sirr-pick")).map((one) => one.dataset.rater)).size > 1) {
    parts.push(pairing(context));
  }
  return parts;
}

/**
 * Where texts are dropped that belong to no row.
 *
 * @param {PanelContext} context
 */
function outside(context) {
  const node = context.h("p", { class: "sirr-outside" }, moveButton(context, ALONE));
  takesDrops(context, node, (picked) => move(context, picked, ALONE));
  return node;
}

/**
 * Who has a meaning and, where most have it, who lacks it.
 *
 * @param {PanelContext} context
 * @param {PanelId[]} who
 */
function chips({ h, payload, name, short }, who) {
  const has = new Set(who.map(String));
  const raters = payload.raters ?? [];
  const chip = (id, kind, words) =>
    h(
      "li",
      { class: `sirr-chip sirr-${kind}`, title: `${inline(name(id))} ${words}` },
      ...sign(h, short.get(String(id)), `${inline(name(id))} ${words}`),
    );
  const most = 2 * who.length > raters.length;
  const lack = most ? raters.filter((rater) => !has.has(String(rater.id))) : [];
  return h(
    "ul",
    { class: "sirr-chips" },
    ...who.map((id) => chip(id, "has", "has it")),
    ...lack.map((rater) => chip(rater.id, "lacks", "lacks it")),
  );
}

/**
 * @param {PanelContext} context
 * @param {PanelMatch} match
 * @param {number} index
 */
function line(context, match, index) {
  const { h, payload, part, deciding } = context;
  const who = (payload.raters ?? []).map((rater) => rater.id).filter((id) => match.texts[id] !== undefined);
  const wordings = [...new Set(who.map((id) => match.texts[id]))];
  const other = wordings.length > 1 ? ` and ${wordings.length - 1} other wording${wordings.length > 2 ? "s" : ""}` : "";
  const several = who.length > 2 && match.pairs?.length;
  const regions = /** @type {any} */ (who.map((id) => [id, match.regions?.[id]]));
  const texts = wordings.map((text) => {
    const own = who.filter((id) => match.texts[id] === text);
    const rater = (payload.raters ?? []).find((one) => one.id === own[0]);
    const inside = deciding
      ? picking(context, rater, text, index, `match-${index}`)
      : openable(h, written(h, text), text, `${own[0]}-${index}`);
    return h("li", {}, ...inside, chips({ ...context, payload: { ...payload, raters: [] } }, own));
  });
  const item = h(
    "li",
    { class: "sirr-meaning", "data-match": index },
    fold(
      h,
      `${part}meaning-${index}`,
      [
        h("span", { class: "sirr-number" }, number(match.equivalence)),
        " ",
        h("span", { class: "sirr-wording" }, written(h, wordings[0])),
        other ? h("span", { class: "sirr-quiet" }, other) : null,
        chips(context, who),
      ],
      {},
      valueLine(context, match),
      h("ul", { class: "sirr-wordings" }, ...texts),
      regionsOf(context, regions, String(index)),
      several && !isIdentical(match) ? pairValues(context, match, index) : null,
      deciding && !several ? h("div", { class: "sirr-deciding" }, ...matchButtons(context, match, index)) : null,
    ),
    ...reasonsOfRow(context, match),
    deciding ? moveButton(context, index) : null,
  );
  if (deciding) takesDrops(context, item, (picked) => move(context, picked, index));
  return item;
}

/**
 * @param {PanelContext} context
 * @param {{ rater: PanelRater, text: string, index: number }} one
 */
function aloneLine(context, { rater, text, index }) {
  const { h } = context;
  const inside = aloneText(context, rater, text, index);
  return h("li", { class: "sirr-meaning sirr-unmatched" }, chips(context, [rater.id]), ...inside);
}
