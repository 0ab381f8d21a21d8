/**
 * The panel's table of texts, and what reviewers decide in it. A decision is about two texts: they are the same, or not. Moving a text to another
 * row is a number of these: it is the same as each text of that row, and not the same as those that it matched before.
 */
import { bar, codes, isolated, labels, number, written } from "./pieces.js";

const RELATIONS = {
  equivalent: { sign: "=", kind: "equivalent" },
  "first is more general": { sign: "⊃", kind: "broader", directed: true },
  "second is more general": { sign: "⊂", kind: "narrower", directed: true },
  unrelated: { sign: "≠", kind: "unrelated" },
};
const ALONE = "alone";
/** Width in px that a column needs, that the values and decisions beside them need, and from which even many columns stay side by side. */
const COLUMN = 96;
const VALUES = 170;
const ROOM = 640;
/** Above this many pairs of texts a row shows the lowest and folds the others. */
const SHOWN_PAIRS = 6;
const LOWEST = 3;
const SHOWN_REASONS = 2;
/** Values of a row that lie closer together than this say no more than their mean: they are folded. */
const SPREAD = 0.15;
/** Reasons that a project can leave out of what counts. */
const ATTRIBUTES = new Set(["side", "severity", "time", "number", "certainty", "negation", "subject", "cause"]);

/** Texts that the measure holds together and those that found no partner, as one table: a column for each annotator. */
export function texts(context) {
  const { h, payload, name, actions } = context;
  const raters = payload.raters ?? [];
  const matches = payload.matches ?? [];
  const unmatched = payload.unmatched ?? {};
  const lonely = raters.some((rater) => (unmatched[rater.id] ?? []).length);
  const title = h("h2", { class: "sirr-hidden" }, "Texts side by side");
  if (!matches.length && !lonely) return [title, h("p", { class: "sirr-quiet" }, "All answers are empty.")];

  const deciding = Boolean(actions.decide && payload.viewer?.can_decide !== false);
  const short = labels(raters.map((rater) => name(rater.id)));
  const inside = { ...context, deciding, short: new Map(raters.map((rater, index) => [String(rater.id), short[index]])) };
  // roles: where there is no room the cells are stacked, and a table that is no longer laid out as one would be none for a screen reader
  const needed = Math.min(ROOM, VALUES + raters.length * COLUMN);
  const table = h("table", { class: "sirr-texts", role: "table", "data-needed": needed });
  table.append(h("caption", { class: "sirr-hidden" }, "Texts that belong together stand in one row; one column for each annotator"));
  const row = h("tr", { role: "row" }, h("th", { scope: "col", role: "columnheader" }, "Equivalence"));
  for (const rater of raters) {
    const empty = rater.n_texts === 0 ? h("span", { class: "sirr-quiet sirr-empty" }, "empty answer") : null;
    row.append(h("th", { scope: "col", role: "columnheader" }, isolated(h, name(rater.id)), empty));
  }
  table.append(h("thead", { role: "rowgroup" }, row));

  const rows = h("tbody", { role: "rowgroup" });
  matches.forEach((match, index) => rows.append(matchRow(inside, match, index)));
  table.append(rows);
  if (lonely || (deciding && matches.length)) table.append(h("tbody", { role: "rowgroup" }, unmatchedRow(inside, lonely)));
  const parts = [title, h("div", { class: "sirr-scroll", tabindex: "0", role: "region", "aria-label": "Texts side by side, scrolls sideways" }, table)];
  if (new Set([...table.querySelectorAll(".sirr-pick")].map((one) => one.dataset.rater)).size > 1) parts.push(pairing(inside));
  return parts;
}

