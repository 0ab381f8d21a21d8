/**
 * What one page of the panel leaves for the next: to take the focus, and how to undo acts. A browser that stores
 * nothing for frames keeps it as long as the page stays.
 */
export const FOCUS = "softirr-focus";

const onThisPage = new Map();

/**
 * @param {string} name
 * @param {string} value
 */
export function store(name, value) {
  onThisPage.set(name, value);
  try {
    sessionStorage.setItem(name, value);
  } catch {
    // stored on this page only
  }
}

/** @param {string} name */
export function recall(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return onThisPage.get(name) ?? null;
  }
}

/** @param {string} name */
export function forget(name) {
  onThisPage.delete(name);
  try {
    sessionStorage.removeItem(name);
  } catch {
    // stored on this page only
  }
}

/** Milliseconds in which Label Studio may replace the frame that took the focus: it draws a task twice. */
const SETTLED = 1500;

/**
 * Take the focus that the panel of the task before had; a frame that is not visible yet can't.
 *
 * @param {HTMLElement} node the panel
 * @param {() => boolean} isEnded
 * @param {() => void} reveal scrolls to the panel
 */
export function takeFocus(node, isEnded, reveal, tries = 300) {
  const request = recall(FOCUS);
  if (isEnded() || !request) return;
  /** @type {HTMLElement} */ (node.querySelector(".sirr")).focus();
  if (node.contains(node.ownerDocument.activeElement) && node.offsetHeight) {
    setTimeout(() => recall(FOCUS) === request && forget(FOCUS), SETTLED);
    reveal();
  } else if (tries) setTimeout(() => takeFocus(node, isEnded, reveal, tries - 1), 16);
}
