/** Why texts match or do not, and what reviewers say does not count. */
import { isolated, press, safe } from "./pieces.js";

export const RELATIONS = {
  equivalent: { sign: "=", kind: "equivalent" },
  "first is more general": { sign: "⊃", kind: "broader", directed: true },
  "second is more general": { sign: "⊂", kind: "narrower", directed: true },
  unrelated: { sign: "≠", kind: "unrelated" },
};

const SHOWN_REASONS = 2;

/**
 * Why texts of a row do not match, each reason once.
 *
 * @param {PanelContext} context
 * @param {PanelMatch} match
 */
export function reasonsOfRow(context, match) {
  const { payload } = context;
  const directed = RELATIONS[match.relation]?.directed; // the relation says it already
  const of = (payload.reasons ?? []).filter(
    (one) =>
      !(directed && one.kind === "more general") &&
      one.raters.every((id, side) => match.texts[id] !== undefined && match.texts[id] === one.texts[side]),
  );
  const turned = new Map(of.map((one) => [JSON.stringify([one.kind, [...one.texts].sort()]), one])); // in either order
  const unique = new Map([...turned.values()].map((one) => [JSON.stringify([one.kind, one.words]), one]));
  return [...unique.values()].map((one) => reason(context, one));
}

/**
 * Why a text has no match: against whose text, the closest first.
 *
 * @param {PanelContext} context
 * @param {PanelRater} rater
 * @param {string} text
 */
export function reasonsOfAlone(context, rater, text) {
  const { h, payload, name } = context;
  const id = String(rater.id);
  const of = (payload.reasons ?? []).filter((one) =>
    one.raters.some((other, side) => String(other) === id && one.texts[side] === text),
  );
  const other = (one) => one.raters[String(one.raters[0]) === id ? 1 : 0];
  return of
    .filter((one) => !["one rater only", "unrelated"].includes(one.kind))
    .sort((a, b) => b.equivalence - a.equivalence)
    .slice(0, SHOWN_REASONS)
    .map((one) => reason(context, one, isolated(h, name(other(one)))));
}

/**
 * @param {PanelContext} context
 * @param {PanelReason} one
 * @param {Node | null} [against]
 */
function reason(context, one, against = null) {
  const { h } = context;
  const names = [one.name, ...(one.also ?? [])].join(", ");
  const words = ["unrelated", "one rater only"].includes(one.kind) ? names : `${names}: ${one.words}`;
  return h(
    "span",
    { class: "sirr-reason", "data-reason": one.kind },
    ...(against ? [against, ", "] : []),
    h("bdi", { dir: "auto" }, words),
    ...uncounting(context, one),
  );
}

/**
 * "Does not count in our project", as a proposal to the lead; or who proposed it, with the way to the lead's form.
 *
 * @param {PanelContext} context
 * @param {PanelReason} one
 */
function uncounting({ h, payload, actions, part, deciding }, one) {
  if (!one.can_be_ignored) return [];
  const proposals = (payload.uncounted ?? []).filter((other) => other.attribute === one.kind);
  const proposal = proposals.find((other) => other.task === payload.task?.id) ?? proposals[0];
  if (!proposal) {
    if (!deciding || !actions.uncount) return [];
    const more = {
      class: "sirr-small",
      "data-uncount": one.kind,
      "aria-label": `Does not count in our project: ${one.name}`,
      title: "Proposes to the lead to leave this out of what counts. Scores change only when the lead decides so.",
    };
    const act = () => actions.uncount(one.kind);
    return [" ", press(h, `${part}uncount-${one.kind}`, "does not count in our project", act, more)];
  }
  const who = isolated(h, proposal.who || "a reviewer");
  const text = h("span", { class: "sirr-decided" }, "proposed not to count by ", who);
  const parts = [" ", text];
  if (payload.links?.report) {
    const link = `${payload.links.report}#proposed-${one.kind}`;
    parts.push(" ", h("a", { href: safe(link), target: "_blank", rel: "noopener" }, "what it changes"));
  }
  if (deciding && actions.count && proposal.task === payload.task?.id) {
    const more = { class: "sirr-small", "aria-label": `Undo: ${one.name} does not count in our project` };
    parts.push(
      " ",
      press(h, `${part}count-${one.kind}`, "Undo", () => actions.count(proposal.id), more),
    );
  }
  return parts;
}
