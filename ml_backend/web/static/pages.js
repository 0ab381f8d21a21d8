/** What the report and the audit page have in common: asking the service, the key, the viewer's name. */

/** Where the service is: the pages stand one folder below it, whatever a proxy put before. */
export const base = new URL("..", location.href).href;

/**
 * An element of the page's template, or null where the page has none.
 *
 * @param {string} id
 * @returns {any} of the type that the template gives it
 */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * All elements of the page that a selector matches.
 *
 * @param {string} selector
 * @param {ParentNode} [where]
 * @returns {any[]} of the types that the template gives them
 */
export function select(selector, where = document) {
  return [...where.querySelectorAll(selector)];
}

/**
 * The element that an event is about.
 *
 * @param {Event} event
 * @returns {any}
 */
export function targetOf(event) {
  return event.target;
}

/**
 * Ask the service.
 *
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<any>} its JSON answer
 * @throws {Error} with the sentence that the service gives
 */
async function call(path, options = {}) {
  const headers = options.body ? { "Content-Type": "application/json" } : {};
  let response;
  try {
    response = await fetch(`${base}${path}`, { cache: "no-store", credentials: "same-origin", headers, ...options });
  } catch {
    throw new Error("The agreement service can’t be reached.");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error || `The agreement service answered ${response.status}.`);
  return answer;
}

/** The project of the page. */
const { project } = document.body.dataset;

/**
 * @param {string} path
 * @param {Record<string, any>} [query] beside the project
 */
export const get = (path, query = {}) => call(`${path}?${new URLSearchParams({ project, ...query })}`);

/**
 * @param {string} path
 * @param {object} body beside the project
 */
export const post = (path, body) =>
  call(path, { method: "POST", body: JSON.stringify({ project: Number(project), ...body }) });

/**
 * @param {string} path
 * @param {Record<string, any>} [query] beside the project
 */
export const remove = (path, query = {}) =>
  call(`${path}?${new URLSearchParams({ project, ...query })}`, { method: "DELETE" });

/** The page as the service has it now; null where it can't be had. */
export async function newest() {
  const asked = fetch(location.href, { cache: "no-store", credentials: "same-origin" });
  const text = await asked.then((response) => (response.ok ? response.text() : null)).catch(() => null);
  return text === null ? null : new DOMParser().parseFromString(text, "text/html");
}

/** The key came in the address and is in a cookie now: it need not stand in the history or in what people copy. */
export function forgetKey() {
  const here = new URL(location.href);
  if (!here.searchParams.has("k")) return;
  here.searchParams.delete("k");
  history.replaceState(null, "", here);
}

/**
 * The viewer's name; a browser may refuse storage, then it lasts as long as the page.
 *
 * @type {{get: () => string, set: (name: string) => void}}
 */
export const kept = {
  get: () => {
    try {
      return localStorage.getItem("softirr-name") ?? "";
    } catch {
      return "";
    }
  },
  set: (name) => {
    try {
      localStorage.setItem("softirr-name", name);
    } catch {
      /* for this page only */
    }
  },
};
