/**
 * What the served report does beyond the file: marks tasks as done, and keeps itself up to date without a reload.
 */
import { byId, forgetKey, get, kept, newest, post, remove, select, targetOf } from "./pages.js";
import { plural } from "./plural.js";

const body = document.body;
const { project, control } = body.dataset;
const LOOK = 5000;
/** While something is computed that this page asked for, one looks more often. */
const SOON = 1000;

forgetKey();

// --- what people do here; the parts of the page may be replaced, so the whole page listens
// -----------------------------------

function typedName() {
  return byId("viewer-name")?.value.trim() ?? "";
}

function showName() {
  const name = byId("viewer-name");
  if (name && !name.value) name.value = kept.get();
}

document.addEventListener("change", (event) => {
  if (targetOf(event).id === "viewer-name") kept.set(typedName());
  if (targetOf(event).matches("input.done")) mark(targetOf(event));
});

/** What the buttons do, by their selector. */
const CLICKS = {
  "button.choose-policy": choosePolicy,
  "button.send-back": (button) => {
    const row = button.closest("tr");
    if (row.dataset.sentBack === "1") takeBack(row);
    else askForNote(row);
  },
  "button[data-link]": (button) => share(button.dataset.link === "key"),
};
document.addEventListener("click", (event) => {
  for (const [selector, act] of Object.entries(CLICKS)) {
    const button = targetOf(event).closest?.(selector);
    if (button) act(button);
  }
});

/** What the forms do, by their id. */
const SUBMITS = { "set-target": setTarget };
document.addEventListener("submit", (event) => {
  const form = targetOf(event);
  if (!Object.hasOwn(SUBMITS, form.id)) return;
  event.preventDefault();
  SUBMITS[form.id](form);
});

/**
 * Do something that the service may refuse; the sentence with which it does is shown.
 *
 * @param {string} id of the element that shows it
 * @param {() => Promise<void>} act
 * @param {string} [failed] what did not happen: "Not saved: "
 * @returns {Promise<boolean>} whether it was done
 */
async function tried(id, act, failed = "") {
  try {
    await act();
    return true;
  } catch (error) {
    byId(id).textContent = failed + error.message;
    return false;
  }
}

async function mark(box) {
  const row = box.closest("tr");
  const task = Number(row.dataset.task);
  const done = box.checked;
  const who = typedName() || null;
  box.disabled = true;
  const saved = async () => {
    const answer = done ? await post("api/queue", { task, who }) : await remove(`api/queue/${task}`);
    row.classList.toggle("is-done", done);
    row.querySelector(".note").hidden = true;
    row.dataset.sentBack = "0";
    row.querySelector(".send-back").textContent = "Send back …";
    row.querySelector(".who").textContent = done ? `${answer.done?.who || who || "you"}, just now` : "";
    byId("queue-said").textContent = done ? `Task ${task} is done.` : `Task ${task} is back in the queue.`;
    marks = answer.marks;
    counts(answer.queue);
  };
  if (!(await tried("queue-said", saved, "Not saved: "))) box.checked = !done;
  box.disabled = false;
  if (document.activeElement === body) box.focus();
}

/** Ask what the annotators are to do, and send the task back with that note. */
function askForNote(row) {
  const dialog = byId("send-back");
  byId("send-back-task").textContent = row.dataset.task;
  byId("send-back-note").value = "";
  dialog.returnValue = "";
  dialog.onclose = () => {
    if (dialog.returnValue === "send") sendBack(row, byId("send-back-note").value.trim());
  };
  dialog.showModal();
}

function sendBack(row, note) {
  const task = Number(row.dataset.task);
  const returned = { task, state: "sent back", note, who: typedName() || null };
  change(() => post("api/queue", returned), `Task ${task} is sent back.`);
}

function takeBack(row) {
  const task = Number(row.dataset.task);
  change(() => remove(`api/queue/${task}`), `Task ${task} is back in the queue.`);
}

function change(request, text) {
  const changed = async () => {
    await request();
    byId("queue-said").textContent = text;
    await renew(); // the order changes with the state
  };
  return tried("queue-said", changed, "Not saved: ");
}

