/* The audit page: one pair at a time, each judgment saved at once. */
import { KEYS, WORDS, account, chart, cost, drawnLines, line, outcome, widthSentence } from "./audit_words.js";
import { base, byId as at, forgetKey, get, kept, post, remove, select, targetOf } from "./pages.js";
import { plural } from "./plural.js";

const { project, control, who } = document.body.dataset;
const fields = at("begin").elements;
const WAIT = 1000;
forgetKey();

const pause = (milliseconds) => new Promise((go) => setTimeout(go, milliseconds));

let judge = who || kept.get();
let audit = null; // as the service tells it
let pairs = [];
let place = 0;
let saving = Promise.resolve();
let drawNew = false;
const times = []; // of this judge's judgments on this page, in milliseconds
const order = []; // places in the order in which they were judged

function show(part) {
  for (const id of ["start", "drawing", "judging", "stopped", "done"]) at(id).hidden = id !== part;
}

function wait(title) {
  at("drawing-title").textContent = title;
  show("drawing");
}

function say(text) {
  at("said").textContent = text;
  at("said").hidden = !text;
}

// --- where things stand ---------------------------------------------------------------------------------------------

/** What the service answers, once it can be reached; until then the page shows why not. */
async function patient(path, query) {
  for (;;) {
    try {
      const answer = await get(path, query);
      say("");
      return answer;
    } catch (error) {
      say(error.message);
      await pause(5 * WAIT);
    }
  }
}

/** The audit once its pairs are drawn, with the progress on the page. */
async function drawn() {
  for (;;) {
    const answer = await patient("api/audit", { control });
    audit = answer.audit;
    if (audit?.status !== "drawing") return;
    const { done, total } = answer.job ?? {};
    const bar = at("drawing").querySelector("progress");
    if (total) Object.assign(bar, { max: total, value: done });
    else bar.removeAttribute("value");
    wait("The pairs are being drawn");
    await pause(WAIT);
  }
}

/** Whether there is an audit to judge, and no other one is to be drawn. */
const isRunning = () => Boolean(audit) && audit.status !== "failed" && !drawNew;

function start() {
  const running = isRunning();
  fields.who.value = who || judge;
  at("how-many").hidden = running;
  fields.judgements.required = !running;
  name();
  at("new").hidden = !running || audit.status !== "done";
  const before = at("before");
  before.replaceChildren();
  before.hidden = !audit;
  before.append(...drawnLines(audit, running));
  show("start");
}

/** What the button does depends on who presses it, and the cost on how many judgments are wanted. */
function name() {
  const running = isRunning();
  const wanted = running ? audit.n_pairs : Number(fields.judgements.value);
  at("cost").textContent = cost(wanted);
  const own = running && audit.judges.find((one) => one.name === fields.who.value.trim());
  const words = own ? (own.n >= audit.n_pairs ? "Show the result" : "Go on") : "Judge";
  at("begin-button").textContent = running ? words : "Draw the pairs";
}

fields.who.addEventListener("input", name);
fields.judgements.addEventListener("input", name);
for (const id of ["new", "again"]) {
  at(id).addEventListener("click", () => {
    drawNew = true;
    start();
  });
}

at("begin").addEventListener("submit", async (event) => {
  event.preventDefault();
  judge = fields.who.value.trim();
  if (!judge) return;
  kept.set(judge);
  try {
    if (!isRunning()) {
      await post("api/audit", { control, judgements: Number(fields.judgements.value), who: judge });
      drawNew = false;
      wait("The pairs are being drawn");
      await drawn();
      if (audit.status === "failed") {
        start();
        throw new Error(audit.problem);
      }
    }
    await load();
  } catch (error) {
    say(error.message);
  }
});

async function load() {
  audit = await get(`api/audit/${audit.id}`, { judge });
  ({ judge, pairs } = audit);
  order.splice(0, order.length, ...pairs.filter((pair) => pair.verdict).map((pair) => pair.place));
  const open = pairs.findIndex((pair) => !pair.verdict);
  if (open < 0 && audit.result) await end();
  else if (open < 0) await stop();
  else turnTo(open);
}

// --- judging --------------------------------------------------------------------------------------------------------

/** The widths so far, and what narrows the interval further. */
function narrowing() {
  const looks = (audit.looks ?? [])
    .filter((one) => one.ci95)
    .map((one) => ({ ...one, width: one.ci95[1] - one.ci95[0] }));
  const last = looks.at(-1);
  const wanted = fields.width.value;
  const parts = last ? [chart(looks, Number(wanted)), line(widthSentence(last, wanted, pairs.length, times))] : [];
  at("narrowing").replaceChildren(...parts);
}

