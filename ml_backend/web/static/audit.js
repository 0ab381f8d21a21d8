/** The audit page: drawing the pairs, judging them, and the coefficient that the judgments support. */
import { Judging } from "./audit_judging.js";
import { account, cost, drawnLines, line, outcome } from "./audit_words.js";
import { base, byId, forgetKey, get, post, viewerName } from "./pages.js";
import { plural } from "./plural.js";

const { project, control, who } = document.body.dataset;
const form = byId("begin").elements;
const POLL = 1000;
const RETRY = 5000;
forgetKey();

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

let audit = null; // the newest audit, as the service answers
let drawsNew = false; // whether the judge wants another sample

const judging = new Judging({ show: () => show("judging"), say, stop: () => attempt(stop) });

/** @param {string} section */
function show(section) {
  for (const id of ["start", "drawing", "judging", "stopped", "done"]) byId(id).hidden = id !== section;
}

/** @param {string} title */
function showWaiting(title) {
  byId("drawing-title").textContent = title;
  show("drawing");
}

/** @param {string} text message above the page; empty for none */
function say(text) {
  byId("said").textContent = text;
  byId("said").hidden = !text;
}

/** Do something that the service may refuse, and show the sentence with which it refuses. */
async function attempt(act) {
  try {
    await act();
  } catch (error) {
    say(error.message);
  }
}

/**
 * Ask the service; while it can't be reached, show why and ask again. A refusal is thrown.
 *
 * @param {string} path
 * @param {Record<string, any>} query
 */
async function getWhenReachable(path, query) {
  for (;;) {
    try {
      const answer = await get(path, query);
      say("");
      return answer;
    } catch (error) {
      if (!error.isTemporary) throw error;
      say(error.message);
      await pause(RETRY);
    }
  }
}

// --- the start ------------------------------------------------------------------------------------------------------

/** Wait until the pairs are drawn, with the progress on the page. */
async function waitForPairs() {
  const bar = byId("drawing").querySelector("progress");
  for (;;) {
    const answer = await getWhenReachable("api/audit", { control });
    audit = answer.audit;
    if (audit?.status !== "drawing") return;
    const { done, total } = answer.job ?? {};
    if (total) Object.assign(bar, { max: total, value: done });
    else bar.removeAttribute("value");
    showWaiting("The pairs are being drawn");
    await pause(POLL);
  }
}

/** Whether there is an audit to judge, and the judge does not want another sample. */
const isRunning = () => Boolean(audit) && audit.status !== "failed" && !drawsNew;

function start() {
  const running = isRunning();
  form.who.value = who || viewerName.get();
  byId("how-many").hidden = running;
  form.judgments.required = !running;
  labelButton();
  byId("new").hidden = !running || audit.status !== "done";
  byId("before").hidden = !audit;
  byId("before").replaceChildren(...drawnLines(audit, running));
  show("start");
}

/** The button's label depends on the judge, and the time on the number of judgments. */
function labelButton() {
  const running = isRunning();
  byId("cost").textContent = cost(running ? audit.n_pairs : Number(form.judgments.value));
  const progress = running && audit.judges.find(({ name }) => name === form.who.value.trim());
  const resume = progress && (progress.n >= audit.n_pairs ? "Show the result" : "Go on");
  byId("begin-button").textContent = running ? resume || "Judge" : "Draw the pairs";
}

async function begin() {
  const judge = form.who.value.trim();
  if (!judge) return;
  viewerName.set(judge);
  if (!isRunning()) {
    await post("api/audit", { control, judgments: Number(form.judgments.value), who: judge });
    drawsNew = false;
    showWaiting("The pairs are being drawn");
    await waitForPairs();
    if (audit.status === "failed") {
      start();
      throw new Error(audit.problem);
    }
  }
  judging.load(await get(`api/audit/${audit.id}`, { judge }));
  if (judging.firstOpen >= 0) judging.turnTo(judging.firstOpen);
  else if (judging.audit.result) await showResult();
  else await stop();
}

form.who.addEventListener("input", labelButton);
form.judgments.addEventListener("input", labelButton);
byId("begin").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(begin);
});
for (const id of ["new", "again"]) {
  byId(id).addEventListener("click", () => {
    drawsNew = true;
    start();
  });
}

// --- the end --------------------------------------------------------------------------------------------------------

/** Show a judge who stops, with or without open pairs, what they did. */
async function stop() {
  await judging.saved;
  const { judge, pairs } = judging;
  const answer = await get(`api/audit/${judging.audit.id}`, { judge, own: 1 });
  audit = { ...judging.audit, ...answer };
  const { own } = answer;
  const nUnjudged = pairs.length - own.n;
  const isEnough = Math.max(0, ...audit.judges.map(({ n }) => n)) >= audit.finish_from;
  const more = isEnough
    ? "A result can be computed from these judgments; more judgments make it more certain."
    : `A result needs ${audit.finish_from} judgments of one judge.`;
  const advice = nUnjudged
    ? `Your judgments are saved; you can go on any time with the same name. ${more}`
    : "Not sure about one of them? Look at the judgments again and change it before you see the result.";
  byId("stopped-title").textContent = nUnjudged ? "Stopped for now" : "That was the last pair";
  byId("stopped-words").replaceChildren(...account(own, pairs.length), line(advice));
  byId("work-out").hidden = !isEnough;
  byId("work-out").textContent = nUnjudged ? "Compute the result from these judgments" : "Show the result";
  byId("go-on").hidden = !nUnjudged;
  byId("look-again").hidden = !own.n;
  show("stopped");
  byId("stopped-title").focus();
}

async function finish() {
  if (judging.firstOpen >= 0) await post(`api/audit/${audit.id}/finish`, {});
  await showResult();
}

async function showResult() {
  await judging.saved;
  showWaiting("The coefficient is being computed");
  const { judge, pairs } = judging;
  for (;;) {
    audit = await getWhenReachable(`api/audit/${judging.audit.id}`, { judge, result: 1, own: 1 });
    if (audit.status === "done" && audit.result) break;
    if (audit.problem && audit.status === "judging") {
      await stop();
      throw new Error(`There is no result. ${audit.problem}`);
    }
    await pause(POLL);
  }
  const { judgments, judges } = audit.result.audit;
  const support =
    `${plural(judgments, "judgment")} of ${plural(judges, "judge")} support these numbers. They are at the top of ` +
    "the report from now on.";
  byId("sheet").href = `${base}audit/${project}/${audit.id}.csv?judge=${encodeURIComponent(judge)}`;
  byId("result").replaceChildren(...outcome(audit.result));
  const unused = audit.unused ? [line(audit.unused)] : [];
  byId("done-words").replaceChildren(line(support), ...unused, ...account(audit.own, pairs.length));
  show("done");
}

byId("go-on").addEventListener("click", () => judging.turnTo(judging.firstOpen));
byId("work-out").addEventListener("click", () => attempt(finish));
for (const id of ["look-back", "look-again"]) byId(id).addEventListener("click", () => judging.turnTo(0));

attempt(async () => {
  await waitForPairs();
  start();
});
