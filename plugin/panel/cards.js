/** One card for each meaning: its texts, who has it, who lacks it, and the pairs of texts that are in doubt. */
import { button, inline, isolated, shortened, annotatorText } from "./pieces.js";
import { regionsOf } from "./regions.js";

/** Number of cards that are shown before the others are folded. */
const SHOWN_CARDS = 12;

/**
 * @param {PanelContext} context
 * @param {PanelTextField} field
 */
export function cards(context, field) {
  const { h } = context;
  if (!field.cards.length) return h("p", { class: "sirr-quiet" }, "All answers are empty.");
  const items = field.cards.map((card, index) => oneCard(context, field, card, `${field.name}-${index}`));
  const list = h("ol", { class: "sirr-cards" }, items.slice(0, SHOWN_CARDS));
  if (items.length <= SHOWN_CARDS) return list;
  const folded = h(
    "details",
    { "data-id": `fold-${field.name}` },
    h("summary", {}, `${items.length - SHOWN_CARDS} more meanings`),
    h("ol", { class: "sirr-cards" }, items.slice(SHOWN_CARDS)),
  );
  return h("div", {}, list, folded);
}

/**
 * @param {PanelContext} context
 * @param {PanelTextField} field
 * @param {PanelCard} card
 * @param {string} id
 */
function oneCard(context, field, card, id) {
  const { h, name } = context;
  const wordings = card.texts.map(({ text, raters }, index) => {
    const names = card.texts.length > 1 ? people(h, raters.map(name), "sirr-has") : null;
    return h("li", {}, chosenText(context, field, text, `${id}-${index}`), names);
  });
  const has = card.texts.length > 1 ? null : people(h, card.has.map(name), "sirr-has");
  const lacks = card.lacks.length ? people(h, card.lacks.map(name), "sirr-lacks") : null;
  const why = card.why
    ? h("p", { class: "sirr-why" }, `${card.why.name}: compare `, annotatorText(h, card.why.text))
    : null;
  return h(
    "li",
    { class: "sirr-card", "data-support": card.has.length },
    h("ul", { class: "sirr-wordings" }, wordings),
    h("div", { class: "sirr-people" }, has, lacks),
    why,
    card.regions ? regionsOf(context, field, card.regions, id) : null,
    card.pairs.length
      ? h(
          "ul",
          { class: "sirr-pairs" },
          card.pairs.map((pair) => onePair(context, pair)),
        )
      : null,
  );
}

/**
 * A text that becomes part of the agreed answer when it is clicked, or leaves it.
 *
 * @param {PanelContext} context
 * @param {PanelTextField} field
 * @param {string} text
 * @param {string} id
 */
function chosenText({ h, actions, choice }, field, text, id) {
  const content = annotatorText(h, text);
  if (!actions.accept) return shortened(h, content, text, id);
  const isChosen = choice.texts(field.name).includes(text);
  const pick = button(h, `pick-${id}`, content, () => choice.toggle(field.name, text), {
    class: "sirr-pick",
    "aria-pressed": isChosen,
    title: isChosen ? "Drop from the agreed answer" : "Add to the agreed answer",
  });
  return shortened(h, pick, text, id);
}

/**
 * @param {PanelBuilder} h
 * @param {string[]} names
 * @param {string} look
 */
function people(h, names, look) {
  const words = look === "sirr-lacks" ? "lacks it" : "has it";
  const chip = (name) =>
    h("li", { class: look, title: `${inline(name)} ${words}` }, isolated(h, name), hidden(h, `, ${words}`));
  return h("ul", { class: "sirr-chips" }, names.map(chip));
}

/**
 * @param {PanelBuilder} h
 * @param {string} words
 */
function hidden(h, words) {
  return h("span", { class: "sirr-hidden" }, words);
}

/**
 * Two texts that may or may not mean the same, with the decision of a reviewer.
 *
 * @param {PanelContext} context
 * @param {PanelPair} pair
 */
function onePair({ h, actions, payload }, pair) {
  const [a, b] = pair.texts;
  const bothTexts = `${inline(a)} and ${inline(b)}`;
  const id = JSON.stringify(pair.texts);
  const side = (text) => [
    h("span", { class: "sirr-side" }, annotatorText(h, text)),
    pair.specific === text ? h("span", { class: "sirr-quiet" }, " (more specific)") : null,
  ];
  const decided = pair.decision?.verdict ?? null;
  const verdict = (kind, sign, label) =>
    actions.decide
      ? button(h, `${kind}-${id}`, sign, () => actions.decide(pair.texts, decided === kind ? "none" : kind), {
          class: "sirr-verdict",
          "data-verdict": kind,
          "aria-pressed": decided === kind,
          "aria-label": `${label}: ${bothTexts}`,
          title: label,
        })
      : null;
  const causes = decided && actions.decide ? Object.entries(payload.causes ?? {}) : [];
  const cause = causes.map(([key, label]) =>
    button(
      h,
      `cause-${key}-${id}`,
      label,
      () => actions.decide(pair.texts, decided, pair.decision.cause === key ? null : key),
      { class: "sirr-cause", "aria-pressed": pair.decision.cause === key },
    ),
  );
  const who = decided
    ? h(
        "span",
        { class: "sirr-decided" },
        decided === "same" ? "the same" : "not the same",
        pair.decision.who ? [", ", isolated(h, pair.decision.who)] : null,
      )
    : null;
  return h(
    "li",
    { class: "sirr-pair", "data-decided": decided ?? "" },
    h("span", { class: "sirr-pair-texts" }, side(a), decided === "same" ? " = " : decided ? " ≠ " : " ≟ ", side(b)),
    h(
      "span",
      { class: "sirr-choice" },
      verdict("same", "=", "The same"),
      verdict("different", "≠", "Not the same"),
      who,
    ),
    cause.length ? h("span", { class: "sirr-causes", role: "group", "aria-label": "Cause" }, "Cause: ", cause) : null,
  );
}
