/* What the served report does beyond the file: marks tasks as done, asks for comparisons, says when there is news. */
import { call, forgetKey, kept } from "./pages.js";

const body = document.body;
const { project, control } = body.dataset;
const LOOK = 5000;

forgetKey();

const name = document.getElementById("viewer-name");
if (name) {
  name.value = kept.get();
  name.addEventListener("change", () => kept.set(name.value.trim()));
}

const said = document.getElementById("queue-said");
for (const box of document.querySelectorAll("input.done")) {
  box.addEventListener("change", async () => {
    const row = box.closest("tr");
    const task = Number(row.dataset.task);
    box.disabled = true;
    try {
      if (box.checked) await call("api/queue", { method: "POST", body: JSON.stringify({ project: Number(project), task, who: name?.value || null }) });
      else await call(`api/queue/${task}?project=${project}`, { method: "DELETE" });
      row.classList.toggle("is-done", box.checked);
      row.querySelector(".who").textContent = box.checked ? `${name?.value || "you"}, just now` : "";
      said.textContent = box.checked ? `Task ${task} is done.` : `Task ${task} is back in the queue.`;
    } catch (error) {
      box.checked = !box.checked;
      said.textContent = `Not saved: ${error.message}`;
    } finally {
      box.disabled = false;
      box.focus();
    }
  });
}

const form = document.getElementById("compare");
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const told = document.getElementById("compare-said");
  const measures = [...form.querySelectorAll("input:checked")].map((box) => box.value);
  if (!measures.length) {
    told.textContent = "Choose at least one measure.";
    return;
  }
  try {
    await call("api/comparisons", { method: "POST", body: JSON.stringify({ project: Number(project), control, measures }) });
    told.textContent = "Being computed …";
  } catch (error) {
    told.textContent = error.message;
  }
});

// --- news -----------------------------------------------------------------------------------------------------------
const news = document.getElementById("news");
const { version } = body.dataset;

async function look() {
  if (document.hidden) return;
  let state;
  try {
    state = await call(`api/report/state?project=${project}`);
  } catch {
    return;
  }
  if (state.version !== version && !state.working) {
    news.replaceChildren("There are new results. ");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Show them";
    button.addEventListener("click", () => location.reload());
    news.append(button);
    news.hidden = false;
  } else if (state.working) {
    const { done, total } = state.job ?? {};
    news.textContent = total ? `Being computed again: ${Math.floor((100 * done) / total)} %.` : "Being computed again …";
    news.hidden = false;
  } else {
    news.hidden = true;
  }
}
setInterval(look, LOOK);
document.addEventListener("visibilitychange", look);
look();
