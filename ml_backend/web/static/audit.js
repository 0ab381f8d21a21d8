/* The audit page: one pair at a time, each judgement saved at once. */
import { base, call, forgetKey, kept } from "./pages.js";

const { project, control, who } = document.body.dataset;
const at = (id) => document.getElementById(id);
const KEYS = { 1: "same", s: "same", 2: "different", d: "different", 3: "first", f: "first", 4: "second", g: "second", 5: "unsure", u: "unsure", "?": "unsure" };
const WORDS = { same: "the same", different: "not the same", first: "first is more general", second: "second is more general", unsure: "can’t tell" };
const WAIT = 1000;
const FIRST_FORECAST = 15; // judgements; fewer tell too little about how many it takes
const MOST_FORECAST = 1000;
const SECONDS = [5, 12]; // that one judgement takes

forgetKey();

const number = (value) => Number(value).toFixed(2).replace("-", "−");
const plural = (n, one) => `${Number(n).toLocaleString("en")} ${n === 1 ? one : `${one}s`}`;

let judge = who || kept.get();
let audit = null; // as the service tells it
let pairs = [];
let place = 0;
let saving = Promise.resolve();
let timer = null;
let drawNew = false;
const times = []; // of this judge's judgements on this page, in milliseconds
const order = []; // places in the order in which they were judged

function show(name) {
  for (const id of ["start", "drawing", "judging", "stopped", "done"]) at(id).hidden = id !== name;
}

function say(text) {
  at("said").textContent = text;
  at("said").hidden = !text;
}

// --- where things stand ---------------------------------------------------------------------------------------------

async function refresh() {
  clearTimeout(timer);
  try {
    const found = await call(`api/audit?project=${project}&control=${encodeURIComponent(control)}`);
    audit = found.audit;
    const { done, total } = found.job ?? {};
    const bar = at("drawing").querySelector("progress");
    if (total) Object.assign(bar, { max: total, value: done });
    else bar.removeAttribute("value");
    say("");
  } catch (error) {
    say(error.message);
    timer = setTimeout(refresh, 5 * WAIT);
    return;
  }
  if (audit?.status === "drawing") {
    at("drawing-title").textContent = "The pairs are being drawn";
    show("drawing");
    timer = setTimeout(refresh, WAIT);
  } else start();
}

function start() {
  const running = audit && audit.status !== "failed" && !drawNew;
  const form = at("begin");
  form.who.value = who || judge;
  at("how-many").hidden = Boolean(running);
  form.judgements.required = !running;
  name();
  at("new").hidden = !running || audit.status !== "done";
  const before = at("before");
  before.replaceChildren();
  before.hidden = !audit;
  if (audit?.status === "failed") before.append(line(`The last audit could not be done: ${audit.problem}`));
  else if (running) {
    const fewer = audit.n_pairs < audit.wanted ? `; there are no more than these to judge` : "";
    before.append(line(`${plural(audit.n_pairs, "pair")} of texts were drawn${audit.created_by ? ` for ${audit.created_by}` : ""}${fewer}.`));
    if (audit.problem) before.append(line(`No result yet: ${audit.problem}`));
    for (const one of audit.judges) before.append(line(`${one.name} has judged ${one.n >= audit.n_pairs ? "all" : one.n} of them.`));
    if (audit.status === "done") {
      before.append(line("The audit is done; its coefficient stands at the top of the report. Somebody else can judge the same pairs too."));
    }
  }
  show("start");
}

function line(text) {
  const p = document.createElement("p");
  p.textContent = text;
  return p;
}

/** What the button does depends on who presses it, and the cost on how many judgements are wanted. */
function name() {
  const running = audit && audit.status !== "failed" && !drawNew;
  const wanted = running ? audit.n_pairs : Number(at("begin").judgements.value);
  const minutes = SECONDS.map((one) => Math.max(1, Math.round(one * wanted / 60)));
  at("cost").textContent = wanted > 0 ? `${plural(wanted, "judgement")}: about ${minutes[0] === minutes[1] ? plural(minutes[0], "minute") : `${minutes[0]} to ${plural(minutes[1], "minute")}`}.` : "";
  const own = running && audit.judges.find((one) => one.name === at("begin").who.value.trim());
  const words = own ? (own.n >= audit.n_pairs ? "Show the result" : "Go on") : "Judge";
  at("begin-button").textContent = running ? words : "Draw the pairs";
}

at("begin").who.addEventListener("input", name);
at("begin").judgements.addEventListener("input", name);
at("new").addEventListener("click", () => { drawNew = true; start(); });