/** Show a pair to be judged. */
function turnTo(number) {
  place = number;
  draw();
  show("judging");
  at("first").focus();
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
  for (const button of select("[data-verdict]", at("verdicts"))) {
    button.setAttribute("aria-pressed", String(button.dataset.verdict === pair.verdict));
  }
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

/**
 * Save one judgment after the other.
 *
 * @param {() => Promise<any>} request
 * @param {() => void} failed takes the judgment back on the page
 */
function save(request, failed) {
  saving = saving.then(request).then(
    (answer) => {
      audit = { ...audit, ...answer };
      narrowing();
      say("");
    },
    (error) => {
      failed();
      draw();
      say(`Not saved: ${error.message} Please judge this pair again.`);
    },
  );
  return saving;
}

/**
 * Judge the pair that is shown, also one that was judged before: the new word replaces the old one, and judging
 * goes on where it was.
 */
function decide(verdict) {
  const pair = pairs[place];
  const before = pair.verdict;
  const was = order.indexOf(pair.place);
  pair.verdict = verdict;
  if (was < 0) times.push(Date.now());
  if (was >= 0) order.splice(was, 1);
  order.push(pair.place);
  const sent = save(
    () => post(`api/audit/${audit.id}/judgements`, { judge, places: [pair.place], verdict }),
    () => {
      pair.verdict = before;
      order.splice(order.indexOf(pair.place), 1);
      if (was >= 0) order.splice(was, 0, pair.place);
      ({ place } = pair);
      show("judging");
    },
  );
  const next = pairs.findIndex((one, i) => i > place && !one.verdict);
  const open = next >= 0 ? next : pairs.findIndex((one) => !one.verdict);
  if (open >= 0) place = open;
  draw();
  if (open >= 0) at("first").focus();
  else {
    at("judging").hidden = true; // no key may judge the last pair again meanwhile
    sent.then(() => {
      if (pairs.every((one) => one.verdict)) stop();
    });
  }
}

function undo() {
  if (!order.length) return;
  const last = pairs[order.pop()];
  const before = last.verdict;
  last.verdict = null;
  ({ place } = last);
  draw();
  save(
    () => remove(`api/audit/${audit.id}/judgements`, { judge, places: last.place }),
    () => {
      last.verdict = before;
      order.push(last.place);
    },
  );
}

function step(by) {
  if (by > 0 && !pairs[place].verdict) return;
  place = Math.min(pairs.length - 1, Math.max(0, place + by));
  draw();
}

/** Back to the judgment before, to change it. */
function change() {
  if (!order.length) return;
  place = order[order.length - 1];
  draw();
  at("first").focus();
}

for (const button of select("[data-verdict]", at("verdicts"))) {
  button.addEventListener("click", () => decide(button.dataset.verdict));
}
const BUTTONS = { undo, back: () => step(-1), forward: () => step(1), change, stop };
for (const [id, act] of Object.entries(BUTTONS)) at(id).addEventListener("click", act);

document.addEventListener("keydown", (event) => {
  const { ctrlKey, metaKey, altKey, repeat } = event;
  if (at("judging").hidden || ctrlKey || metaKey || altKey || repeat) return;
  if (targetOf(event).closest("input, textarea")) return;
  const verdict = KEYS[event.key.toLowerCase()];
  const act = { Backspace: undo, ArrowLeft: BUTTONS.back, ArrowRight: BUTTONS.forward }[event.key];
  if (!verdict && !act) return;
  event.preventDefault();
  if (verdict) decide(verdict);
  else act();
});

// --- the end --------------------------------------------------------------------------------------------------------

/** The page of a judge who stops, with pairs left or not. */
async function stop() {
  await saving;
  let answer;
  try {
    answer = await get(`api/audit/${audit.id}`, { judge, own: 1 });
  } catch (error) {
    say(error.message);
    return;
  }
  const { own } = answer;
  const left = pairs.length - own.n;
  audit = { ...audit, ...answer };
  at("stopped-title").textContent = left ? "Stopped for now" : "That was the last pair";
  const enough = Math.max(0, ...audit.judges.map((one) => one.n)) >= audit.finish_from;
  const more = enough
    ? "A result can be computed from these judgments; more judgments make it more certain."
    : `A result needs ${audit.finish_from} judgments of one judge.`;
  const words = left
    ? `Your judgments are kept; you can go on any time with the same name. ${more}`
    : "Not sure about one of them? Look at the judgments again and change it before you see the result.";
  at("stopped-words").replaceChildren(...account(own, pairs.length), line(words));
  at("work-out").hidden = !enough;
  at("work-out").textContent = left ? "Work out the result with what is judged" : "Show the result";
  at("go-on").hidden = !left;
  at("look-again").hidden = !own.n;
  show("stopped");
  at("stopped-title").focus();
}

at("go-on").addEventListener("click", () => {
  const open = pairs.findIndex((pair) => !pair.verdict);
  turnTo(Math.max(0, open));
});

at("work-out").addEventListener("click", async () => {
  try {
    if (pairs.some((pair) => !pair.verdict)) {
      await post(`api/audit/${audit.id}/finish`, {});
    }
    await end();
  } catch (error) {
    say(error.message);
  }
});

async function end() {
  await saving;
  wait("The coefficient is being computed");
  let answer;
  for (;;) {
    answer = await patient(`api/audit/${audit.id}`, { judge, result: 1, own: 1 });
    if (answer.status === "done" && answer.result) break;
    if (answer.problem && answer.status === "judging") {
      audit = { ...audit, ...answer };
      await stop();
      say(`There is no result yet. ${answer.problem}`);
      return;
    }
    await pause(WAIT);
  }
  audit = answer;
  at("sheet").href = `${base}audit/${project}/${audit.id}.csv?judge=${encodeURIComponent(judge)}`;
  at("result").replaceChildren(...outcome(answer.result));
  at("done-words").replaceChildren(
    line(
      `${plural(answer.result.audit.judgments, "judgment")} of ` +
        `${plural(answer.result.audit.judges, "judge")} support these numbers. They are at the top of the ` +
        "report from now on.",
    ),
    ...account(answer.own, pairs.length),
  );
  show("done");
}

for (const id of ["look-back", "look-again"]) {
  at(id).addEventListener("click", () => turnTo(0));
}

drawn().then(start);
