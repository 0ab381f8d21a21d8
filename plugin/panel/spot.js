/** Where the panel is: the project, the task, and the page of Label Studio around it. */

/**
 * Where the panel is: from Label Studio's page if it has the same origin, else from `?task=` or `?key=`,
 * else from the referrer.
 *
 * @param {Window} window the panel's window
 * @returns {{project?: string, task?: string, key?: string, labeling: boolean, door: "same-origin"|"query"|"referrer"}}
 */
export function locate(window) {
  const query = new URL(window.location.href).searchParams;
  try {
    if (window.parent !== window && window.parent.Htx?.task) {
      const page = parse(window.parent.location.href);
      return {
        ...page,
        project: page.project ?? query.get("project"),
        task: String(window.parent.Htx.task.id),
        door: "same-origin",
      };
    }
  } catch {
    // another origin: its window can't be read
  }
  const page = parse(window.document.referrer);
  const labeling = page.labeling || query.get("labeling") === "1";
  const project = query.get("project") ?? page.project;
  if (query.get("task")) return { project, task: query.get("task"), labeling, door: "query" };
  if (query.get("key")) return { project, key: query.get("key"), labeling, door: "query" };
  return { project: page.project ?? project, task: page.task, labeling, door: "referrer" };
}

/** @param {string} page */
function parse(page) {
  try {
    const url = new URL(page);
    return {
      project: url.pathname.match(/\/projects\/(\d+)(?:\/|$)/)?.[1],
      task: url.searchParams.get("task") ?? undefined,
      labeling: url.searchParams.get("labeling") === "1",
    };
  } catch {
    return { labeling: false };
  }
}

/**
 * Address of Label Studio's page around the panel.
 *
 * @param {Window} window
 */
export function address(window) {
  try {
    if (window.parent !== window && window.parent.location.href) return window.parent.location.href;
  } catch {
    // another origin: its referrer policy tells
  }
  return window.document.referrer;
}