at("begin").addEventListener("submit", async (event) => {
  event.preventDefault();
  judge = at("begin").who.value.trim();
  if (!judge) return;
  kept.set(judge);
  try {
    if (!audit || audit.status === "failed" || drawNew) {
      const wanted = Number(at("begin").judgements.value);
      await call("api/audit", { method: "POST", body: JSON.stringify({ project: Number(project), control, judgements: wanted, who: judge }) });
      drawNew = false;
      await waitForPairs();
    }
    await load();
  } catch (error) {
    say(error.message);
  }
});

async function waitForPairs() {
  at("drawing-title").textContent = "The pairs are being drawn";
  show("drawing");
  for (;;) {
    const found = await call(`api/audit?project=${project}&control=${encodeURIComponent(control)}`);
    audit = found.audit;
    if (audit.status === "failed") {
      start();
      throw new Error(audit.problem);
    }
    if (audit.status !== "drawing") return;
    await new Promise((go) => { setTimeout(go, WAIT); });
  }
}

async function load() {
  const found = await call(`api/audit/${audit.id}?project=${project}&judge=${encodeURIComponent(judge)}`);
  audit = found;
  judge = found.judge;
  pairs = found.pairs;
  order.length = 0;
  pairs.forEach((pair) => { if (pair.verdict) order.push(pair.place); });
  const open = pairs.findIndex((pair) => !pair.verdict);
  if (open < 0 && audit.result) await end();
  else if (open < 0) await stop();
  else {
    place = open;
    draw();
    show("judging");
    at("first").focus();
  }
}

// --- judging --------------------------------------------------------------------------------------------------------

/** Minutes that so many judgements take at this judge's own pace; breaks do not count. */
function minutes(n) {
  const gaps = times.slice(1).map((one, i) => one - times[i]).filter((gap) => gap < 60 * WAIT).sort((a, b) => a - b);
  const pace = gaps.length < 3 ? 8 * WAIT : gaps[Math.floor(gaps.length / 2)];
  return Math.max(1, Math.round(n * pace / (60 * WAIT)));
}

/** How wide the interval is, without where it lies: that could influence a judge. */
function narrowing() {
  const looks = audit.looks ?? [];
  const box = at("narrowing");
  const last = looks[looks.length - 1];
  if (!last) {
    box.replaceChildren();
    return;
  }
  const wanted = at("begin").width.value;
  const needed = last.needed[wanted];
  const words = [`After ${plural(last.judged, "judgement")} the 95% interval is ${number(last.width)} wide.`];
  if (last.width <= Number(wanted)) words.push("You can stop: it is as narrow as you want it.");
  else if (last.judged < FIRST_FORECAST) words.push("A few more judgements, and this line says how many it takes.");
  else if (!needed || needed > MOST_FORECAST) words.push(`Judgements hardly make it ${wanted} wide: the tasks are too few. You can stop when it does not narrow any more.`);
  else {
    const more = Math.max(1, needed - last.judged);
    words.push(`About ${plural(more, "more judgement")} (${plural(minutes(more), "minute")} at your pace) make it ${wanted} wide${needed > pairs.length ? `, more than were drawn` : ""}.`);
  }
  box.replaceChildren(chart(looks, Number(wanted)), line(words.join(" ")));
}

