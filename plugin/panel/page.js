/** The panel as a page of its own, in a frame of Label Studio. */
import { follow } from "./panel.js";
import { address, locate } from "./spot.js";

const node = document.getElementById("panel");
const key = new URL(location.href).searchParams.get("k") ?? "";

/** Milliseconds after which the helper is missing, because a policy forbids its script. */
const NO_HELPER = 2000;

/** Origin of Label Studio's page around this one. */
const studioOrigin = document.referrer ? new URL(document.referrer).origin : null;
const isSameOrigin = studioOrigin === location.origin;
if (isSameOrigin) await import("./helper.js");

/**
 * Send a message to the helper: it is in this page if Label Studio's page has the same origin, else in one of the
 * frames around this one, where `softirr-ls connect` puts it.
 *
 * @param {object} message
 */
function tell(message) {
  if (isSameOrigin) window.postMessage(message, studioOrigin);
  for (let i = 0; studioOrigin && !isSameOrigin && i < window.parent.length; i += 1) {
    if (!hasOurOrigin(window.parent[i])) window.parent[i].postMessage(message, studioOrigin);
  }
}

/** @param {Window} frame */
function hasOurOrigin(frame) {
  try {
    return Boolean(frame.origin);
  } catch {
    return false;
  }
}

/**
 * Listen to the helper; returns a function that stops listening.
 *
 * @param {(data: any) => void} act
 */
function hear(act) {
  const heard = (event) => event.origin === studioOrigin && act(event.data ?? {});
  window.addEventListener("message", heard);
  return () => window.removeEventListener("message", heard);
}

hear(({ softirrTheme: scheme, softirrFocus: focus, softirrHidden: hidden }) => {
  // the footer moves up by what Label Studio's page hides of the frame, so that it is always in sight
  if (hidden !== undefined) node.style.setProperty("--sirr-hidden-below", `${Math.round(hidden)}px`);
  if (scheme) document.documentElement.dataset.theme = scheme === "dark" ? "dark" : "light";
  else if (scheme === "") delete document.documentElement.dataset.theme;
  if (focus) /** @type {HTMLElement | null} */ (node.querySelector(".sirr"))?.focus();
});

/** The frame is as high as the panel, so that Label Studio's page has the only scroll bar. */
function fit() {
  tell({ softirrHeight: Math.ceil(node.getBoundingClientRect().bottom + window.scrollY + 8) });
}
if (window.parent !== window) new ResizeObserver(fit).observe(node);

follow(node, {
  backend: new URL(node.dataset.backend || ".", location.href).href.replace(/\/$/, ""),
  key,
  locate: () => locate(window),
  address: () => address(window) || location.href,
  // Label Studio's session tells who decides
  credentials: "same-origin",
  keys: document,
  show: (isShown) => tell({ softirrShow: isShown }),
  reveal: () => tell({ softirrReveal: true }),
  openTask,
  openRegion: (annotation, region) => tell({ softirrRegion: { annotation, region } }),
});

/**
 * Open a task without loading Label Studio's page again, as a click on its row does. Only if the list beside the task
 * has it: opened in any other way, Label Studio 1.23.2 throws errors.
 *
 * @param {number} task
 * @returns {Promise<boolean>} false if Label Studio does not open it; the frame ends before any answer if it does
 */
function openTask(task) {
  return new Promise((resolve) => {
    const giveUp = () => {
      stop();
      resolve(false);
    };
    const timer = setTimeout(giveUp, NO_HELPER);
    const stop = hear(({ softirrTask: answer }) => {
      if (answer) clearTimeout(timer);
      if (answer === "no") giveUp();
    });
    tell({ softirrTask: Number(task) });
  });
}