function matchRow(context, match, index) {
  const { h, payload, name, deciding } = context;
  const members = (payload.raters ?? []).filter((rater) => match.texts[rater.id] !== undefined);
  const relation = RELATIONS[match.relation] ?? RELATIONS.equivalent;
  const identical = new Set(Object.values(match.texts)).size === 1;
  let word = identical ? "identical" : match.relation ?? "equivalent";
  if (relation.directed) word = match.broader ? [isolated(h, `${name(match.broader)}’s`), members.length > 2 ? " is the broadest" : " is broader"] : "one is broader";
  const several = members.length > 2;
  const cell = h(
    "th",
    { scope: "row", role: "rowheader", class: "sirr-equivalence" },
    h(
      "span",
      { class: "sirr-line" },
      h("span", { class: "sirr-number", "data-equivalence": match.equivalence }, number(match.equivalence)),
      bar(h, match.equivalence, null),
      h("span", { class: `sirr-relation sirr-${relation.kind}` }, h("span", { "aria-hidden": "true" }, `${relation.sign} `), ...[word].flat()),
    ),
    several && !identical && !isEven(context, match) ? h("span", { class: "sirr-quiet sirr-mean" }, `mean of ${(members.length * (members.length - 1)) / 2} pairs`) : null,
    ...reasonsOfRow(context, match),
    several ? pairValues(context, match, index) : null,
    codes(h, match.codes),
  );
  // where each pair has a line of its own, that line says what was decided
  if (match.decision && !deciding && !(several && match.pairs?.length)) cell.append(h("span", { class: "sirr-decided" }, verdictOf(match.decision)));
  if (deciding) cell.append(h("div", { class: "sirr-deciding" }, ...(several && match.pairs?.length ? [] : matchButtons(context, match, index)), moveButton(context, index)));
  const row = h("tr", { role: "row", "data-match": index }, cell);
  for (const rater of payload.raters ?? []) {
    const text = match.texts[rater.id];
    row.append(
      text === undefined
        ? h("td", { ...cellOf(context, rater), class: "sirr-absent" }, h("span", { "aria-hidden": "true" }, "–"), h("span", { class: "sirr-hidden" }, "nothing that matches"))
        : h("td", cellOf(context, rater), deciding ? h("div", { class: "sirr-cell" }, picking(context, rater, text, index, `match-${index}`)) : written(h, text)),
    );
  }
  if (deciding) takesDrops(context, row, (picked) => move(context, picked, index));
  return row;
}

/** Why texts of a row do not match, each reason once. */
function reasonsOfRow(context, match) {
  const { payload } = context;
  const directed = RELATIONS[match.relation]?.directed; // the relation says it already
  const of = (payload.reasons ?? []).filter((one) => !(directed && one.kind === "more general") && one.raters.every((id, side) => match.texts[id] !== undefined && match.texts[id] === one.texts[side]));
  const said = new Map(of.map((one) => [JSON.stringify([one.kind, one.words]), one]));
  return [...said.values()].map((one) => reason(context, one));
}

/** Why a text has no match: against whose text, the closest first. */
function reasonsOfAlone(context, rater, text) {
  const { h, payload, name } = context;
  const id = String(rater.id);
  const of = (payload.reasons ?? []).filter((one) => one.raters.some((other, side) => String(other) === id && one.texts[side] === text));
  const other = (one) => one.raters[String(one.raters[0]) === id ? 1 : 0];
  const told = of.filter((one) => !["one rater only", "unrelated"].includes(one.kind)).sort((a, b) => b.equivalence - a.equivalence);
  return told.slice(0, SHOWN_REASONS).map((one) => reason(context, one, isolated(h, name(other(one)))));
}

function reason(context, one, against = null) {
  const { h } = context;
  const names = [one.name, ...(one.also ?? [])].join(", ");
  const words = ["unrelated", "one rater only"].includes(one.kind) ? names : `${names}: ${one.words}`;
  return h("span", { class: "sirr-reason", "data-reason": one.kind }, ...(against ? [against, ", "] : []), h("bdi", { dir: "auto" }, words), ...uncounting(context, one));
}

/** "This does not count in our project", as a proposal to the lead; or that it was said, with who said it. */
function uncounting({ h, payload, actions, part, deciding }, one) {
  if (!ATTRIBUTES.has(one.kind)) return [];
  const all = (payload.uncounted ?? []).filter((said) => said.attribute === one.kind);
  const said = all.find((said) => said.task === payload.task?.id) ?? all[0];
  const about = one.name;
  if (said) {
    const text = h("span", { class: "sirr-decided" }, "does not count, says ", isolated(h, said.who || "a reviewer"));
    if (!deciding || !actions.count || said.task !== payload.task?.id) return [" ", text];
    const undo = h("button", { type: "button", class: "sirr-small", "data-keep": `${part}count-${one.kind}`, "aria-label": `Undo: ${about} does not count in our project` }, "Undo");
    undo.addEventListener("click", () => actions.count(said.id));
    return [" ", text, " ", undo];
  }
  if (!deciding || !actions.uncount) return [];
  const button = h(
    "button",
    { type: "button", class: "sirr-small", "data-keep": `${part}uncount-${one.kind}`, "data-uncount": one.kind, "aria-label": `This does not count in our project: ${about}`, title: "Proposes to the lead that this is left out of what counts. Nothing changes until the lead decides." },
    "does not count in our project",
  );
  button.addEventListener("click", () => actions.uncount(one.kind));
  return [" ", button];
}

