/** The foot of the panel: keys, where the numbers come from, and how to read them. */
import { day, fold, number } from "./pieces.js";

const HELP = [
  [
    "Agreement",
    "how much the answers to this task have in common in meaning, from 0 to 1: the mean over every two " +
      "annotators. It is not corrected for chance; the project’s coefficient is.",
  ],
  [
    "Equivalence",
    "how sure the measure is that the texts of a row mean the same, from 0 to 1. With more than two " +
      "texts it is the mean over every two, which are listed below it, the lowest first.",
  ],
  ["Equivalent", "an equivalence of {threshold} or more."],
  ["No match", "texts that nothing matches."],
  [
    "Move",
    "select a text that is in the wrong row and press “Move here” on another row, or drag it there. It is then " +
      "the same as each text of that row, and not the same as the texts it was equivalent to before.",
  ],
  ["Broader", "this text says less than the other: “infection” is broader than “pneumonia”."],
  [
    "Suggestion",
    "texts that more than half of the annotators support. Press a text of it to drop it. Taking the suggestion opens " +
      "a draft of your own in Label Studio, to be edited and submitted; it does not count as an annotator’s answer.",
  ],
  [
    "Other fields",
    "agreement on choices, ratings and the like, compared exactly. The majority is what more than half of the " +
      "annotators chose; numbers and dates have a median.",
  ],
  [
    "Does not count",
    "a proposal to the project’s lead to leave this attribute out of what counts as different. Scores " +
      "change only when the lead decides so.",
  ],
];

/**
 * Keys, what they do, and the action that they need; `keys.js` listens to them.
 *
 * @type {[keys: string[], text: string, needs: string][]}
 */
const KEYS = [
  [["↑", "↓"], "pair", "decide"],
  [["S"], "same", "decide"],
  [["X"], "not the same", "decide"],
  [["U"], "undo the last act", "back"],
  [["I"], "does not count", "uncount"],
  [["1–9"], "drop a text of the suggestion", "agree"],
  [["T"], "take the suggestion", "accept"],
  [["A"], "accept it as agreed", "agree"],
  [["B"], "send back with a note", "sendBack"],
  [["D"], "done", "mark"],
  [["N"], "next task", "next"],
  [["?"], "help", "back"],
];

/** @param {PanelContext} context */
export function foot({ h, payload, actions }) {
  const from = payload.provenance ?? {};
  const parts = [];
  if (from.measure) parts.push(`Measure ${from.measure}`);
  if (from.model && !from.measure?.endsWith(from.model)) parts.push(`model ${from.model}`);
  if (from.terminologies?.length) parts.push(`terminology ${from.terminologies.join(", ")}`);
  if (from.policy) parts.push(`what counts as the same: ${from.policy}`);
  if (from.computed_at) parts.push(`computed ${day(from.computed_at)}`);
  const threshold = number(payload.threshold ?? 0.5);
  const terms = HELP.flatMap(([term, text]) => [
    h("dt", {}, term),
    h("dd", {}, text.replace("{threshold}", threshold)),
  ]);
  const help = fold(h, "help", "How to read this", { class: "sirr-help" }, h("dl", {}, ...terms));
  const keys = shortcuts(h, actions);
  return h("footer", { class: "sirr-foot" }, keys, h("span", {}, parts.join(" · ")), help);
}

/**
 * The help line of the keys that do something here.
 *
 * @param {PanelBuilder} h
 * @param {PanelActions} actions
 */
function shortcuts(h, actions) {
  const known = KEYS.filter(([, , needs]) => actions[needs]);
  if (!known.length) return null;
  const each = known.flatMap(([keys, text], index) => [
    index ? " · " : "",
    ...keys.flatMap((key) => [h("kbd", {}, key), " "]),
    text,
  ]);
  return h("p", { class: "sirr-keys" }, "Keys in this panel: ", ...each);
}

// ---------------------------------------------------------------------------------------
