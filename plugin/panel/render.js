/**
 * The agreement panel: one payload in, one tree of elements out.
 *
 * `render(node, payload, actions)` replaces the children of `node`. Every text that comes from people goes through
 * `textContent` or an attribute, never through markup. `actions` are optional; without them the panel only shows.
 *
 * actions: {
 *   decide({pairs: [[text, text], ...], verdict: "same" | "different"}), undo(decisionId),
 *   rename(name of the viewer), accept(texts of the suggestion)
 * }
 */

const RELATIONS = {
  equivalent: { sign: "=", kind: "equivalent" },
  "first is more general": { sign: "⊃", kind: "broader", broader: 0 },
  "second is more general": { sign: "⊂", kind: "narrower", broader: 1 },
  unrelated: { sign: "≠", kind: "unrelated" },
};
const COEFFICIENTS = {
  observed_agreement: "observed agreement",
  cohen_kappa: "Cohen’s kappa",
  scott_pi: "Scott’s pi",
  fleiss_kappa: "Fleiss’ kappa",
  krippendorff_alpha: "Krippendorff’s alpha",
  gwet_ac2: "Gwet’s AC2",
};
const MESSAGES = {
  pending: "The agreement of this task is being computed.",
  blind: "Agreement is shown in review, after the answers are in.",
  none: "There is nothing to compare yet.",
  unavailable: "Agreement can’t be shown right now. Your work is not affected.",
};
const STEPS = 10;

/**
 * Draw the panel.
 * @param {Element} node emptied and filled
 * @param {object} payload what `GET /api/panel` answers
 * @param {object} [actions] callbacks; see the top of this file
 */
export function render(node, payload, actions = {}) {
  const document = node.ownerDocument;
  const kept = remember(node);
  const names = new Map((payload.raters ?? []).map((rater) => [String(rater.id), rater.name || `Annotator ${rater.id}`]));
  const context = { h: builder(document), names, payload, actions, name: (id) => names.get(String(id)) ?? `Annotator ${id}` };
  const root = context.h("section", { class: "sirr", "aria-label": "Agreement", "data-status": payload.status });
  if (payload.status === "ready") {
    root.append(head(context), body(context), foot(context));
  } else {
    root.append(notice(context));
  }
  node.replaceChildren(root);
  restore(node, kept);
  // what scrolls has to be reachable by keyboard
  for (const text of node.querySelectorAll("td > .sirr-text")) if (text.scrollHeight > text.clientHeight) text.tabIndex = 0;
}

// --- Parts ------------------------------------------------------------------------------------------------------------

function notice({ h, payload }) {
  const job = payload.job;
  const box = h("div", { class: "sirr-notice", role: "status" });
  box.append(h("p", {}, payload.message || MESSAGES[payload.status] || MESSAGES.unavailable));
  if (payload.status === "pending") {
    box.append(
      job?.total
        ? h("progress", { max: job.total, value: job.done, "aria-label": "Progress" })
        : h("progress", { "aria-label": "Working" }),
    );
    if (job?.total) box.append(h("p", { class: "sirr-quiet" }, `${count(job.done)} of ${count(job.total)} text pairs compared`));
  }
  if (payload.excluded?.length) {
    const names = new Map((payload.raters ?? []).map((rater) => [String(rater.id), rater.name]));
    box.append(
      h("p", { class: "sirr-quiet" }, "Left out: ", ...joined(h, payload.excluded.map((e) => `${names.get(String(e.rater)) ?? e.rater} (${e.reason})`))),
    );
  }
  return box;
}

