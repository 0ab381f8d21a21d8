/** The panel's table of texts, and what reviewers decide in it: a match is the same or not, two texts of two annotators are the same. */
import { bar, combinations, isolated, number, written } from "./pieces.js";

const RELATIONS = {
  equivalent: { sign: "=", kind: "equivalent" },
  "first is more general": { sign: "⊃", kind: "broader", directed: true },
  "second is more general": { sign: "⊂", kind: "narrower", directed: true },
  unrelated: { sign: "≠", kind: "unrelated" },
};

/** Texts that the measure holds together and those that found no partner, as one table: a column for each annotator. */
export function texts(context) {
  const { h, payload, name, actions, asksName } = context;
  const raters = payload.raters ?? [];
  const matches = payload.matches ?? [];
  const unmatched = payload.unmatched ?? {};
  const lonely = raters.some((rater) => (unmatched[rater.id] ?? []).length);
  const title = h("h2", {}, "Texts side by side");
  if (!matches.length && !lonely) return [title, h("p", { class: "sirr-quiet" }, "All answers are empty.")];

  const deciding = Boolean(actions.decide && payload.viewer?.can_decide !== false);
  const table = h("table", { class: "sirr-texts" });
  table.append(h("caption", { class: "sirr-hidden" }, "Texts that belong together stand in one row; one column for each annotator"));
  const row = h("tr", {}, h("th", { scope: "col" }, "Equivalence"));
  for (const rater of raters) {
    const empty = rater.n_texts === 0 ? h("span", { class: "sirr-quiet sirr-empty" }, "empty answer") : null;
    row.append(h("th", { scope: "col" }, isolated(h, name(rater.id)), empty));
  }
  if (deciding) row.append(h("th", { scope: "col", class: "sirr-deciding" }, "Your decision"));
  table.append(h("thead", {}, row));

  const rows = h("tbody", {});
  matches.forEach((match, index) => rows.append(matchRow(context, match, index, deciding)));
  table.append(rows);
  if (lonely) table.append(h("tbody", {}, unmatchedRow(context, deciding)));
  const parts = [title, h("div", { class: "sirr-scroll", tabindex: "0", role: "region", "aria-label": "Texts side by side, scrolls sideways" }, table)];
  const selectable = [...table.querySelectorAll(".sirr-pick")].map((one) => one.dataset.rater);
  if (new Set(selectable).size > 1) parts.push(pairing(context));
  if (deciding && asksName) parts.push(viewerName(context));
  return parts;
}

function matchRow(context, match, index, deciding) {
  const { h, payload, name } = context;
  const members = (payload.raters ?? []).filter((rater) => match.texts[rater.id] !== undefined);
  const relation = RELATIONS[match.relation] ?? RELATIONS.equivalent;
  let word = match.relation ?? "equivalent";
  if (relation.directed) word = match.broader ? [isolated(h, `${name(match.broader)}’s`), members.length > 2 ? " is the broadest" : " is broader"] : "one is broader";
  const cell = h(
    "th",
    { scope: "row", class: "sirr-equivalence" },
    h("span", { class: "sirr-number", "data-equivalence": match.equivalence }, number(match.equivalence)),
    bar(h, match.equivalence, null),
    h("span", { class: `sirr-relation sirr-${relation.kind}` }, h("span", { "aria-hidden": "true" }, `${relation.sign} `), ...[word].flat()),
  );
  if (match.decision) {
    cell.append(h("span", { class: "sirr-decided" }, match.decision.verdict === "same" ? "decided: same" : "decided: not the same"));
  }
  const row = h("tr", { "data-match": index }, cell);
  // what is equivalent already needs no other partner
  const selectable = deciding && relation.kind !== "equivalent";
  for (const rater of payload.raters ?? []) {
    const text = match.texts[rater.id];
    row.append(
      text === undefined
        ? h("td", { class: "sirr-absent" }, h("span", { "aria-hidden": "true" }, "–"), h("span", { class: "sirr-hidden" }, "nothing that matches"))
        : h("td", {}, selectable ? picking(context, rater, text, `match-${index}`) : written(h, text)),
    );
  }
  if (deciding) row.append(h("td", { class: "sirr-deciding" }, ...matchButtons(context, match, members, index)));
  return row;
}