/** A cell of an annotator's column; where the columns are stacked it is headed by the name. */
function cellOf({ name }, rater) {
  return { role: "cell", "data-label": name(rater.id) + (rater.n_texts === 0 ? " (empty answer)" : "") };
}

function verdictOf(decision) {
  return decision.verdict === "same" ? "decided: same" : "decided: not the same";
}

/** The value of each two texts of a row, the lowest first: a mean would hide who differs. What is decided about two texts stands beside it. */
function pairValues(context, match, index) {
  const { h, name, short, part, deciding } = context;
  const pairs = [...(match.pairs ?? [])].sort((a, b) => a.equivalence - b.equivalence);
  if (!pairs.length || new Set(Object.values(match.texts)).size === 1) return null;
  const threshold = context.payload.threshold ?? 0.5;
  const seen = new Map();
  const line = ({ raters, equivalence, decision }) => {
    const two = raters.map((id) => match.texts[id]);
    const key = JSON.stringify([...two].sort());
    const offers = deciding && two[0] !== two[1] && !seen.has(key);
    if (offers) seen.set(key, seen.size);
    return h(
      "li",
      { class: [equivalence < threshold ? "sirr-low" : "", offers ? "sirr-choice" : ""].join(" "), "data-pair": equivalence },
      h("abbr", { title: raters.map(name).join(" and ") }, h("span", { "aria-hidden": "true" }, raters.map((id) => short.get(String(id))).join("–")), h("span", { class: "sirr-hidden" }, raters.map(name).join(" and "))),
      " ",
      h("span", { class: "sirr-number" }, number(equivalence)),
      ...(offers ? [" ", ...pairButtons(context, { texts: two, raters, decision }, `${index}-${seen.get(key)}`, true)] : []),
      ...(decision && !offers ? [" ", h("span", { class: "sirr-decided" }, verdictOf(decision))] : []),
    );
  };
  const lines = pairs.map(line);
  const list = (some) => h("ul", { class: "sirr-pairs" }, ...some);
  const fold = (words, some) => h("details", { "data-fold": `${part}pairs-${index}` }, h("summary", { "data-keep": `${part}pairs-${index}` }, words), list(some));
  const inside = { class: deciding ? "sirr-deciding" : null };
  if (isEven(context, match)) return h("div", inside, fold(`mean of ${pairs.length} pairs`, lines));
  if (pairs.length <= SHOWN_PAIRS) return h("div", inside, list(lines));
  return h("div", inside, list(lines.slice(0, LOWEST)), fold(`${pairs.length - LOWEST} more pairs`, lines.slice(LOWEST)));
}

/** Whether every two texts of a row match about equally well and nobody has decided on them. */
function isEven({ payload }, match) {
  const values = (match.pairs ?? []).map((pair) => pair.equivalence);
  if (values.length < 2 || match.pairs.some((pair) => pair.decision)) return false;
  return Math.min(...values) >= (payload.threshold ?? 0.5) && Math.max(...values) - Math.min(...values) <= SPREAD;
}

/** Same or not the same, for the two texts of a row; longer rows offer it for each pair. One press never says more than that. */
function matchButtons(context, match, index) {
  const [pair] = pairsOf(match);
  const [a, b] = pair.raters.map((id) => match.texts[id]);
  if (a === b) return [];
  return [context.h("span", { class: "sirr-choice" }, ...pairButtons(context, { texts: [a, b], raters: pair.raters, decision: pair.decision }, `${index}`))];
}

function pairsOf(match) {
  if (match.pairs?.length) return match.pairs;
  const ids = Object.keys(match.texts);
  return ids.flatMap((a, i) => ids.slice(i + 1).map((b) => ({ raters: [a, b], decision: match.decision })));
}

