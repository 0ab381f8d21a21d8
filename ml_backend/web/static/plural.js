/** A number with its noun, for pages and for modules that need no page. */

/**
 * A number with what is counted: 1 task, 2 tasks.
 *
 * @param {number} n
 * @param {string} one what follows 1
 * @param {string} [many] what follows every other number
 */
export const plural = (n, one, many = `${one}s`) => `${Number(n).toLocaleString("en")} ${n === 1 ? one : many}`;
