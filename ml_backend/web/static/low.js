/** All tasks with low agreement at once: how many there are, and sending them back to their annotators as one act. */
import { byId, post, remove } from "./pages.js";
import { plural } from "./plural.js";

/** Numbers of the tasks that Undo takes back. */
let last = [];
let message = "";
/** Of the tab of Label Studio with the tasks. */
let address = "";
/** What is written in the form, by the id of the field. */
const written = {};

const ask = (more) => post("api/queue/low", { below: Number(byId("low-below").value), ...more });

function say(text) {
  message = text;
  byId("low-count").textContent = text;
}

function show() {
  byId("low-link").hidden = !address;
  if (address) byId("low-link").href = address;
  byId("low-undo").hidden = !last.length;
}

async function count() {
  try {
    const { tasks, link, shown } = await ask({ only_count: true });
    say(plural(tasks.length, "task") + (shown < tasks.length ? ` (the link has the first ${shown})` : ""));
    address = link;
    show();
  } catch (error) {
    say(error.message);
  }
}

async function send(event) {
  event.preventDefault();
  try {
    const who = byId("viewer-name")?.value.trim() || null;
    const { tasks } = await ask({ note: byId("low-note").value, who });
    last = tasks;
    show();
    say(`${plural(tasks.length, "task")} sent back.`);
  } catch (error) {
    say(`Not sent back: ${error.message}`);
  }
}

async function undo() {
  const numbers = last;
  last = [];
  show();
  let n = 0;
  try {
    for (const task of numbers) {
      await remove(`api/queue/${task}`);
      n += 1;
    }
    say(`${plural(n, "task")} back in the queue.`);
  } catch (error) {
    last = numbers.slice(n); // what could not be taken back stays to be taken back
    show();
    say(error.message);
  }
}

/** The report replaces its parts when something changes: what was written and said here stays. */
function start() {
  const box = byId("low");
  if (!box) return;
  for (const [id, value] of Object.entries(written)) byId(id).value = value;
  byId("low-count").textContent = message;
  show();
  box.addEventListener("toggle", () => box.open && !message && count());
  box.addEventListener("input", ({ target }) => {
    written[target.id] = target.value;
    if (target.id === "low-below") count();
  });
  byId("low-form").addEventListener("submit", send);
  byId("low-undo").addEventListener("click", undo);
}

start();
addEventListener("softirr:replaced", start);