function pairButtons({ h, actions, part, name }, { texts: two, raters, decision }, place, brief = false) {
  const about = `${two[0]} (${name(raters[0])}) and ${two[1]} (${name(raters[1])})`;
  if (decision) {
    const undo = h("button", { type: "button", "data-keep": `${part}undo-${decision.id}`, "data-verb": "undo", "aria-label": `Undo: ${decision.verdict === "same" ? "same" : "not the same"}, ${about}` }, "Undo");
    undo.addEventListener("click", () => actions.undo(decision.id));
    return [h("span", { class: "sirr-decided" }, verdictOf(decision)), undo];
  }
  return [
    ["same", "Same"],
    ["different", "Not the same"],
  ].map(([verdict, label]) => {
    const button = h("button", { type: "button", "data-keep": `${part}${verdict}-${place}`, "data-verb": verdict, "aria-label": `${label}: ${about}`, title: label }, brief ? { same: "=", different: "≠" }[verdict] : label);
    button.addEventListener("click", () => actions.decide({ pairs: [two], verdict }));
    return button;
  });
}

function unmatchedRow(context, lonely) {
  const { h, payload, deciding } = context;
  const row = h("tr", { role: "row", class: "sirr-unmatched" }, h("th", { scope: "row", role: "rowheader" }, "No match", deciding ? h("div", { class: "sirr-deciding" }, lonely ? null : h("span", { class: "sirr-quiet" }, "nothing stands alone"), moveButton(context, ALONE)) : null));
  for (const rater of payload.raters ?? []) {
    const own = payload.unmatched?.[rater.id] ?? [];
    const cell = h("td", cellOf(context, rater));
    if (!own.length) cell.append(h("span", { class: "sirr-absent", "aria-hidden": "true" }, "–"), h("span", { class: "sirr-hidden" }, "none"));
    else cell.append(h("ul", {}, ...own.map((text, index) => h("li", {}, deciding ? picking(context, rater, text, ALONE, String(index)) : written(h, text), ...reasonsOfAlone(context, rater, text), aloneDecided(context, text)))));
    row.append(cell);
  }
  if (deciding) takesDrops(context, row, (picked) => move(context, picked, ALONE));
  return row;
}

/** A text that was decided to be the same as another stands alone until the task is scored again: it says so meanwhile. */
function aloneDecided({ h, payload }, text) {
  const said = (payload.decisions ?? []).filter((one) => one.verdict === "same" && one.texts.includes(text));
  if (!said.length) return null;
  return h("span", { class: "sirr-decided" }, "decided: same as ", written(h, said[0].texts.find((other) => other !== text) ?? text));
}

// --- Moving and pairing ---------------------------------------------------------------------------------------------------

/** A text that can be selected, and dragged to another row. */
function picking(context, rater, text, row, place) {
  const { h, name, part } = context;
  const button = h(
    "button",
    { type: "button", class: "sirr-pick", "aria-pressed": "false", draggable: "true", "data-keep": `${part}pick-${rater.id}-${place}`, "data-rater": rater.id, "data-row": row, title: `Select or drag this text of ${name(rater.id)}` },
    written(h, text),
  );
  button.addEventListener("click", () => pick(button));
  button.addEventListener("dragstart", (event) => {
    event.dataTransfer.setData("text/plain", text);
    event.dataTransfer.effectAllowed = "move";
    button.classList.add("sirr-dragged");
  });
  button.addEventListener("dragend", () => button.classList.remove("sirr-dragged"));
  if (row === ALONE) takesDrops(context, button, (picked) => picked.dataset.rater !== button.dataset.rater && decidePair(context, picked, button, "same"));
  return button;
}

function textOf(button) {
  return button.querySelector(".sirr-text")?.textContent ?? "";
}

/** What is dropped on `node`, of the same panel and field, is handed to `done`. */
function takesDrops(context, node, done) {
  const dragged = () => node.closest(".sirr-body")?.querySelector(".sirr-dragged");
  const fits = () => {
    const one = dragged();
    return one && one !== node && one.dataset.row !== node.dataset.match && !(node.classList.contains("sirr-unmatched") && one.dataset.row === ALONE);
  };
  node.addEventListener("dragover", (event) => {
    if (!fits()) return;
    event.preventDefault();
    node.classList.add("sirr-target");
  });
  node.addEventListener("dragleave", () => node.classList.remove("sirr-target"));
  node.addEventListener("drop", (event) => {
    node.classList.remove("sirr-target");
    if (!fits()) return;
    event.preventDefault();
    event.stopPropagation();
    done(dragged());
  });
}

/** One text selected to be moved, or one of each of two annotators to be compared; a third replaces the older of the others. */
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
  offer(panel);
}

