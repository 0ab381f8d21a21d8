/** The panel as a page of its own, in a frame of Label Studio. */
import { follow } from "./panel.js";
import { address, locate } from "./spot.js";
import { openRegion } from "./studio.js";

const node = document.getElementById("panel");
const key = new URL(location.href).searchParams.get("k") ?? "";
const spot = locate(window);
const sameOrigin = spot.door === "same-origin";

/** Origin of Label Studio's page around this one, where it is another one than ours. */
const around = sameOrigin || !document.referrer ? null : new URL(document.referrer).origin;

/**
 * Tell the helper that `softirr-ls connect` puts beside the panel: it is in one of the frames around this one.
 *
 * @param {object} message
 */
function tell(message) {
  for (let i = 0; around && i < window.parent.length; i += 1) {
    if (!isOurs(window.parent[i])) window.parent[i].postMessage(message, around);
  }
}

/** @param {Window} frame */
function isOurs(frame) {
  try {
    return Boolean(frame.location.href);
  } catch {
    return false;
  }
}

/** Light or dark as Label Studio's own switch is; as the system is where Label Studio has none. */
function setTheme(scheme) {
  if (scheme) document.documentElement.dataset.theme = scheme === "dark" ? "dark" : "light";
  else delete document.documentElement.dataset.theme;
}
if (sameOrigin) {
  const root = window.parent.document.documentElement;
  const theme = () => setTheme(root.dataset.colorScheme ?? root.getAttribute("data-theme"));
  theme();
  new MutationObserver(theme).observe(root, { attributes: true, attributeFilter: ["data-color-scheme", "data-theme"] });
} else {
  window.addEventListener(
    "message",
    (event) => event.origin === around && "softirrTheme" in (event.data ?? {}) && setTheme(event.data.softirrTheme),
  );
}

/** The frame takes the height that the panel needs, up to the window. */
function fit() {
  const needed = Math.ceil(node.getBoundingClientRect().bottom + window.scrollY + 10);
  if (sameOrigin && window.frameElement) {
    /** @type {HTMLElement} */ (window.frameElement).style.blockSize =
      `${Math.min(needed, window.parent.innerHeight)}px`;
  } else tell({ softirrHeight: needed });
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
  openRegion: (annotation, region) => {
    if (sameOrigin) openRegion(window.parent.Htx?.annotationStore, annotation, region);
    else tell({ softirrRegion: { annotation, region } });
  },
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
  if (sameOrigin) {
    const store = window.parent.dataManager?.store;
    const row = store?.taskStore.list.find((one) => String(one.id) === String(task));
    if (!row || row.isSelected) return Promise.resolve(false);
    store.startLabeling(row);
    return Promise.resolve(true);
  }
  return new Promise((resolve) => {
    const end = (opens) => {
      window.removeEventListener("message", answer);
      resolve(opens);
    };
    const answer = (event) =>
      event.origin === around && event.data?.softirrTask && end(event.data.softirrTask === "open");
    window.addEventListener("message", answer);
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
  let timer = null;
  const end = () => {
    clearInterval(timer);
    done();
  };
  const attempt = () => {
    turns += 1;
    if (turns > 40) return end();
    if (!sameOrigin) return tell({ softirrDraft: Number(draft) });
    const store = window.parent.Htx?.annotationStore;
    const mine = store?.annotations.find((one) => !one.pk && String(one.draftId) === String(draft));
    if (mine) {
      end();
      store.selectAnnotation(mine.id);
    }
    return undefined;
  };
  timer = setInterval(attempt, 250);
  window.addEventListener(
    "message",
    (event) => event.origin === around && event.data?.softirrDraft === "open" && end(),
  );
  attempt();
}
