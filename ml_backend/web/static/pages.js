/** Requests, the key in the address and the viewer's name, for the report and the audit page. */

/** Address of the service: one folder above the page, also behind a proxy. */
export const base = new URL("..", location.href).href;

/**
 * An element of the page's template, or null if the page has none.
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

/** A refusal or failure of the service, with the sentence that it gives. */
class ServiceError extends Error {
  /**
   * @param {string} sentence
   * @param {number} status 0 if the service can't be reached
   */
  constructor(sentence, status) {
    super(sentence);
    /** Whether the same request may succeed later. */
    this.isTemporary = status === 0 || status === 429 || status >= 500;
  }
}

/**
 * Ask the service.
 *
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<any>} its JSON answer
 * @throws {ServiceError}
 */
async function call(path, options = {}) {
  const headers = options.body ? { "Content-Type": "application/json" } : {};
  let response;
  try {
    response = await fetch(`${base}${path}`, { cache: "no-store", credentials: "same-origin", headers, ...options });
  } catch {
    throw new ServiceError("The agreement service can’t be reached.", 0);
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw new ServiceError(answer.error || `The agreement service answered ${response.status}.`, response.status);
}

/** The project of the page. */
const { project } = document.body.dataset;

/**
 * @param {string} path
 * @param {Record<string, any>} [query] in addition to the project
 */
export const get = (path, query = {}) => call(`${path}?${new URLSearchParams({ project, ...query })}`);

/**
 * @param {string} path
 * @param {object} body in addition to the project
 */
export const post = (path, body) =>
  call(path, { method: "POST", body: JSON.stringify({ project: Number(project), ...body }) });

/**
 * @param {string} path
 * @param {Record<string, any>} [query] in addition to the project
 */
export const remove = (path, query = {}) =>
  call(`${path}?${new URLSearchParams({ project, ...query })}`, { method: "DELETE" });

/** The current version of this page; null if it is unavailable. */
export async function fetchPage() {
  const request = fetch(location.href, { cache: "no-store", credentials: "same-origin" });
  const text = await request.then((response) => (response.ok ? response.text() : null)).catch(() => null);
  return text === null ? null : new DOMParser().parseFromString(text, "text/html");
}

/** Remove the key from the address, so that people don't copy it: the page has it in a cookie. */
export function forgetKey() {
  const address = new URL(location.href);
  if (!address.searchParams.has("k")) return;
  address.searchParams.delete("k");
  history.replaceState(null, "", address);
}

/**
 * The viewer's name, stored by the browser if it allows that.
 *
 * @type {{get: () => string, set: (name: string) => void}}
 */
export const viewerName = {
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
      /* the browser refuses storage */
    }
  },
};
