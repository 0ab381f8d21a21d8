/** What the served report does beyond the file: it marks tasks as done, and stays up to date without a reload. */
import { byId, fetchPage, forgetKey, get, post, remove, select, targetOf, viewerName } from "./pages.js";

const { project } = document.body.dataset;
const POLL = 5000;
/** Milliseconds between two polls while the project is scored. */
const QUICK_POLL = 1000;
const NEWS_STAYS = 6000;

let { version, marks } = document.body.dataset;
let timer = 0;

forgetKey();

const CLICKS = {
  "button.choose-policy": choosePolicy,
  "button[data-link]": (button) => share(button.dataset.link === "key"),
};
document.addEventListener("click", (event) => {
  for (const [selector, act] of Object.entries(CLICKS)) {
    const button = targetOf(event).closest?.(selector);
    if (button) act(button);
  }
});
document.addEventListener("change", (event) => {
  if (targetOf(event).matches("input.done")) mark(targetOf(event));
});
document.addEventListener("submit", (event) => {
  if (targetOf(event).id !== "set-target") return;
  event.preventDefault();
  setTarget(targetOf(event));
});

/**
 * Do something that the service may refuse, and show the sentence with which it refuses.
 *
 * @param {string} id of the element that shows it
 * @param {() => Promise<void>} act
 * @returns {Promise<boolean>} whether it was done
 */
async function attempt(id, act) {
  try {
    await act();
    return true;
  } catch (error) {
    byId(id).textContent = error.message;
    byId(id).hidden = false;
    return false;
  }
}

/** Give each task a box for Done. */
function addBoxes() {
  for (const row of select("tr[data-item]")) {
    const cell = row.lastElementChild;
    if (cell.dataset.label !== "Done") continue;
    const box = document.createElement("input");
    box.type = "checkbox";
    box.className = "done";
    box.checked = row.classList.contains("is-done");
    box.setAttribute("aria-label", `Task ${row.dataset.item} is done`);
    cell.replaceChildren(box);
  }
}

async function mark(box) {
  const row = box.closest("tr");
  const task = Number(row.dataset.item.split("#")[0]);
  const isDone = box.checked;
  box.disabled = true;
  const isSaved = await attempt("news", async () => {
    const answer = isDone
      ? await post("api/queue", { task, who: viewerName.get() || null })
      : await remove(`api/queue/${task}`);
    row.classList.toggle("is-done", isDone);
    marks = answer.marks;
  });
  if (!isSaved) box.checked = !isDone;
  box.disabled = false;
  box.focus();
}

function choosePolicy(button) {
  if (!confirm(`${button.dataset.description}\n\nUse this policy? The project is scored again.`)) return;
  attempt("policies-said", async () => {
    await post("api/report/policy", { policy: JSON.parse(button.dataset.policy) });
    byId("policies-said").textContent = "Chosen. The project is scored again.";
    poll(QUICK_POLL);
  });
}

/** The value that the coefficient should reach; an empty field removes the target. */
function setTarget(form) {
  const { value } = form.elements.target;
  attempt("target-said", async () => {
    await post("api/report/target", { target: value === "" ? null : Number(value) });
    form.closest("details").open = false;
    await renew();
  });
}

/** Copy the address of this page, with the key if a lead wants it; select it if the browser refuses to copy. */
async function share(withKey) {
  const box = byId("link");
  const address = new URL(location.href);
  address.searchParams.delete("k");
  const addKey = async () => address.searchParams.set("k", (await post("api/report/link", {})).key);
  if (withKey && !(await attempt("link-said", addKey))) return;
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

async function checkForNews() {
  if (document.hidden) return;
  let state;
  try {
    state = await get("api/report/state");
  } catch {
    return;
  }
  if (state.working) {
    const { done, total } = state.job ?? {};
    announce(total ? `Being computed again: ${Math.floor((100 * done) / total)} %.` : "Being computed again …");
    poll(QUICK_POLL);
  } else if (state.version !== version || state.marks !== marks) {
    const isNew = state.version !== version;
    if ((await renew()) && isNew) announce("The report was brought up to date just now.");
  } else if (byId("news").textContent.startsWith("Being")) byId("news").hidden = true;
}

/** Show news above the page, which stays where it is. */
function announce(text) {
  const news = byId("news");
  news.textContent = text;
  news.hidden = false;
  if (!text.startsWith("Being")) setTimeout(() => (news.hidden = true), NEWS_STAYS);
}

function poll(wait) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    poll(POLL);
    await checkForNews();
  }, wait);
}

/**
 * Replace the parts of the page by the newest; the focus, what is open and the scroll position stay.
 *
 * @returns {Promise<boolean>} whether the newest page arrived
 */
async function renew() {
  const fresh = await fetchPage();
  if (!fresh?.querySelector("main > section") || fresh.body.dataset.project !== project) return false;
  const open = select("main details").map((details) => details.open);
  const active = document.activeElement?.closest("tr[data-item]")?.getAttribute("data-item");
  const top = scrollY;
  const sections = [...fresh.querySelector("main").children].map((section) => document.adoptNode(section));
  document.querySelector("main").replaceChildren(...sections);
  const aboutSection = fresh.querySelector("[data-part=about]");
  if (aboutSection) document.querySelector("[data-part=about]").replaceWith(document.adoptNode(aboutSection));
  ({ version, marks } = fresh.body.dataset);
  addBoxes();
  dispatchEvent(new Event("softirr:replaced"));
  select("main details").forEach((details, index) => (details.open = open[index] ?? false));
  if (active) {
    select("tr[data-item]")
      .find((row) => row.dataset.item === active)
      ?.querySelector("input")
      ?.focus();
  }
  scrollTo({ top, behavior: "instant" });
  return true;
}

addBoxes();
document.addEventListener("visibilitychange", checkForNews);
checkForNews();
poll(POLL);
