/**
 * The codebook page: asks for the codebook, merges entries, parts texts, takes a decision back. The server applies
 * decisions at once.
 */
import { byId, forgetKey, get, newest, post, remove, select, targetOf } from "./pages.js";

const { control } = document.body.dataset;
const LOOK = 1500;
let { made: madeAt, waiting } = document.body.dataset;
/** Numbers of the decisions that Undo takes back. */
let last = [];
let timer = null;

forgetKey();

const boxes = () => select("input.choose");
const chosen = () => boxes().filter((box) => box.checked);

document.addEventListener("change", (event) => {
  if (targetOf(event).matches("input.choose")) count();
});

document.addEventListener("click", (event) => {
  const button = targetOf(event).closest("button");
  if (button?.id === "make") make();
  else if (button?.id === "merge") merge();
  else if (button?.id === "undo") undo();
  else if (button?.matches(".part")) partAt(button);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || targetOf(event).matches("input[type=search]")) return;
  const key = event.key.toLowerCase();
  const step = { arrowdown: 1, j: 1, arrowup: -1, k: -1 }[key];
  const act = { "/": () => byId("q")?.focus(), m: merge, p: partHere, z: undo }[key];
  if (!act && !step) return;
  event.preventDefault();
  if (step) go(step);
  else act();
});

/** Go to the next entry or to the next text that can be separated. */
function go(step) {
  const stops = select("input.choose, button.part");
  const at = stops.indexOf(document.activeElement);
  const to = stops[at < 0 ? (step > 0 ? 0 : stops.length - 1) : Math.min(stops.length - 1, Math.max(0, at + step))];
  to?.focus();
  to?.scrollIntoView({ block: "nearest" });
}

/** Separate the text that has the focus. */
function partHere() {
  const button = document.activeElement;
  if (button?.matches("button.part")) partAt(button);
  else say("Go to the text to separate first (↑ ↓).");
}

function count() {
  const n = chosen().length;
  if (!byId("merge")) return;
  byId("chosen").textContent = n < 2 ? "" : ` ${n}`;
  byId("merge").disabled = n < 2;
}

async function make() {
  try {
    await post("api/codebook", { control });
    waiting = "1";
    if (byId("make")) Object.assign(byId("make"), { disabled: true, textContent: "Being made …" });
    next();
  } catch (error) {
    say(error.message);
  }
}

function merge() {
  const names = chosen().map((box) => box.value);
  if (names.length < 2) {
    say("Choose two or more entries first (Space).");
    return;
  }
  decide({ merge: names }, `Merged ${names.length} entries.`, chosen()[0]?.id);
}

function partAt(button) {
  const { text } = button.dataset;
  decide({ part: text }, `Separated “${text}”.`, button.closest("tr").querySelector("input.choose")?.id);
}

async function decide(what, message, focus) {
  try {
    last = (await post("api/codebook/decisions", { control, ...what })).decisions;
    await renew(focus);
    say(message);
  } catch (error) {
    say(`Not saved: ${error.message}`);
  }
}

async function undo() {
  if (!last.length) {
    say("There is nothing of yours to take back.");
    return;
  }
  const { id } = document.activeElement;
  const numbers = last;
  last = [];
  try {
    for (const number of numbers) await remove(`api/decisions/${number}`);
    await renew(id);
    say("Taken back.");
  } catch (error) {
    say(error.message);
  }
}

function say(text) {
  Object.assign(byId("said"), { textContent: text, hidden: false });
}

/**
 * Put the newest entries in place of those that are shown.
 *
 * @param {string | null | undefined} focus id of the element that gets the focus
 * @returns {Promise<boolean>} whether the newest could be had
 */
async function renew(focus) {
  const fresh = await newest();
  if (!fresh) return false;
  const place = scrollY;
  for (const selector of ["nav.actions", "main"]) {
    const now = fresh.querySelector(selector);
    if (now) {
      document.querySelector(selector).replaceChildren(...[...now.childNodes].map((one) => document.adoptNode(one)));
    }
  }
  ({ made: madeAt, waiting } = fresh.body.dataset);
  if (byId("undo")) byId("undo").hidden = !last.length;
  count();
  ((focus && byId(focus)) || byId("merge"))?.focus({ preventScroll: true });
  scrollTo({ top: place, behavior: "instant" });
  return true;
}

function next() {
  clearTimeout(timer);
  timer = setTimeout(look, LOOK);
}

async function look() {
  let state;
  try {
    state = await get("api/codebook", { control, brief: 1 });
  } catch {
    next();
    return;
  }
  if (state.waiting) {
    const { done, total } = state.job ?? {};
    if (total) say(`Being made: ${Math.floor((100 * done) / total)} %.`);
    next();
  } else {
    const isNew = state.made_at !== madeAt;
    if (!(await renew(null))) next();
    else if (isNew) say("The codebook is made.");
  }
}

count();
if (waiting) next();
