/* The audit page: one pair at a time, each judgement saved at once. */
import { base, call, forgetKey, kept } from "./pages.js";

const { project, control, who } = document.body.dataset;
const at = (id) => document.getElementById(id);
const KEYS = { 1: "same", s: "same", 2: "different", d: "different", 3: "first", f: "first", 4: "second", g: "second", 5: "unsure", u: "unsure", "?": "unsure" };
const WAIT = 1000;

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
const order = []; // lists of places in the order in which they were judged

function show(name) {
  for (const id of ["start", "drawing", "judging", "done"]) at(id).hidden = id !== name;
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
    const several = audit.n_pairs > audit.n_units ? ` with ${plural(audit.n_pairs, "pair")} of texts` : "";
    before.append(line(`${plural(audit.n_units, "pair")} of answers${several} were drawn${audit.created_by ? ` for ${audit.created_by}` : ""}.`));
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

/** What the button does depends on who presses it. */
function name() {
  const running = audit && audit.status !== "failed" && !drawNew;
  const own = running && audit.judges.find((one) => one.name === at("begin").who.value.trim());
  const words = own ? (own.n >= audit.n_pairs ? "Show the result" : "Go on") : "Judge";
  at("begin-button").textContent = running ? words : "Draw the pairs";
}

at("begin").who.addEventListener("input", name);
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
  pairs.forEach((pair) => { if (pair.verdict) order.push([pair.place]); });
  const open = pairs.findIndex((pair) => !pair.verdict);
  if (open < 0) await end();
  else {
    place = open;
    draw();
    show("judging");
    at("first").focus();
  }
}

// --- judging --------------------------------------------------------------------------------------------------------

function draw() {
  const pair = pairs[place];
  const unit = pairs.filter((one) => one.unit === pair.unit);
  const judged = pairs.filter((one) => one.verdict).length;
  const units = pairs[pairs.length - 1].unit + 1;
  at("first").textContent = pair.texts[0];
  at("second").textContent = pair.texts[1];
  at("progress").max = pairs.length;
  at("progress").value = judged;
  const within = unit.length > 1 ? ` · texts ${unit.indexOf(pair) + 1} of ${unit.length}` : "";
  at("count").textContent = `answers ${pair.unit + 1} of ${units}${within} · ${judged} judged`;
  for (const button of at("verdicts").querySelectorAll("[data-verdict]")) button.setAttribute("aria-pressed", String(button.dataset.verdict === pair.verdict));
  at("answers").hidden = at("none").hidden = unit.length < 2;
  [0, 1].forEach((side) => {
    const texts = [...new Set(unit.map((one) => one.texts[side]))];
    at(side ? "answer-second" : "answer-first").replaceChildren(...texts.map((text) => {
      const item = document.createElement("li");
      const own = document.createElement("bdi");
      own.dir = "auto";
      own.textContent = text;
      item.append(own);
      if (text === pair.texts[side]) item.className = "now";
      return item;
    }));
  });
  at("undo").disabled = !order.length;
  at("back").disabled = place === 0;
  at("forward").disabled = place === pairs.length - 1 || !pair.verdict;
  at("finish").hidden = judged < audit.finish_from || judged === pairs.length;
}

function save(request, failed) {
  saving = saving.then(request).then((found) => { audit = { ...audit, ...found }; say(""); }, (error) => {
    failed();
    draw();
    say(`Not saved: ${error.message} Please judge this pair again.`);
  });
  return saving;
}

function decide(verdict, places = [place]) {
  const before = places.map((one) => pairs[one].verdict);
  const again = before[0] !== null && places.length === 1;
  for (const one of places) pairs[one].verdict = verdict;
  order.push(places);
  const body = JSON.stringify({ project: Number(project), judge, places, verdict });
  const sent = save(() => call(`api/audit/${audit.id}/judgements`, { method: "POST", body }), () => {
    places.forEach((one, i) => { pairs[one].verdict = before[i]; });
    order.splice(order.indexOf(places), 1);
    [place] = places;
    show("judging");
  });
  const last = places[places.length - 1];
  const next = pairs.findIndex((pair, i) => i > last && !pair.verdict);
  const open = next >= 0 ? next : pairs.findIndex((pair) => !pair.verdict);
  if (open < 0) sent.then(() => { if (pairs.every((pair) => pair.verdict)) end(); });
  else place = again ? Math.min(last + 1, pairs.length - 1) : open;
  draw();
  at("first").focus();
}

