/** The value of each two texts of a row, and what is decided about them. */
import { fold, inline, number, press, sign } from "./pieces.js";

/** Above this many pairs of texts a row shows the lowest and folds the others. */
const SHOWN_PAIRS = 6;

const LOWEST = 3;

/** Values of a row that lie closer together than this say no more than their mean: they are folded. */
const SPREAD = 0.15;

/** @param {{ verdict: PanelVerdict }} decision */
export function verdictOf(decision) {
  return decision.verdict === "same" ? "decided: same" : "decided: not the same";
}

/**
 * The value of each two texts of a row, the lowest first: a mean would hide who differs. Decisions are next to it.
 *
 * @param {PanelContext} context
 * @param {PanelMatch} match
 * @param {number} index
 */
export function pairValues(context, match, index) {
  const { h, name, short, part, deciding } = context;
  const pairs = [...(match.pairs ?? [])].sort((a, b) => a.equivalence - b.equivalence);
  if (!pairs.length || new Set(Object.values(match.texts)).size === 1) return null;
  const threshold = context.payload.threshold ?? 0.5;
  const seen = new Map();
  /** @param {PanelPair} pair */
  const line = ({ raters, equivalence, decision }) => {
    const two = raters.map((id) => match.texts[id]);
    const key = JSON.stringify([...two].sort());
    const offers = deciding && two[0] !== two[1] && !seen.has(key);
    if (offers) seen.set(key, seen.size);
    return h(
      "li",
      {
        class: [equivalence < threshold ? "sirr-low" : "", offers ? "sirr-choice" : ""].join(" "),
        "data-pair": equivalence,
      },
      h(
        "abbr",
        { title: raters.map(name).join(" and ") },
        ...sign(h, raters.map((id) => short.get(String(id))).join("–"), raters.map(name).join(" and ")),
      ),
      " ",
      h("span", { class: "sirr-number" }, number(equivalence)),
      ...(offers
        ? [" ", ...pairButtons(context, { texts: two, raters, decision }, `${index}-${seen.get(key)}`, true)]
        : []),
      ...(decision && !offers ? [" ", h("span", { class: "sirr-decided" }, verdictOf(decision))] : []),
    );
  };
  const lines = pairs.map(line);
  const list = (some) => h("ul", { class: "sirr-pairs" }, ...some);
  const folded = (words, some) => fold(h, `${part}pairs-${index}`, words, {}, list(some));
  const inside = { class: deciding ? "sirr-deciding" : null };
  if (isEven(context, match)) return h("div", inside, folded(`mean of ${pairs.length} pairs`, lines));
  if (pairs.length <= SHOWN_PAIRS) return h("div", inside, list(lines));
  return h(
    "div",
    inside,
    list(lines.slice(0, LOWEST)),
    folded(`${pairs.length - LOWEST} more pairs`, lines.slice(LOWEST)),
  );
}

/**
 * Whether every two texts of a row match about equally well and nobody has decided on them.
 *
 * @param {PanelContext} context
 * @param {PanelMatch} match
 */
export function isEven({ payload }, match) {
  const values = (match.pairs ?? []).map((pair) => pair.equivalence);
  if (values.length < 2 || match.pairs.some((pair) => pair.decision)) return false;
  return Math.min(...values) >= (payload.threshold ?? 0.5) && Math.max(...values) - Math.min(...values) <= SPREAD;
}

/**
 * Same or not the same, for the two texts of a row; longer rows offer it for each pair. One press never says more
 * than that.
 *
 * @param {PanelContext} context
 * @param {PanelMatch} match
 * @param {number} index
 */
export function matchButtons(context, match, index) {
  const [pair] = pairsOf(match);
  const [a, b] = pair.raters.map((id) => match.texts[id]);
  if (a === b) return [];
  return [
    context.h(
      "span",
      { class: "sirr-choice" },
      ...pairButtons(context, { texts: [a, b], raters: pair.raters, decision: pair.decision }, `${index}`),
    ),
  ];
}

/**
 * @param {PanelMatch} match
 * @returns {PanelPair[]}
 */
export function pairsOf(match) {
  if (match.pairs?.length) return match.pairs;
  const ids = Object.keys(match.texts);
  return ids.flatMap((a, i) => ids.slice(i + 1).map((b) => ({ raters: [a, b], decision: match.decision })));
}

/**
 * @param {PanelContext} context
 * @param {{ texts: string[], raters: PanelId[], decision?: PanelDecision | null }} pair
 * @param {string} place
 * @param {boolean} [brief]
 */
function pairButtons({ h, actions, part, name }, { texts: two, raters, decision }, place, brief = false) {
  const [first, second] = two.map((text, index) => inline(`${text} (${name(raters[index])})`));
  const about = `${first} and ${second}`;
  if (decision) {
    const verdict = decision.verdict === "same" ? "same" : "not the same";
    const more = { "data-verb": "undo", "aria-label": `Undo: ${verdict}, ${about}` };
    const undo = press(h, `${part}undo-${decision.id}`, "Undo", () => actions.undo(decision.id), more);
    return [h("span", { class: "sirr-decided" }, verdictOf(decision)), undo];
  }
  /** @type {[PanelVerdict, string, string][]} */
  const verdicts = [
    ["same", "Same", "="],
    ["different", "Not the same", "≠"],
  ];
  return verdicts.map(([verdict, label, symbol]) => {
    const more = { "data-verb": verdict, "aria-label": `${label}: ${about}`, title: label };
    const act = () => actions.decide({ pairs: [two], verdict });
    return press(h, `${part}${verdict}-${place}`, brief ? symbol : label, act, more);
  });
}