function head(context) {
  const { h, payload } = context;
  const { task, project } = payload;
  const box = h("header", { class: "sirr-head" });
  const value = task.agreement;
  const score = h("div", { class: "sirr-score" });
  if (value === null || value === undefined) {
    score.append(h("strong", { class: "sirr-value" }, "–"), h("span", { class: "sirr-word" }, task.word || "not comparable"));
  } else {
    score.append(
      h("strong", { class: "sirr-value", "data-agreement": value }, number(value)),
      h("span", { class: "sirr-word" }, task.word ? `${task.word} agreement` : "agreement"),
      bar(h, value, `Agreement of this task: ${number(value)}`),
    );
  }
  box.append(score);

  const facts = h("dl", { class: "sirr-facts" });
  const fact = (term, ...detail) => facts.append(h("div", {}, h("dt", {}, term), h("dd", {}, ...detail)));
  if (task.rank && task.n_ranked > 1) {
    const fromTop = task.n_ranked - task.rank + 1;
    const place = task.rank <= fromTop ? `${ordinal(task.rank)} lowest` : `${ordinal(fromTop)} highest`;
    fact("In the project", `${place} of ${count(task.n_ranked)} tasks`);
  }
  fact("Annotators", String(task.n_raters ?? payload.raters?.length ?? 0));
  const coefficient = project?.coefficient;
  if (coefficient && coefficient.value !== null && coefficient.value !== undefined) {
    const interval = coefficient.ci95 ? ` (${number(coefficient.ci95[0])} to ${number(coefficient.ci95[1])})` : "";
    fact("Whole project", `${COEFFICIENTS[coefficient.name] ?? coefficient.name} ${number(coefficient.value)}${interval}`);
  }
  const links = h("nav", { class: "sirr-links", "aria-label": "Agreement report" });
  if (payload.links?.report) links.append(h("a", { href: safe(payload.links.report), target: "_blank", rel: "noopener" }, "Project report"));
  if (links.childElementCount) box.append(links);
  box.append(facts);
  return box;
}

function body(context) {
  const { h, payload } = context;
  const main = h("div", { class: "sirr-main" });
  const side = h("div", { class: "sirr-side" });
  main.append(...texts(context));
  if (payload.suggestion?.length) side.append(suggestion(context));
  if ((payload.raters?.length ?? 0) > 2) side.append(matrix(context));
  if (payload.excluded?.length) side.append(excluded(context));
  if (payload.decisions?.length) side.append(decisions(context));
  return h("div", { class: "sirr-body" }, main, side.childElementCount ? side : null);
}

/** Matches and what found no partner, as one table: a column for each annotator. */
function texts(context) {
  const { h, payload, name, actions } = context;
  const raters = payload.raters ?? [];
  const matches = payload.matches ?? [];
  const unmatched = payload.unmatched ?? {};
  const lonely = raters.some((rater) => (unmatched[rater.id] ?? []).length);
  const title = h("h2", {}, "Matching texts");
  if (!matches.length && !lonely) return [title, h("p", { class: "sirr-quiet" }, "All answers are empty.")];

  const deciding = Boolean(actions.decide && payload.viewer?.can_decide !== false);
  const table = h("table", { class: "sirr-texts" });
  table.append(h("caption", { class: "sirr-hidden" }, "Texts that match across annotators, one column for each annotator"));
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
  const parts = [title, h("div", { class: "sirr-scroll", tabindex: "0", role: "region", "aria-label": "Matching texts, scrolls sideways" }, table)];
  if (deciding && lonely) parts.push(pairing(context));
  if (deciding && payload.viewer?.asks_name) parts.push(viewerName(context));
  return parts;
}

function matchRow(context, match, index, deciding) {
  const { h, payload, name } = context;
  const members = (payload.raters ?? []).filter((rater) => match.texts[rater.id] !== undefined);
  const relation = RELATIONS[match.relation] ?? RELATIONS.equivalent;
  const [first, second] = Object.keys(match.texts);
  let word = match.relation ?? "equivalent";
  if (relation.broader !== undefined) {
    word = members.length === 2 ? [isolated(h, `${name(relation.broader === 0 ? first : second)}’s`), " is broader"] : "one is broader";
  }
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
  for (const rater of payload.raters ?? []) {
    const text = match.texts[rater.id];
    row.append(
      text === undefined
        ? h("td", { class: "sirr-absent" }, h("span", { "aria-hidden": "true" }, "–"), h("span", { class: "sirr-hidden" }, "nothing that matches"))
        : h("td", {}, written(h, text)),
    );
  }
  if (deciding) row.append(h("td", { class: "sirr-deciding" }, ...matchButtons(context, match, members, index)));
  return row;
}

