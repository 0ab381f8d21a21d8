/** Sentences of the audit page, and the line of widths. */

import { plural } from "./plural.js";

export const KEYS = {
  1: "same",
  s: "same",
  2: "different",
  d: "different",
  3: "first",
  f: "first",
  4: "second",
  g: "second",
  5: "unsure",
  u: "unsure",
  "?": "unsure",
};

export const WORDS = {
  same: "the same",
  different: "not the same",
  first: "first is more general",
  second: "second is more general",
  unsure: "can’t tell",
};

const FIRST_FORECAST = 15; // judgments; fewer tell too little about how many it takes
const MOST_FORECAST = 1000;
const SECONDS = [5, 12]; // that one judgment takes

/**
 * A number with two digits as the panel's ``number`` writes it: the panel is served without this page's files.
 *
 * @param {number} value
 */
export function number(value) {
  const size = Math.abs(value);
  const text = ((size * 8) % 4 === 1 ? Math.floor(size * 100) / 100 : size).toFixed(2);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

export function line(text) {
  const p = document.createElement("p");
  p.textContent = text;
  return p;
}

/** The widths after each look as a line, with the wanted width across. */
export function chart(looks, wanted) {
  const [w, h] = [160, 40];
  const widest = Math.max(wanted, ...looks.map(({ width }) => width)) * 1.1;
  const furthest = Math.max(...looks.map(({ judged }) => judged));
  const points = looks.map(
    ({ judged, width }) => `${((w * judged) / furthest).toFixed(1)},${(h * (1 - width / widest)).toFixed(1)}`,
  );
  const y = (h * (1 - wanted / widest)).toFixed(1);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${w} ${h}`);
  svg.setAttribute("role", "img");
  svg.setAttribute(
    "aria-label",
    `Width of the interval: ${looks.map(({ judged, width }) => `${number(width)} after ${judged}`).join(", ")}`,
  );
  for (const [tag, attributes] of [
    ["line", { x1: 0, x2: w, y1: y, y2: y, class: "wanted" }],
    ["polyline", { points: points.join(" "), class: "width" }],
    ...points.map((point) => ["circle", { cx: point.split(",")[0], cy: point.split(",")[1], r: 2, class: "look" }]),
  ]) {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value);
    svg.append(shape);
  }
  return svg;
}

/** Sentences about this judge's judgments and the agreement of the judges. */
export function account(own, total) {
  const counts = `${own.same} the same, ${own.different} not the same, ${own.unsure} can’t tell`;
  const sentences = [`You judged ${own.n} of ${plural(total, "pair")}: ${counts}.`];
  if (own.n && own.unsure === own.n) {
    sentences.push(
      "“Can’t tell” counts as not judged, so nothing follows from these judgments. Say “not the same” where nothing " +
        "in the guideline makes two texts the same, or ask somebody who knows the subject to judge them.",
    );
  }
  if (own.agreement) {
    const { krippendorff_alpha: alpha, observed_agreement: observed, pairs, name } = own.agreement;
    const coefficient = alpha === null ? "" : ` (${name} ${number(alpha)})`;
    sentences.push(
      `The judges say the same about ${Math.round(100 * observed)}% of the ${plural(pairs, "pair")} that two or more ` +
        `judged${coefficient}.`,
    );
  }
  if (!own.counts) {
    sentences.push(
      "Somebody else judged every pair, so the result rests on those judgments. Yours count as soon as you have " +
        "judged every pair.",
    );
  }
  return sentences.map(line);
}

export function outcome({ headline, coefficients }) {
  const best = coefficients.find(({ key }) => key === headline) ?? coefficients[0];
  if (!best) return [line("No coefficient is defined on these answers.")];
  const value = line(number(best.value));
  value.className = "result-value";
  value.dataset.coefficient = best.key;
  value.dataset.value = best.value;
  const interval = best.ci95 ? `, 95% interval ${number(best.ci95[0])} to ${number(best.ci95[1])}` : "";
  const byMeasure = best.plain === null ? "none" : number(best.plain);
  return [
    value,
    line(
      `${best.name}${interval}. By the measure alone: ${byMeasure}. ` +
        "The interval stays valid if you stopped because of what you saw.",
    ),
  ];
}

/** Time that a number of judgments takes. */
export function cost(wanted) {
  if (!(wanted > 0)) return "";
  const [fastest, slowest] = SECONDS.map((seconds) => Math.max(1, Math.round((seconds * wanted) / 60)));
  const time = fastest === slowest ? plural(fastest, "minute") : `${fastest} to ${plural(slowest, "minute")}`;
  return `${plural(wanted, "judgment")}: about ${time}.`;
}

/**
 * Sentences about the audit before this judge begins.
 *
 * @param {any} audit as the service answers it; null if there is none
 * @param {boolean} running
 */
export function drawnLines(audit, running) {
  if (audit?.status === "failed") return [line(`The last audit could not be done: ${audit.problem}`)];
  if (!running) return [];
  const fewer = audit.n_pairs < audit.wanted ? "; there are no more than these to judge" : "";
  const asker = audit.created_by ? ` for ${audit.created_by}` : "";
  const sentences = [
    `${plural(audit.n_pairs, "pair")} of texts ${audit.n_pairs === 1 ? "was" : "were"} drawn${asker}${fewer}.`,
  ];
  if (audit.problem) sentences.push(`No result: ${audit.problem}`);
  if (audit.unused) sentences.push(audit.unused);
  for (const { name, n } of audit.judges) {
    sentences.push(`${name} has judged ${n >= audit.n_pairs ? "all" : n} of them.`);
  }
  if (audit.status === "done") {
    sentences.push(
      "The audit is done; its coefficient is at the top of the report. Somebody else can judge the same pairs too.",
    );
  }
  return sentences.map(line);
}

/** Minutes that a number of judgments takes at this judge's pace; breaks do not count. */
export function minutes(n, times) {
  const gaps = times
    .slice(1)
    .map((time, i) => time - times[i])
    .filter((gap) => gap < 60_000)
    .sort((a, b) => a - b);
  const pace = gaps.length < 3 ? 8_000 : gaps[Math.floor(gaps.length / 2)];
  return Math.max(1, Math.round((n * pace) / 60_000));
}

/**
 * Sentence with the value, its interval, and the number of judgments that make it as narrow as wanted.
 *
 * @param {{judged: number, value: number, ci95: number[], width: number, needed: Record<string, number>}} last look
 * @param {string} wanted width
 * @param {number} total pairs that were drawn
 * @param {number[]} times of this judge's judgments, in milliseconds
 */
export function widthSentence(last, wanted, total, times) {
  const width =
    `After ${plural(last.judged, "judgment")}: ${number(last.value)}, ` +
    `95% interval ${number(last.ci95[0])} to ${number(last.ci95[1])}.`;
  const needed = last.needed[wanted];
  if (last.width <= Number(wanted)) return `${width} You can stop: it is as narrow as you want it.`;
  if (last.judged < FIRST_FORECAST) return `${width} After a few more judgments this line shows how many it takes.`;
  if (!needed || needed > MOST_FORECAST) {
    return (
      `${width} Judgments hardly make it ${wanted} wide: the tasks are too few. You can stop when it does not ` +
      "narrow any more."
    );
  }
  const more = Math.max(1, needed - last.judged);
  const time = plural(minutes(more, times), "minute");
  const beyond = needed > total ? ", more than were drawn" : "";
  return `${width} About ${plural(more, "more judgment")} (${time} at your pace) make it ${wanted} wide${beyond}.`;
}
