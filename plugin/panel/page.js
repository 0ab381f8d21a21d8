/** The panel as a page of its own, in a frame of Label Studio. */
import { follow } from "./panel.js";
import { address, locate } from "./spot.js";

const node = document.getElementById("panel");
const key = new URL(location.href).searchParams.get("k") ?? "";

/** Origin of Label Studio's page around this one. */
const around = document.referrer ? new URL(document.referrer).origin : null;
const sameOrigin = around === location.origin;
if (sameOrigin) await import("./helper.js");

/**
 * Tell the helper: it is in this page where Label Studio's page has the same origin, else in one of the frames around
 * this one, where `softirr-ls connect` puts it.
 *
 * @param {object} message
 */
function tell(message) {
  if (sameOrigin) window.postMessage(message, around);
  for (let i = 0; around && !sameOrigin && i < window.parent.length; i += 1) {
    if (!isOurs(window.parent[i])) window.parent[i].postMessage(message, around);
  }
}

/** @param {Window} frame */
function isOurs(frame) {
  try {
    return Boolean(frame.origin);
  } catch {
    return false;
  }
}

/**
 * What the helper answers.
 *
 * @param {(data: any) => void} act
 * @returns {() => void} stops listening
 */
function listen(act) {
  const heard = (event) => event.origin === around && act(event.data ?? {});
  window.addEventListener("message", heard);
  return () => window.removeEventListener("message", heard);
}

/** Light or dark as Label Studio's own switch is; as the system is where Label Studio has none. */
listen(({ softirrTheme: scheme }) => {
  if (scheme) document.documentElement.dataset.theme = scheme === "dark" ? "dark" : "light";
  else if (scheme === "") delete document.documentElement.dataset.theme;
});

/** The frame takes the height that the panel needs, up to the window. */
function fit() {
  tell({ softirrHeight: Math.ceil(node.getBoundingClientRect().bottom + window.scrollY + 10) });
}
if (window.parent !== window) new ResizeObserver(fit).observe(node);
// after "next task" the panel has the focus: it is seen whole, as far as the window goes
window.addEventListener(
  "resize",
  () => document.activeElement.matches(".sirr") && document.activeElement.scrollIntoView({ block: "nearest" }),
);

follow(node, {
  backend: new URL(node.dataset.backend || ".", location.href).href.replace(/\/$/, ""),
  key,
  locate: () => locate(window),
  address: () => address(window) || location.href,
  // Label Studio's session says who decides
  credentials: "same-origin",
  keys: document,
  openDraft,
  openTask,
  openRegion: (annotation, region) => tell({ softirrRegion: { annotation, region } }),
});

/**
 * Open a task without loading Label Studio's page again, as a click on its row does. Only where the list beside the
 * task has it: opened in any other way, Label Studio 1.23.2 throws errors.
 *
 * @returns {Promise<boolean>} whether Label Studio opens it
 *
 * @param {number} task
 */
function openTask(task) {
  return new Promise((resolve) => {
    const end = (opens) => {
      stop();
      resolve(opens);
    };
    const stop = listen(({ softirrTask: answer }) => answer && end(answer === "open"));
    setTimeout(end, 2000, false);
    tell({ softirrTask: Number(task) });
  });
}

/**
 * Show the viewer's own draft in Label Studio's form; it may not have it yet.
 *
 * @param {string} draft
 * @param {() => void} done
 */
function openDraft(draft, done) {
  let turns = 0;
  const end = () => {
    clearInterval(timer);
    stop();
    done();
  };
  const attempt = () => {
    turns += 1;
    if (turns > 40) end();
    else tell({ softirrDraft: Number(draft) });
  };
  const timer = setInterval(attempt, 250);
  const stop = listen(({ softirrDraft: answer }) => answer === "open" && end());
  attempt();
}
