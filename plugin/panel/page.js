/** The panel as a page of its own, in a frame of Label Studio. */
import { follow, locate } from "./panel.js";

const node = document.getElementById("panel");
const key = new URL(location.href).searchParams.get("k") ?? "";
const spot = locate(window);
const sameOrigin = spot.door === "same-origin";

if (sameOrigin) {
  const root = window.parent.document.documentElement;
  const theme = () => {
    const scheme = root.dataset.colorScheme ?? root.getAttribute("data-theme");
    if (scheme) document.documentElement.dataset.theme = scheme === "dark" ? "dark" : "light";
  };
  theme();
  new MutationObserver(theme).observe(root, { attributes: true, attributeFilter: ["data-color-scheme", "data-theme"] });
}

if (sameOrigin && window.frameElement) {
  // the frame takes the height that the panel needs; from another origin Label Studio's page can't be asked for that
  const frame = window.frameElement;
  new ResizeObserver(() => {
    frame.style.blockSize = `${Math.min(1200, Math.max(120, node.getBoundingClientRect().bottom + 16))}px`;
  }).observe(node);
}

follow(node, {
  backend: new URL(node.dataset.backend || ".", location.href).href.replace(/\/$/, ""),
  key,
  locate: () => locate(window),
  // in same-origin mode Label Studio's session says who decides
  credentials: "same-origin",
  accept: sameOrigin ? takeOver : null,
});

/** Write the suggestions into Label Studio as one annotation of the viewer's own, through Label Studio's own API. */
async function takeOver(suggestions) {
  const htx = window.parent.Htx;
  const project = locate(window).project;
  const tags = htx.annotationStore.selected.names;
  const result = suggestions.flatMap(({ control, texts }) => {
    const tag = tags.get(control);
    return tag?.type === "textarea" && !tag.perregion ? [{ from_name: tag.name, to_name: tag.toname, type: "textarea", value: { text: texts } }] : [];
  });
  if (!result.length) throw new Error("Not taken over: this task has no such free-text field.");
  const token = window.parent.document.cookie.match(/(?:^|;\s*)csrftoken=([^;]+)/)?.[1];
  const base = window.parent.APP_SETTINGS?.hostname ?? "";
  const response = await fetch(`${base}/api/tasks/${htx.task.id}/annotations/?project=${project}`, {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json", ...(token ? { "X-CSRFToken": token } : {}) },
    body: JSON.stringify({ result, was_cancelled: false }),
  });
  if (!response.ok) throw new Error(`Not taken over: Label Studio answered ${response.status}.`);
  return "Taken over as your annotation. Open the task again to see it.";
}
