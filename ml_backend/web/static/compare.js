/* The comparison page: its forms ask for comparisons, and a comparison that is being computed is waited for. */
import { byId as at, get, post, select } from "./pages.js";

const { control, waiting } = document.body.dataset;
const WAIT = 1000;

function say(text) {
  at("said").textContent = text;
  at("said").hidden = !text;
  if (text) at("said").scrollIntoView({ block: "nearest" });
}

/** The question that a form asks. */
function question(form) {
  const given = new FormData(form);
  const body = { control, kind: form.dataset.kind };
  for (const name of ["field", "same", "date", "annotator"]) {
    if (given.get(name)) body[name] = String(given.get(name)).trim();
  }
  if (given.has("margin")) body.margin = Number(given.get("margin"));
  if (body.kind === "projects") body.projects = given.getAll("project").map(Number);
  if (body.kind === "teams") {
    const of = (team) =>
      [...given]
        .filter(([name, value]) => name.startsWith("team-") && value === team)
        .map(([name]) => name.slice("team-".length));
    body.teams = [of("1"), of("2")];
  }
  return body;
}

async function ask(body) {
  say("");
  try {
    const { id } = await post("api/side-by-side", body);
    const here = new URL(location.href);
    here.search = String(new URLSearchParams({ control, show: id }));
    location.assign(here);
  } catch (error) {
    say(error.message);
  }
}

for (const form of select("form[data-kind]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(question(form));
  });
}

at("again")?.addEventListener("click", async () => {
  try {
    const earlier = await get(`api/side-by-side/${at("again").dataset.id}`);
    await ask(earlier.question);
  } catch (error) {
    say(error.message);
  }
});

async function wait() {
  try {
    const answer = await get(`api/side-by-side/${waiting}`);
    if (answer.state !== "waiting") {
      location.reload();
      return;
    }
    const { done, total } = answer.job ?? {};
    if (total) Object.assign(at("progress"), { max: total, value: done });
    say(answer.trouble ?? "");
  } catch (error) {
    say(error.message);
  }
  setTimeout(wait, WAIT);
}

if (waiting) wait();