/** How many tasks are left, done and sent back, as they are now. */
function counts({ low, done, sent_back: back }) {
  const left = byId("queue-counts");
  if (!left) return;
  left.textContent =
    `${plural(low, "task")} with moderate agreement or less ${low === 1 ? "is" : "are"} left to look at, ` +
    `${plural(back, "is", "are")} sent back, ${plural(done, "is", "are")} done.`;
}

function choosePolicy(button) {
  if (!confirm(`${button.dataset.description}\n\nUse this policy? The project is scored again.`)) return;
  const policy = JSON.parse(button.dataset.policy);
  ask("policies-said", "api/report/policy", { policy }, "Chosen. The project is scored again.");
}

/** Ask for something that is computed later, and look soon whether it is. */
function ask(id, path, question, text) {
  return tried(id, async () => {
    await post(path, question);
    byId(id).textContent = text;
    next(SOON);
  });
}

/**
 * Copy the address of what is shown now, with the key where a lead asks for it; where a browser refuses, it stands
 * selected.
 */
async function share(withKey) {
  const box = byId("link");
  const address = new URL(location.href);
  address.searchParams.delete("k");
  const addKey = async () => address.searchParams.set("k", (await post("api/report/link", {})).key);
  if (withKey && !(await tried("link-said", addKey))) return;
  box.value = address.href;
  box.parentElement.hidden = false;
  box.select();
  try {
    await navigator.clipboard.writeText(address.href);
    byId("link-said").textContent = withKey ? "Copied, with the key." : "Copied, without a key.";
  } catch {
    byId("link-said").textContent = "Copy it from here.";
  }
}

/** The value that the headline is to reach; an empty field takes the target away. */
function setTarget(form) {
  const { value } = form.elements.target;
  tried("target-said", async () => {
    await post("api/report/target", { target: value === "" ? null : Number(value) });
    form.closest("details").open = false;
    await renew();
  });
}

// --- news -----------------------------------------------------------------------------------------------------------
let { version, marks } = body.dataset;
let timer = null;

async function look() {
  if (document.hidden) return;
  const news = byId("news");
  let state;
  try {
    state = await get("api/report/state");
    if (!state.working && (state.version !== version || state.marks !== marks)) {
      const results = state.version !== version;
      const renewed = await renew();
      if (renewed && results) say("The report was brought up to date just now.");
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

/**
 * Put the newest parts in place of those that are shown; focus, what is unfolded and what is typed stay.
 *
 * @returns {Promise<boolean>} whether the newest could be had
 */
async function renew() {
  const fresh = await newest();
  if (!fresh?.querySelector("main > section") || fresh.body.dataset.project !== project) return false;
  const place = remember();
  const main = document.querySelector("main");
  main.replaceChildren(...[...fresh.querySelector("main").children].map((one) => document.adoptNode(one)));
  for (const part of ["[data-part=about]", "[data-part=fields]"]) {
    const now = fresh.querySelector(part);
    if (now) document.querySelector(part)?.replaceWith(document.adoptNode(now));
  }
  ({ version, marks } = fresh.body.dataset);
  dispatchEvent(new Event("softirr:replaced"));
  restore(place);
  return true;
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
    unfolded: select("main details").map((one) => [placeOf(one), one.open]),
    more: select('main .more[aria-expanded="true"]').map((one) => placeOf(one.previousElementSibling)),
    name: byId("viewer-name")?.value ?? "",
    said: byId("queue-said")?.textContent ?? "",
    scroll: scrollY,
  };
}

function restore({ focus, unfolded, more, name, said, scroll }) {
  for (const [place, open] of unfolded) {
    const one = at(place);
    if (one) one.open = open;
  }
  for (const place of more) {
    const button = at(place)?.nextElementSibling;
    if (button?.matches(".more")) button.click();
  }
  if (byId("viewer-name")) byId("viewer-name").value = name;
  if (byId("queue-said")) byId("queue-said").textContent = said;
  showName();
  if (focus) at(focus)?.focus({ preventScroll: true });
  scrollTo({ top: scroll, behavior: "instant" });
}

showName();
document.addEventListener("visibilitychange", look);
look();
next(LOOK);
