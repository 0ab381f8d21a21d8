/** A number with its noun, for pages and for modules that need no page. */

/**
 * A number with what is counted: 1 task, 2 tasks.
 *
 * @param {number} n
 * @param {string} singular noun after 1
 * @param {string} [several] noun after every other number
 */
export const plural = (n, singular, several = `${singular}s`) =>
  `${Number(n).toLocaleString("en")} ${n === 1 ? singular : several}`;