function matchButtons(context, match, members, index) {
  const { h, actions, name } = context;
  if (match.decision) {
    const button = h("button", { type: "button", "data-keep": `undo-${match.decision.id}` }, "Undo");
    button.setAttribute("aria-label", `Undo: ${match.decision.verdict === "same" ? "same" : "not the same"}, decided by ${match.decision.who || "someone"}`);
    button.addEventListener("click", () => actions.undo(match.decision.id));
    return [button];
  }
  const ids = members.map((rater) => rater.id);
  if (new Set(ids.map((id) => match.texts[id])).size < 2) return [h("span", { class: "sirr-quiet" }, "identical")];
  const send = (pairs, verdict) => actions.decide({ pairs, verdict });
  const same = h("button", { type: "button", "data-keep": `same-${index}` }, "Same");
  same.addEventListener("click", () => send(combinations(ids).map(([a, b]) => [match.texts[a], match.texts[b]]), "same"));
  const different = h("button", { type: "button", "data-keep": `different-${index}` }, "Not the same");
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
  const { h, payload, name } = context;
  const row = h("tr", { class: "sirr-unmatched" }, h("th", { scope: "row" }, "No match"));
  for (const rater of payload.raters ?? []) {
    const own = payload.unmatched?.[rater.id] ?? [];
    const cell = h("td", {});
    if (!own.length) cell.append(h("span", { class: "sirr-absent", "aria-hidden": "true" }, "–"), h("span", { class: "sirr-hidden" }, "none"));
    else {
      const list = h("ul", {});
      own.forEach((text, index) => {
        if (!deciding) return list.append(h("li", {}, written(h, text)));
        const button = h("button", { type: "button", class: "sirr-pick", "aria-pressed": "false", "data-keep": `pick-${rater.id}-${index}`, "data-rater": rater.id }, written(h, text));
        button.title = `Select this text of ${name(rater.id)}`;
        button.addEventListener("click", () => pick(button));
        list.append(h("li", {}, button));
      });
      cell.append(list);
    }
    row.append(cell);
  }
  if (deciding) row.append(h("td", { class: "sirr-deciding" }));
  return row;
}

