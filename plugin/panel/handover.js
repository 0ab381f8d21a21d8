/**
 * What one page asks of the next. A browser that keeps nothing for frames loses only the convenience; `U` then works as
 * long as the page stays.
 */

/** What the panel of the page before asks of this one: to take the focus, or to open a draft. */
export const FOCUS = "softirr-focus";

export const DRAFT = "softirr-draft";

const here = new Map();

/**
 * @param {string} name
 * @param {string} value
 */
export function keep(name, value) {
  here.set(name, value);
  try {
    sessionStorage.setItem(name, value);
  } catch {
    // kept here only
  }
}

/** @param {string} name */
export function recall(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return here.get(name) ?? null;
  }
}

/** @param {string} name */
export function forget(name) {
  here.delete(name);
  try {
    sessionStorage.removeItem(name);
  } catch {
    // kept here only
  }
}