/** Nothing more in these two answers means the same. */
function none() {
  const { unit } = pairs[place];
  const rest = pairs.filter((pair) => pair.unit === unit && (!pair.verdict || pair.place === place)).map((pair) => pair.place);
  if (!at("none").hidden) decide("different", rest);
}

function undo() {
  if (!order.length) return;
  const last = order.pop();
  const before = last.map((one) => pairs[one].verdict);
  for (const one of last) pairs[one].verdict = null;
  [place] = last;
  draw();
  const where = new URLSearchParams({ project, judge, places: last.join(",") });
  save(() => call(`api/audit/${audit.id}/judgements?${where}`, { method: "DELETE" }), () => { last.forEach((one, i) => { pairs[one].verdict = before[i]; }); });
}

function step(by) {
  if (by > 0 && !pairs[place].verdict) return;
  place = Math.min(pairs.length - 1, Math.max(0, place + by));
  draw();
}

for (const button of at("verdicts").querySelectorAll("[data-verdict]")) button.addEventListener("click", () => decide(button.dataset.verdict));
at("none").addEventListener("click", none);
at("undo").addEventListener("click", undo);
at("back").addEventListener("click", () => step(-1));
at("forward").addEventListener("click", () => step(1));
at("finish").addEventListener("click", async () => {
  await saving;
  try {
    await call(`api/audit/${audit.id}/finish`, { method: "POST", body: JSON.stringify({ project: Number(project) }) });
    await end();
  } catch (error) {
    say(error.message);
  }
});

document.addEventListener("keydown", (event) => {
  if (at("judging").hidden || event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.closest("input, textarea")) return;
  const verdict = KEYS[event.key.toLowerCase()];
  if (verdict) decide(verdict);
  else if (event.key === "0") none();
  else if (event.key === "Backspace") undo();
  else if (event.key === "ArrowLeft") step(-1);
  else if (event.key === "ArrowRight") step(1);
  else return;
  event.preventDefault();
});

// --- the end --------------------------------------------------------------------------------------------------------

async function end() {
  await saving;
  at("drawing-title").textContent = "The coefficient is being worked out";
  show("drawing");
  let found;
  for (;;) {
    found = await call(`api/audit/${audit.id}?project=${project}&judge=${encodeURIComponent(judge)}&result=1`);
    if (found.status === "done" && found.result) break;
    if (found.problem && found.status === "judging") {
      show("judging");
      say(`This could not be worked out: ${found.problem}`);
      return;
    }
    await new Promise((go) => { setTimeout(go, WAIT); });
  }
  audit = found;
  at("sheet").href = `${base}audit/${project}/${audit.id}.csv?judge=${encodeURIComponent(judge)}`;
  at("result").replaceChildren(...(found.result ? outcome(found.result) : []));
  at("done-words").textContent = found.result
    ? `${plural(found.result.audit.judgements, "judgement")} stand behind these numbers. They stand at the top of the report from now on.`
    : "";
  show("done");
}

function outcome({ headline, coefficients }) {
  const best = coefficients.find((one) => one.key === headline) ?? coefficients[0];
  if (!best) return [line("No coefficient is defined on these answers.")];
  const value = line(number(best.value));
  value.className = "result-value";
  value.dataset.coefficient = best.key;
  value.dataset.value = best.value;
  const words = line(`${best.name}, audited${best.ci95 ? `; 95% interval ${number(best.ci95[0])} to ${number(best.ci95[1])}` : ""}. The measure alone gives ${best.plain === null ? "none" : number(best.plain)}.`);
  return [value, words];
}

at("look-back").addEventListener("click", () => {
  place = 0;
  draw();
  show("judging");
  at("first").focus();
});
at("again").addEventListener("click", () => { drawNew = true; start(); });

refresh();