/** What can be done with the selected texts. */
function offer(panel) {
  const picked = [...panel.querySelectorAll('.sirr-pick[aria-pressed="true"]')];
  for (const one of panel.querySelectorAll(".sirr-together")) {
    one.disabled = picked.length !== 2;
    one.hidden = !picked.length;
  }
  const [only] = picked.length === 1 ? picked : [];
  for (const one of panel.querySelectorAll(".sirr-move")) {
    one.hidden = !only || one.dataset.row === only.dataset.row;
    const [twice, identical] = only && !one.hidden ? [one.dataset.row !== ALONE && holdsAlready(panel, only, one.dataset.row), one.dataset.row === ALONE && isIdentical(panel, only)] : [];
    one.disabled = Boolean(twice || identical);
    one.title = twice ? "The same words of the same annotator stand in this row." : identical ? "The other annotators wrote the same words." : "";
  }
}

/** The texts of a row, other than those of the annotator whose text is moved there. */
function othersIn(panel, picked, row) {
  const all = [...panel.querySelectorAll(`.sirr-pick[data-row="${CSS.escape(row)}"]`)];
  return [...new Set(all.filter((one) => one.dataset.rater !== picked.dataset.rater).map(textOf))];
}

function holdsAlready(panel, picked, row) {
  return [...panel.querySelectorAll(`.sirr-pick[data-row="${CSS.escape(row)}"]`)].some((one) => one.dataset.rater === picked.dataset.rater && textOf(one) === textOf(picked));
}

function isIdentical(panel, picked) {
  return othersIn(panel, picked, picked.dataset.row).every((text) => text === textOf(picked));
}

function moveButton(context, row) {
  const { h, part } = context;
  const label = row === ALONE ? "Take out of its row" : "Move here";
  const button = h("button", { type: "button", class: "sirr-move", hidden: true, "data-row": row, "data-keep": `${part}move-${row}` }, label);
  button.addEventListener("click", () => {
    const picked = button.closest(".sirr-body").querySelector('.sirr-pick[aria-pressed="true"]');
    if (picked) move(context, picked, row);
  });
  return button;
}

function move({ actions, payload }, picked, row) {
  const panel = picked.closest(".sirr-body");
  const text = textOf(picked);
  if (row !== ALONE && holdsAlready(panel, picked, String(row))) return;
  const there = row === ALONE ? [] : othersIn(panel, picked, String(row)).filter((other) => other !== text);
  // where it stood: what it was equivalent to, it is not; what was not equivalent needs no word
  const before = picked.dataset.row === ALONE ? null : payload.matches[Number(picked.dataset.row)];
  const threshold = payload.threshold ?? 0.5;
  const left = before
    ? pairsOf(before)
        .filter((pair) => pair.raters.map(String).includes(picked.dataset.rater) && (row === ALONE || (pair.equivalence ?? before.equivalence) >= threshold))
        .map((pair) => before.texts[pair.raters.find((id) => String(id) !== picked.dataset.rater)])
        .filter((other) => other !== text && !there.includes(other))
    : [];
  const said = [
    { pairs: there.map((other) => [text, other]), verdict: "same" },
    { pairs: [...new Set(left)].map((other) => [text, other]), verdict: "different" },
  ].filter((one) => one.pairs.length);
  if (said.length) {
    letGo(panel);
    actions.decide(...said);
  }
}

function decidePair({ actions }, one, other, verdict) {
  if (textOf(one) === textOf(other)) return;
  letGo(one.closest(".sirr-body"));
  actions.decide({ pairs: [[textOf(one), textOf(other)]], verdict });
}

/** What was selected is decided: the next selection begins anew. */
function letGo(panel) {
  for (const one of panel.querySelectorAll('.sirr-pick[aria-pressed="true"]')) one.setAttribute("aria-pressed", "false");
  offer(panel);
}

function pairing(context) {
  const { h, part } = context;
  const buttons = [
    ["same", "These are the same"],
    ["different", "These are not the same"],
  ].map(([verdict, label]) => {
    const button = h("button", { type: "button", class: "sirr-together", disabled: true, hidden: true, "data-keep": `${part}together-${verdict}` }, label);
    button.addEventListener("click", () => {
      const picked = [...button.closest(".sirr-body").querySelectorAll('.sirr-pick[aria-pressed="true"]')];
      if (picked.length === 2) decidePair(context, ...picked, verdict);
    });
    return button;
  });
  return h("p", { class: "sirr-pairing" }, ...buttons, h("span", { class: "sirr-quiet" }, " Select one text to move it, two to compare them."));
}
