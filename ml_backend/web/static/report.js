/**
 * What the served report does beyond the file: marks tasks as done, asks for comparisons, and keeps itself up to
 * date without a reload.
 */
import { byId, call, forgetKey, kept, select, targetOf } from "./pages.js";
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
  if (targetOf(event).matches("#policies [type=checkbox]")) onlyOne(targetOf(event));
});

document.addEventListener("click", (event) => {
  const chosen = targetOf(event).closest?.("button.choose-policy");
  if (chosen) choosePolicy(chosen);
  const proposed = targetOf(event).closest?.("button.preview-policy");
  if (proposed) preview(proposed);
  const button = targetOf(event).closest?.("button.send-back");
  if (!button) return;
  const row = button.closest("tr");
  if (row.dataset.sentBack === "1") takeBack(row);
  else askForNote(row);
});

document.addEventListener("submit", (event) => {
  if (targetOf(event).id === "policies") {
    event.preventDefault();
    lookAtPolicies(targetOf(event));
  }
  if (targetOf(event).id === "set-target") {
    event.preventDefault();
    setTarget(targetOf(event));
  }
  if (targetOf(event).id !== "compare") return;
  event.preventDefault();
  compare(targetOf(event));
});

async function mark(box) {
  const row = box.closest("tr");
  const task = Number(row.dataset.task);
  const done = box.checked;
  const who = typedName();
  box.disabled = true;
  try {
    const said = done
      ? await call("api/queue", {
          method: "POST",
          body: JSON.stringify({ project: Number(project), task, who: who || null }),
        })
      : await call(`api/queue/${task}?project=${project}`, { method: "DELETE" });
    row.classList.toggle("is-done", done);
    row.querySelector(".note").hidden = true;
    row.dataset.sentBack = "0";
    row.querySelector(".send-back").textContent = "Send back …";
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

async function sendBack(row, note) {
  const task = Number(row.dataset.task);
  const returned = { project: Number(project), task, state: "sent back", note, who: typedName() || null };
  await change(
    task,
    () => call("api/queue", { method: "POST", body: JSON.stringify(returned) }),
    `Task ${task} is sent back.`,
  );
}

async function takeBack(row) {
  const task = Number(row.dataset.task);
  await change(
    task,
    () => call(`api/queue/${task}?project=${project}`, { method: "DELETE" }),
    `Task ${task} is back in the queue.`,
  );
}

async function change(task, request, text) {
  try {
    await request();
    byId("queue-said").textContent = text;
    await renew(); // the order changes with the state
  } catch (error) {
    byId("queue-said").textContent = `Not saved: ${error.message}`;
  }
}

/** How many tasks are left, done and sent back, as they are now. */
function counts({ low, done, sent_back: back }) {
  const left = byId("queue-counts");
  if (left) left.textContent = queueSentence(low, done, back);
}

function queueSentence(low, done, back) {
  return (
    `${plural(low, "task")} with moderate agreement or less ${low === 1 ? "is" : "are"} left to look at, ` +
    `${plural(back, "is", "are")} sent back, ${plural(done, "is", "are")} done.`
  );
}

/** Ask for the coefficient and the tasks under each policy; the form's own policy is one of them. */
async function lookAtPolicies(form) {
  const chosen = (name) => select(`[name=${name}]:checked`, form).map((box) => box.value);
  const own = { ignore: chosen("ignore"), count: chosen("count"), more_general: form.elements.more_general.value };
  return ask("api/policies", { project: Number(project), control, policies: [own] }, "Being computed …");
}

/** An attribute either does not count or decides, or neither. */
function onlyOne(box) {
  const other = box.name === "ignore" ? "count" : "ignore";
  if (box.checked) box.form.querySelector(`[name=${other}][value="${CSS.escape(box.value)}"]`).checked = false;
}

/** A reviewer's proposal in the lead's form, and what it changes; the attributes of the policy in use stay chosen. */
async function preview(button) {
  const form = byId("policies");
  form.reset();
  const box = form.querySelector(`[name=ignore][value="${CSS.escape(button.dataset.attribute)}"]`);
  box.checked = true;
  onlyOne(box);
  button.disabled = true;
  button.textContent = "Being computed …";
  if (await lookAtPolicies(form)) return;
  button.disabled = false;
  button.textContent = "See what it changes";
  byId("policies-said").scrollIntoView({ block: "center" }); // it says why not
}

async function choosePolicy(button) {
  if (!confirm(`${button.dataset.told}\n\nUse this policy? The project is scored again.`)) return;
  await ask(
    "api/policies/choice",
    { project: Number(project), policy: JSON.parse(button.dataset.policy) },
    "Chosen. The project is scored again.",
  );
}

async function ask(path, question, text) {
  const told = byId("policies-said");
  try {
    await call(path, { method: "POST", body: JSON.stringify(question) });
    told.textContent = text;
    next(SOON);
    return true;
  } catch (error) {
    told.textContent = error.message;
    return false;
  }
}

document.addEventListener("click", (event) => {
  const button = targetOf(event).closest("button");
  if (button?.dataset.link) share(button.dataset.link === "key");
  if (button?.id === "condition") choose(button.dataset.condition);
});

/**
 * Copy the address of what is shown now, with the key where a lead asks for it; where a browser refuses, it stands
 * selected.
 */
async function share(withKey) {
  const told = byId("link-said");
  const box = byId("link");
  const address = new URL(location.href);
  address.searchParams.delete("k");
  try {
    if (withKey) {
      address.searchParams.set(
        "k",
        (await call("api/report/link", { method: "POST", body: JSON.stringify({ project: Number(project) }) })).key,
      );
    }
  } catch (error) {
    told.textContent = error.message;
    return;
  }
  box.value = address.href;
  box.parentElement.hidden = false;
  box.select();
  try {
    await navigator.clipboard.writeText(address.href);
    told.textContent = withKey ? "Copied, with the key." : "Copied, without a key.";
  } catch {
    told.textContent = "Copy it from here.";
  }
}

/** The value that the headline is to reach; an empty field takes the target away. */
async function setTarget(form) {
  const given = form.elements.target.value;
  try {
    await call("api/report/target", {
      method: "POST",
      body: JSON.stringify({ project: Number(project), target: given === "" ? null : Number(given) }),
    });
    form.closest("details").open = false;
    await renew();
  } catch (error) {
    byId("target-said").textContent = error.message;
  }
}

async function choose(condition) {
  try {
    await call("api/report/condition", {
      method: "POST",
      body: JSON.stringify({ project: Number(project), condition }),
    });
    byId("condition").disabled = true;
    byId("condition-said").textContent = "Kept: the report shows this grouping first.";
  } catch (error) {
    byId("condition-said").textContent = error.message;
  }
}

async function compare(form) {
  const told = byId("compare-said");
  const measures = select("input:checked", form).map((box) => box.value);
  if (!measures.length) {
    told.textContent = "Choose at least one measure.";
    return;
  }
  try {
    await call("api/side-by-side", {
      method: "POST",
      body: JSON.stringify({ project: Number(project), kind: "measures", control, measures }),
    });
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
    const waits = byId("policies-said")?.textContent.startsWith("Being computed"); // rows arrive one by one
    if ((!state.working || waits) && (state.version !== version || state.marks !== marks)) {
      const results = state.version !== version;
      await renew();
      if (results && !state.working) say("The report was brought up to date just now.");
      if (state.working) next(SOON);
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
  main.replaceChildren(...[...fresh.querySelector("main").children].map((one) => document.adoptNode(one)));
  for (const part of ["[data-part=about]", "[data-part=fields]"]) {
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
    unfolded: select("main details").map((one) => [placeOf(one), one.open]),
    more: select('main .more[aria-expanded="true"]').map((one) => placeOf(one.previousElementSibling)),
    name: byId("viewer-name")?.value ?? "",
    checked: select("#compare input, #policies input").map((one) => [one.name, one.value, one.checked]),
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
  for (const [group, value, on] of checked) {
    const [box] = select(`:is(#compare, #policies) input[name="${CSS.escape(group)}"][value="${CSS.escape(value)}"]`);
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
