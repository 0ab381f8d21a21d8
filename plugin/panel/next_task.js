/** The next task of the queue, opened in the same tab of the Data Manager. */
import { plural } from "./pieces.js";

/**
 * @typedef {{ task: number, link: string | null, left: number, isInTab: boolean }} NextTask
 */

/**
 * Ask which task follows the open task. A mark on the open task does not change the answer.
 *
 * @param {(path: string) => Promise<any>} send
 * @param {PanelPayload} payload
 * @param {string} address of Label Studio's page
 * @returns {Promise<NextTask>}
 */
export function findNext(send, payload, address) {
  const page = new URL(address);
  const tab = page.searchParams.get("tab");
  const query = new URLSearchParams({ project: String(payload.project.id), task: String(payload.task.id) });
  if (tab) query.set("tab", tab);
  const next = send(`/api/queue/next?${query}`).then(({ task, link, left }) => {
    if (!link) return { task, link, left, isInTab: false };
    // the address on the host under which the person is logged in
    const { pathname, search, searchParams } = new URL(link);
    return { task, link: new URL(`${pathname}${search}`, page).href, left, isInTab: searchParams.get("tab") === tab };
  });
  next.catch(() => {}); // the caller may not get to it
  return next;
}

/**
 * Open a task: without loading the page if its list has the task, otherwise by its address. Both end the panel's frame.
 *
 * @param {HTMLElement} node
 * @param {NextTask} next
 * @param {((task: number) => Promise<boolean>) | null} openTask
 */
export async function openNext(node, { task, link, isInTab }, openTask) {
  if (openTask && isInTab && (await openTask(task))) return;
  try {
    node.ownerDocument.defaultView.top.location.href = link;
  } catch {
    throw new Error(`Open the next task yourself: ${link}`);
  }
}

/**
 * Sentence for the end of the list.
 *
 * @param {NextTask} queue
 */
export function endOfList({ left }) {
  if (!left) return "Every task is done.";
  return `This is the end of the list; ${plural(left, "task")} before it ${left === 1 ? "is" : "are"} open.`;
}