function matchButtons(context, match, members, index) {
  const { h, actions, name, part } = context;
  if (match.decision) {
    const button = h("button", { type: "button", "data-keep": `${part}undo-${match.decision.id}` }, "Undo");
    button.setAttribute("aria-label", `Undo: ${match.decision.verdict === "same" ? "same" : "not the same"}, decided by ${match.decision.who || "someone"}`);
    button.addEventListener("click", () => actions.undo(match.decision.id));
    return [button];
  }
  const ids = members.map((rater) => rater.id);
  if (new Set(ids.map((id) => match.texts[id])).size < 2) return [h("span", { class: "sirr-quiet" }, "identical")];
  const send = (pairs, verdict) => actions.decide({ pairs, verdict });
  const same = h("button", { type: "button", "data-keep": `${part}same-${index}` }, "Same");
  same.addEventListener("click", () => send(combinations(ids).map(([a, b]) => [match.texts[a], match.texts[b]]), "same"));
  const different = h("button", { type: "button", "data-keep": `${part}different-${index}` }, "Not the same");
  if (ids.length === 2) {
    different.addEventListener("click", () => send([[match.texts[ids[0]], match.texts[ids[1]]]], "different"));
    return [same, different];
  }
  // with three or more it takes a word more: whose text does not belong to the others
  const menu = h("div", { class: "sirr-choice", hidden: true, role: "group", "aria-label": "Whose text does not belong?" }, h("p", {}, "Whose text does not belong?"));
  for (const id of ids) {
    const one = h("button", { type: "button" }, isolated(h, name(id)));
    one.addEventListener("click", () =>
      send(ids.filter((other) => other !== id && match.texts[other] !== match.texts[id]).map((other) => [match.texts[id], match.texts[other]]), "different"),
    );
    menu.append(one);
  }
  different.setAttribute("aria-expanded", "false");
  different.addEventListener("click", () => {
    menu.hidden = !menu.hidden;
    different.setAttribute("aria-expanded", String(!menu.hidden));
    if (!menu.hidden) menu.querySelector("button").focus();
  });
  return [same, different, menu];
}

function unmatchedRow(context, deciding) {
  const { h, payload } = context;
  const row = h("tr", { class: "sirr-unmatched" }, h("th", { scope: "row" }, "No match"));
  for (const rater of payload.raters ?? []) {
    const own = payload.unmatched?.[rater.id] ?? [];
    const cell = h("td", {});
    if (!own.length) cell.append(h("span", { class: "sirr-absent", "aria-hidden": "true" }, "–"), h("span", { class: "sirr-hidden" }, "none"));
    else {
      const list = h("ul", {});
      own.forEach((text, index) => {
        list.append(h("li", {}, deciding ? picking(context, rater, text, String(index)) : written(h, text)));
      });
      cell.append(list);
    }
    row.append(cell);
  }
  if (deciding) row.append(h("td", { class: "sirr-deciding" }));
  return row;
}

/** A text that can be selected. */
function picking({ h, name, part }, rater, text, place) {
  const button = h(
    "button",
    { type: "button", class: "sirr-pick", "aria-pressed": "false", "data-keep": `${part}pick-${rater.id}-${place}`, "data-rater": rater.id, title: `Select this text of ${name(rater.id)}` },
    written(h, text),
  );
  button.addEventListener("click", () => pick(button));
  return button;
}

/** One text picked for each of two annotators; a third pick replaces the oldest. */
export function pick(button) {
  const panel = button.closest(".sirr-body");
  const pressed = [...panel.querySelectorAll('.sirr-pick[aria-pressed="true"]')].sort((a, b) => a.dataset.order - b.dataset.order);
  const on = button.getAttribute("aria-pressed") !== "true";
  if (on) {
    const same = pressed.filter((other) => other.dataset.rater === button.dataset.rater);
    for (const other of same.length ? same : pressed.slice(0, Math.max(0, pressed.length - 1))) other.setAttribute("aria-pressed", "false");
    button.dataset.order = String(1 + Math.max(0, ...pressed.map((other) => Number(other.dataset.order))));
  }
  button.setAttribute("aria-pressed", String(on));
  const together = panel.querySelector(".sirr-together");
  if (together) together.disabled = panel.querySelectorAll('.sirr-pick[aria-pressed="true"]').length !== 2;
}

function pairing({ h, actions, part }) {
  const button = h("button", { type: "button", class: "sirr-together", disabled: true, "data-keep": `${part}together` }, "These are the same");
  button.addEventListener("click", () => {
    const picked = [...button.closest(".sirr-body").querySelectorAll('.sirr-pick[aria-pressed="true"]')];
    if (picked.length === 2) actions.decide({ pairs: [picked.map((one) => one.querySelector(".sirr-text").textContent)], verdict: "same" });
  });
  return h("p", { class: "sirr-pairing" }, button, h("span", { class: "sirr-quiet" }, " Select two texts, of two annotators, that mean the same."));
}

function viewerName({ h, payload, actions }) {
  const input = h("input", { type: "text", maxlength: "80", autocomplete: "name", "data-keep": "viewer-name", value: payload.viewer?.name ?? "" });
  input.addEventListener("change", () => actions.rename?.(input.value));
  return h("p", { class: "sirr-who" }, h("label", {}, "Your name, kept with your decisions ", input));
}
