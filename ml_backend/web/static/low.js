/** All tasks with low agreement at once: how many there are, and sending them back to their annotators as one act. */
import { byId, call } from "./pages.js";

const project = Number(document.body.dataset.project);
/** Numbers of the tasks that Undo takes back. */
let last = [];

const ask = (more) =>
  call("api/queue/low", {
    method: "POST",
    body: JSON.stringify({ project, below: Number(byId("low-below").value), ...more }),
  });

function say(text) {
  byId("low-count").textContent = text;
}

const many = (n) => (n === 1 ? "1 task" : `${n} tasks`);

async function count() {
  try {
    const { tasks, link, shown } = await ask({ only_count: true });
    say(many(tasks.length) + (shown < tasks.length ? ` (the link has the first ${shown})` : ""));
    byId("low-link").hidden = !link;
    if (link) byId("low-link").href = link;
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
    byId("low-undo").hidden = !tasks.length;
    say(`${many(tasks.length)} sent back.`);
  } catch (error) {
    say(`Not sent back: ${error.message}`);
  }
}

async function undo() {
  const numbers = last;
  last = [];
  byId("low-undo").hidden = true;
  try {
    for (const task of numbers) await call(`api/queue/${task}?project=${project}`, { method: "DELETE" });
    say(`${many(numbers.length)} back in the queue.`);
  } catch (error) {
    say(error.message);
  }
}

byId("low").addEventListener("toggle", () => byId("low").open && count());
byId("low-below").addEventListener("input", count);
byId("low-form").addEventListener("submit", send);
byId("low-undo").addEventListener("click", undo);