/** One text picked for each of two annotators; a third pick replaces the oldest. */
function pick(button) {
  const panel = button.closest(".sirr");
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

function pairing({ h, actions }) {
  const button = h("button", { type: "button", class: "sirr-together", disabled: true, "data-keep": "together" }, "These are the same");
  button.addEventListener("click", () => {
    const picked = [...button.closest(".sirr").querySelectorAll('.sirr-pick[aria-pressed="true"]')];
    if (picked.length === 2) actions.decide({ pairs: [picked.map((one) => one.querySelector(".sirr-text").textContent)], verdict: "same" });
  });
  return h("p", { class: "sirr-pairing" }, button, h("span", { class: "sirr-quiet" }, " Select two texts without a match, of two annotators, that mean the same."));
}

function viewerName({ h, payload, actions }) {
  const input = h("input", { type: "text", maxlength: "80", autocomplete: "name", "data-keep": "viewer-name", value: payload.viewer?.name ?? "" });
  input.addEventListener("change", () => actions.rename?.(input.value));
  return h("p", { class: "sirr-who" }, h("label", {}, "Your name, kept with your decisions ", input));
}

function suggestion(context) {
  const { h, payload, actions } = context;
  const list = h("ul", { class: "sirr-suggestion" }, ...payload.suggestion.map((text) => h("li", {}, written(h, text))));
  const box = h("section", { class: "sirr-block", "aria-label": "Suggestion" }, h("h2", {}, "Suggestion"), list);
  if (actions.accept) {
    const button = h("button", { type: "button", "data-keep": "accept" }, "Take over as my annotation");
    button.addEventListener("click", () => actions.accept(payload.suggestion));
    box.append(button);
  } else if (payload.how_to_accept) {
    box.append(h("p", { class: "sirr-quiet" }, payload.how_to_accept));
  }
  return box;
}

function matrix(context) {
  const { h, payload, name } = context;
  const raters = payload.raters;
  const table = h("table", { class: "sirr-matrix" }, h("caption", { class: "sirr-hidden" }, "Agreement of each pair of annotators on this task"));
  const short = labels(raters.map((rater) => name(rater.id)));
  const top = h("tr", {}, h("td", {}));
  raters.forEach((rater, index) => top.append(h("th", { scope: "col" }, h("abbr", { title: name(rater.id) }, short[index]))));
  table.append(h("thead", {}, top));
  const rows = h("tbody", {});
  raters.forEach((rater, i) => {
    const row = h("tr", {}, h("th", { scope: "row" }, isolated(h, name(rater.id))));
    raters.forEach((other, j) => {
      const value = payload.matrix?.[i]?.[j];
      const cell = h("td", {});
      if (i === j) cell.append(h("span", { class: "sirr-self", "aria-hidden": "true" }, "·"), h("span", { class: "sirr-hidden" }, "the same annotator"));
      else if (value === null || value === undefined) cell.append(h("span", { "aria-hidden": "true" }, "–"), h("span", { class: "sirr-hidden" }, "not compared"));
      else {
        cell.className = `sirr-shade-${shade(value)}`;
        cell.dataset.value = value;
        cell.append(number(value));
      }
      row.append(cell);
    });
    rows.append(row);
  });
  table.append(rows);
  return h(
    "section",
    { class: "sirr-block", "aria-label": "Annotators" },
    h("h2", {}, "Annotator by annotator"),
    h("div", { class: "sirr-scroll", tabindex: "0", role: "region", "aria-label": "Annotator by annotator, scrolls sideways" }, table),
  );
}

function excluded({ h, payload, name }) {
  const list = h("ul", {}, ...payload.excluded.map((one) => h("li", {}, isolated(h, name(one.rater)), `: ${one.reason}`)));
  return h("section", { class: "sirr-block", "aria-label": "Left out" }, h("h2", {}, "Left out"), list);
}

function decisions(context) {
  const { h, payload, actions } = context;
  const list = h("ul", { class: "sirr-decisions" });
  for (const one of payload.decisions) {
    const item = h(
      "li",
      {},
      written(h, one.texts[0]),
      h("span", {}, one.verdict === "same" ? " = " : " ≠ "),
      written(h, one.texts[1]),
      h("span", { class: "sirr-quiet" }, ` ${one.verdict === "same" ? "same" : "not the same"}, `, isolated(h, one.who || "someone"), one.when ? `, ${day(one.when)}` : ""),
    );
    if (actions.undo) {
      const button = h("button", { type: "button", "data-keep": `undo-list-${one.id}`, "aria-label": `Undo the decision on ${one.texts[0]} and ${one.texts[1]}` }, "Undo");
      button.addEventListener("click", () => actions.undo(one.id));
      item.append(" ", button);
    }
    list.append(item);
  }
  return h("section", { class: "sirr-block", "aria-label": "Decisions" }, h("h2", {}, "Decided by reviewers"), list);
}

function foot({ h, payload }) {
  const from = payload.provenance ?? {};
  const parts = [];
  if (from.measure) parts.push(`Measure ${from.measure}`);
  if (from.model && from.model !== from.measure) parts.push(`model ${from.model}`);
  if (from.calibrated) parts.push(`calibrated by ${count(from.calibrated)} decisions`);
  if (from.computed_at) parts.push(`computed ${day(from.computed_at)}`);
  return h("footer", { class: "sirr-foot" }, parts.join(" · "), h("span", { class: "sirr-live", role: "status", "aria-live": "polite" }, payload.message || ""));
}

// --- Small pieces -----------------------------------------------------------------------------------------------------

function builder(document) {
  return function h(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (value === true) node.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, String(value));
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
}

function bar(h, value, label) {
  const inside = h("span", { class: "sirr-bar-inside" });
  inside.style.setProperty("inline-size", `${100 * Math.min(1, Math.max(0, value))}%`);
  const attributes = label
    ? { class: "sirr-bar", role: "meter", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": "1", "aria-valuenow": number(value) }
    : { class: "sirr-bar", "aria-hidden": "true" };
  return h("span", attributes, inside);
}

/** A text of an annotator: its own direction, kept apart from what stands around it. */
function written(h, text) {
  return text === "" ? h("span", { class: "sirr-quiet" }, "(empty)") : h("bdi", { class: "sirr-text", dir: "auto" }, text);
}

function isolated(h, text) {
  return h("bdi", {}, text);
}

function joined(h, words) {
  return words.flatMap((word, index) => (index ? ["; ", isolated(h, word)] : [isolated(h, word)]));
}

/** Initials, made longer until they differ. */
function labels(names) {
  const make = (name, length) => {
    const words = name.trim().split(/[\s@._-]+/u).filter(Boolean);
    const first = Array.from(words[0] ?? "?").slice(0, length).join("");
    const last = words.length > 1 && !name.includes("@") ? Array.from(words[words.length - 1])[0] : "";
    return `${first}${last}`;
  };
  return names.map((name) => {
    for (let length = 1; length < 8; length += 1) {
      const label = make(name, length);
      if (names.filter((other) => make(other, length) === label).length === 1) return label;
    }
    return name.slice(0, 10);
  });
}

function combinations(list) {
  return list.flatMap((a, i) => list.slice(i + 1).map((b) => [a, b]));
}

function shade(value) {
  return Math.min(STEPS, Math.max(0, Math.round(value * STEPS)));
}

function number(value) {
  return Number(value).toFixed(2);
}

function count(value) {
  return Number(value).toLocaleString("en");
}

function ordinal(value) {
  const last = value % 100;
  const suffix = last >= 11 && last <= 13 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[value % 10] ?? "th";
  return `${count(value)}${suffix}`;
}

function day(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? String(iso) : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

function safe(address) {
  try {
    const url = new URL(address, globalThis.location?.href ?? "http://localhost/");
    return ["http:", "https:"].includes(url.protocol) ? url.href : "about:blank";
  } catch {
    return "about:blank";
  }
}

/** Focus, picks and scroll positions, so that an update does not take the reader's place away. */
function remember(node) {
  const active = node.ownerDocument.activeElement;
  return {
    focus: node.contains(active) ? active.dataset.keep : undefined,
    typed: node.querySelector(".sirr-who input")?.value,
    picks: [...node.querySelectorAll('.sirr-pick[aria-pressed="true"]')].map((one) => [one.dataset.keep, one.textContent]),
    scrolls: [...node.querySelectorAll(".sirr-scroll")].map((one) => one.scrollLeft),
  };
}

function restore(node, kept) {
  for (const [key, text] of kept.picks) {
    const one = node.querySelector(`[data-keep="${CSS.escape(key)}"]`);
    if (one?.textContent === text) pick(one);
  }
  const input = node.querySelector(".sirr-who input");
  if (input && kept.typed) input.value = kept.typed;
  node.querySelectorAll(".sirr-scroll").forEach((one, index) => {
    one.scrollLeft = kept.scrolls[index] ?? 0;
  });
  if (kept.focus) node.querySelector(`[data-keep="${CSS.escape(kept.focus)}"]`)?.focus({ preventScroll: true });
}