/** The widths after each look as a line, with the wanted width across. */
function chart(looks, wanted) {
  const [w, h] = [160, 40];
  const most = Math.max(wanted, ...looks.map((one) => one.width)) * 1.1;
  const end = Math.max(...looks.map((one) => one.judged));
  const points = looks.map((one) => `${(w * one.judged / end).toFixed(1)},${(h * (1 - one.width / most)).toFixed(1)}`);
  const y = (h * (1 - wanted / most)).toFixed(1);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${w} ${h}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Width of the interval: ${looks.map((one) => `${number(one.width)} after ${one.judged}`).join(", ")}`);
  for (const [name, attributes] of [
    ["line", { x1: 0, x2: w, y1: y, y2: y, class: "wanted" }],
    ["polyline", { points: points.join(" "), class: "width" }],
    ...points.map((one) => ["circle", { cx: one.split(",")[0], cy: one.split(",")[1], r: 2, class: "look" }]),
  ]) {
    const part = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    svg.append(part);
  }
  return svg;
}

function draw() {
  narrowing();
  const pair = pairs[place];
  const judged = pairs.filter((one) => one.verdict).length;
  at("first").textContent = pair.texts[0];
  at("second").textContent = pair.texts[1];
  at("progress").max = pairs.length;
  at("progress").value = judged;
  at("count").textContent = `pair ${place + 1} of ${pairs.length} · ${judged} judged`;
  for (const button of at("verdicts").querySelectorAll("[data-verdict]")) button.setAttribute("aria-pressed", String(button.dataset.verdict === pair.verdict));
  at("undo").disabled = !order.length;
  at("back").disabled = place === 0;
  at("forward").disabled = place === pairs.length - 1 || !pair.verdict;
  at("stop").textContent = judged === pairs.length ? "Done" : "Stop here";
  const last = pairs[order[order.length - 1]];
  at("previous").hidden = !last || last === pair;
  if (last) {
    at("previous-texts").textContent = `“${last.texts[0]}” – “${last.texts[1]}”`;
    at("previous-verdict").textContent = WORDS[last.verdict];
  }
}

function save(request, failed) {
  saving = saving.then(request).then((found) => { audit = { ...audit, ...found }; narrowing(); say(""); }, (error) => {
    failed();
    draw();
    say(`Not saved: ${error.message} Please judge this pair again.`);
  });
  return saving;
}

/** Judge the pair that is shown, also one that was judged before: the new word replaces the old one, and judging goes on where it was. */
function decide(verdict) {
  const pair = pairs[place];
  const before = pair.verdict;
  const was = order.indexOf(pair.place);
  pair.verdict = verdict;
  if (was < 0) times.push(Date.now());
  if (was >= 0) order.splice(was, 1);
  order.push(pair.place);
  const body = JSON.stringify({ project: Number(project), judge, places: [pair.place], verdict });
  const sent = save(() => call(`api/audit/${audit.id}/judgements`, { method: "POST", body }), () => {
    pair.verdict = before;
    order.splice(order.indexOf(pair.place), 1);
    if (was >= 0) order.splice(was, 0, pair.place);
    ({ place } = pair);
    show("judging");
  });
  const next = pairs.findIndex((one, i) => i > place && !one.verdict);
  const open = next >= 0 ? next : pairs.findIndex((one) => !one.verdict);
  if (open >= 0) place = open;
  draw();
  if (open >= 0) at("first").focus();
  else {
    at("judging").hidden = true; // no key may judge the last pair again meanwhile
    sent.then(() => { if (pairs.every((one) => one.verdict)) stop(); });
  }
}

function undo() {
  if (!order.length) return;
  const last = pairs[order.pop()];
  const before = last.verdict;
  last.verdict = null;
  ({ place } = last);
  draw();
  const where = new URLSearchParams({ project, judge, places: last.place });
  save(() => call(`api/audit/${audit.id}/judgements?${where}`, { method: "DELETE" }), () => { last.verdict = before; order.push(last.place); });
}

function step(by) {
  if (by > 0 && !pairs[place].verdict) return;
  place = Math.min(pairs.length - 1, Math.max(0, place + by));
  draw();
}

/** Back to the judgement before, to change it. */
function change() {
  if (!order.length) return;
  place = order[order.length - 1];
  draw();
  at("first").focus();
}

for (const button of at("verdicts").querySelectorAll("[data-verdict]")) button.addEventListener("click", () => decide(button.dataset.verdict));
at("undo").addEventListener("click", undo);
at("back").addEventListener("click", () => step(-1));
at("forward").addEventListener("click", () => step(1));
at("change").addEventListener("click", change);
at("stop").addEventListener("click", () => { stop(); });

document.addEventListener("keydown", (event) => {
  if (at("judging").hidden || event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.closest("input, textarea")) return;
  const verdict = KEYS[event.key.toLowerCase()];
  if (verdict) decide(verdict);
  else if (event.key === "Backspace") undo();
  else if (event.key === "ArrowLeft") step(-1);
  else if (event.key === "ArrowRight") step(1);
  else return;
  event.preventDefault();
});

// --- the end --------------------------------------------------------------------------------------------------------

/** What this judge did, and how far the judges agree. */
function account(own) {
  const parts = [[own.same, "the same"], [own.different, "not the same"], [own.unsure, "can’t tell"]];
  const lines = [line(`You judged ${own.n} of ${plural(pairs.length, "pair")}: ${parts.map(([n, what]) => `${n} ${what}`).join(", ")}.`)];
  if (own.n && own.unsure === own.n) {
    lines.push(line("“Can’t tell” counts as not judged, so nothing follows from these judgements. Say “not the same” where nothing in the guideline makes two texts the same, or ask somebody who knows the subject to judge them."));
  }
  if (own.agreement) {
    const alpha = own.agreement.krippendorff_alpha;
    lines.push(line(`The judges say the same about ${Math.round(100 * own.agreement.observed_agreement)}% of the ${plural(own.agreement.pairs, "pair")} that two or more judged${alpha === null ? "" : ` (Krippendorff’s alpha ${number(alpha)})`}.`));
  }
  if (!own.counts) lines.push(line("Somebody else judged every pair, so the result rests on those judgements. Yours count as soon as you have judged every pair."));
  return lines;
}

/** The page of a judge who stops, with pairs left or not. */
async function stop() {
  await saving;
  let found;
  try {
    found = await call(`api/audit/${audit.id}?project=${project}&judge=${encodeURIComponent(judge)}&own=1`);
  } catch (error) {
    say(error.message);
    return;
  }
  const { own } = found;
  const left = pairs.length - own.n;
  audit = { ...audit, ...found };
  at("stopped-title").textContent = left ? "Stopped for now" : "That was the last pair";
  const words = account(own);
  const enough = Math.max(0, ...audit.judges.map((one) => one.n)) >= audit.finish_from;
  if (left) words.push(line(`Your judgements are kept; you can go on any time with the same name. ${enough ? "A result can be worked out from what is judged; more judgements make it more certain." : `A result needs ${audit.finish_from} judgements of one judge.`}`));
  else words.push(line("Not sure about one of them? Look at the judgements again and change it before you see the result."));
  at("stopped-words").replaceChildren(...words);
  at("work-out").hidden = !enough;
  at("work-out").textContent = left ? "Work out the result with what is judged" : "Show the result";
  at("go-on").hidden = !left;
  at("look-again").hidden = !own.n;
  show("stopped");
  at("stopped-title").focus();
}

at("go-on").addEventListener("click", () => {
  place = Math.max(0, pairs.findIndex((pair) => !pair.verdict));
  draw();
  show("judging");
  at("first").focus();
});

at("work-out").addEventListener("click", async () => {
  try {
    if (pairs.some((pair) => !pair.verdict)) {
      await call(`api/audit/${audit.id}/finish`, { method: "POST", body: JSON.stringify({ project: Number(project) }) });
    }
    await end();
  } catch (error) {
    say(error.message);
  }
});

async function end() {
  await saving;
  at("drawing-title").textContent = "The coefficient is being worked out";
  show("drawing");
  let found;
  for (;;) {
    found = await call(`api/audit/${audit.id}?project=${project}&judge=${encodeURIComponent(judge)}&result=1&own=1`);
    if (found.status === "done" && found.result) break;
    if (found.problem && found.status === "judging") {
      audit = { ...audit, ...found };
      await stop();
      say(`There is no result yet. ${found.problem}`);
      return;
    }
    await new Promise((go) => { setTimeout(go, WAIT); });
  }
  audit = found;
  say("");
  at("sheet").href = `${base}audit/${project}/${audit.id}.csv?judge=${encodeURIComponent(judge)}`;
  at("result").replaceChildren(...outcome(found.result));
  at("done-words").replaceChildren(
    line(`${plural(found.result.audit.judgements, "judgement")} of ${plural(found.result.audit.judges, "judge")} support these numbers. They stand at the top of the report from now on.`),
    ...account(found.own),
  );
  show("done");
}

function outcome({ headline, coefficients }) {
  const best = coefficients.find((one) => one.key === headline) ?? coefficients[0];
  if (!best) return [line("No coefficient is defined on these answers.")];
  const value = line(number(best.value));
  value.className = "result-value";
  value.dataset.coefficient = best.key;
  value.dataset.value = best.value;
  const words = line(`${best.name}, audited${best.ci95 ? `; 95% interval ${number(best.ci95[0])} to ${number(best.ci95[1])}` : ""}. Without the audit the report gives ${best.plain === null ? "none" : number(best.plain)}.`);
  if (!best.informed) return [value, words];
  const { value: told, ci95 } = best.informed;
  return [value, words, line(`With what is known about the measure’s errors: ${number(told)}, 95% interval ${number(ci95[0])} to ${number(ci95[1])}. This interval also holds if you stopped because of what you saw.`)];
}

for (const id of ["look-back", "look-again"]) at(id).addEventListener("click", () => {
  place = 0;
  draw();
  show("judging");
  at("first").focus();
});
at("again").addEventListener("click", () => { drawNew = true; start(); });

refresh();
