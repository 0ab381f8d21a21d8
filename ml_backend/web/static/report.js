/* What the served report does beyond the file: marks tasks as done, asks for comparisons, and keeps itself up to date without a reload. */
import { call, forgetKey, kept } from "./pages.js";

const body = document.body;
const { project, control } = body.dataset;
const LOOK = 5000;
/** While something is computed that this page asked for, one looks more often. */
const SOON = 1000;

forgetKey();

const byId = (id) => document.getElementById(id);

// --- what people do here; the parts of the page may be replaced, so the whole page listens -----------------------------------

function typedName() {
  return byId("viewer-name")?.value.trim() ?? "";
}

function showName() {
  const name = byId("viewer-name");
  if (name && !name.value) name.value = kept.get();
}

document.addEventListener("change", (event) => {
  if (event.target.id === "viewer-name") kept.set(typedName());
  if (event.target.matches("input.done")) mark(event.target);
});

document.addEventListener("submit", (event) => {
  if (event.target.id !== "compare") return;
  event.preventDefault();
  compare(event.target);
});

async function mark(box) {
  const row = box.closest("tr");
  const task = Number(row.dataset.task);
  const done = box.checked;
  const who = typedName();
  box.disabled = true;
  try {
    const said = done
      ? await call("api/queue", { method: "POST", body: JSON.stringify({ project: Number(project), task, who: who || null }) })
      : await call(`api/queue/${task}?project=${project}`, { method: "DELETE" });
    row.classList.toggle("is-done", done);
    row.querySelector(".who").textContent = done ? `${said.done?.who || who || "you"}, just now` : "";
    byId("queue-said").textContent = done ? `Task ${task} is done.` : `Task ${task} is back in the queue.`;
    marks = said.marks;
    counts(said.queue);
  } catch (error) {
    box.checked = !done;
    byId("queue-said").textContent = `Not saved: ${error.message}`;
  } finally {
    box.disabled = false;
    if (document.activeElement === body) box.focus();
  }
}

/** How many tasks are left and done, as they are now. */
function counts({ low, done }) {
  const left = byId("queue-counts");
  if (left) left.textContent = queueSentence(low, done);
}

function queueSentence(low, done) {
  const many = (n) => n.toLocaleString("en");
  return `${many(low)} ${low === 1 ? "task" : "tasks"} with an agreement below 0.60 ${low === 1 ? "is" : "are"} left to look at, ${many(done)} ${done === 1 ? "is" : "are"} done.`;
}

async function compare(form) {
  const told = byId("compare-said");
  const measures = [...form.querySelectorAll("input:checked")].map((box) => box.value);
  if (!measures.length) {
    told.textContent = "Choose at least one measure.";
    return;
  }
  try {
    await call("api/comparisons", { method: "POST", body: JSON.stringify({ project: Number(project), control, measures }) });
    told.textContent = "Being computed …";
    next(SOON);
  } catch (error) {
    told.textContent = error.message;
  }
}

// --- news -----------------------------------------------------------------------------------------------------------
let { version, marks } = body.dataset;
let timer = null;

async function look() {
  if (document.hidden) return;
  const news = byId("news");
  let state;
  try {
    state = await call(`api/report/state?project=${project}`);
    if (!state.working && (state.version !== version || state.marks !== marks)) {
      const results = state.version !== version;
      await renew();
      if (results) say("The report was brought up to date just now.");
      return;
    }
  } catch {
    return;
  }
  if (state.working) {
    const { done, total } = state.job ?? {};
    say(total ? `Being computed again: ${Math.floor((100 * done) / total)} %.` : "Being computed again …");
    next(SOON);
  } else if (news.textContent.startsWith("Being")) {
    news.hidden = true;
  }
}

function say(text) {
  const news = byId("news");
  if (news.textContent !== text) news.textContent = text;
  news.hidden = false;
}

function next(wait) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    next(LOOK);
    await look();
  }, wait);
}

/** Put the newest parts in place of those that are shown; focus, what is unfolded and what is typed stay. */
async function renew() {
  const response = await fetch(location.href, { cache: "no-store", credentials: "same-origin" });
  if (!response.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const sections = [...fresh.querySelectorAll("main > section")];
  if (!sections.length || fresh.body.dataset.project !== project) return;
  const place = remember();
  const main = document.querySelector("main");
  byId("charts").textContent = fresh.getElementById("charts").textContent;
  main.replaceChildren(...[...fresh.querySelector("main").children].map((one) => document.adoptNode(one)));
  for (const part of ["[data-part=about]", "[data-part=fields]", "nav.contents"]) {
    const now = fresh.querySelector(part);
    if (now) document.querySelector(part)?.replaceWith(document.adoptNode(now));
  }
  ({ version, marks } = fresh.body.dataset);
  dispatchEvent(new Event("softirr:replaced"));
  restore(place);
}

/** Where an element is: its id, or its place among the elements of its kind in its section. */
function placeOf(one) {
  if (one.id) return { id: one.id };
  const section = one.closest("section, header");
  const row = one.closest("tr[data-task]");
  if (row && one.matches("input.done")) return { task: row.dataset.task };
  const title = section?.getAttribute("aria-labelledby");
  const within = title ? `section[aria-labelledby="${title}"]` : "header";
  return { within, tag: one.localName, index: [...(section?.querySelectorAll(one.localName) ?? [])].indexOf(one) };
}

function at({ id, task, within, tag, index }) {
  if (id) return byId(id);
  if (task) return document.querySelector(`tr[data-task="${task}"] input.done`);
  return document.querySelector(within)?.querySelectorAll(tag)[index];
}

function remember() {
  const active = document.activeElement;
  return {
    focus: active && active !== body ? placeOf(active) : null,
    unfolded: [...document.querySelectorAll("main details")].map((one) => [placeOf(one), one.open]),
    more: [...document.querySelectorAll('main .more[aria-expanded="true"]')].map((one) => placeOf(one.previousElementSibling)),
    name: byId("viewer-name")?.value ?? "",
    checked: [...document.querySelectorAll("#compare input")].map((one) => [one.value, one.checked]),
    said: byId("queue-said")?.textContent ?? "",
    scroll: scrollY,
  };
}

function restore({ focus, unfolded, more, name, checked, said, scroll }) {
  for (const [place, open] of unfolded) {
    const one = at(place);
    if (one) one.open = open;
  }
  for (const place of more) {
    const button = at(place)?.nextElementSibling;
    if (button?.matches(".more")) button.click();
  }
  if (byId("viewer-name")) byId("viewer-name").value = name;
  for (const [value, on] of checked) {
    const box = document.querySelector(`#compare input[value="${CSS.escape(value)}"]`);
    if (box) box.checked = on;
  }
  if (byId("queue-said")) byId("queue-said").textContent = said;
  showName();
  if (focus) at(focus)?.focus({ preventScroll: true });
  scrollTo({ top: scroll, behavior: "instant" });
}

showName();
document.addEventListener("visibilitychange", look);
look();
next(LOOK);
