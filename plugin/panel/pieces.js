/** Building blocks of the panel: elements, buttons, and texts that people wrote. */

/** Number of characters above which a text is shortened until somebody opens it. */
const LONG_TEXT = 200;

/**
 * All elements below a node that a selector matches.
 *
 * @param {ParentNode} node
 * @param {string} selector
 * @returns {any[]}
 */
export function elements(node, selector) {
  return [...node.querySelectorAll(selector)];
}

/**
 * Return `h(tag, attributes, ...children)`, which makes an element; strings become text, never markup.
 *
 * @param {Document} document
 * @returns {PanelBuilder}
 */
export function builder(document) {
  return function h(tag, attributes, ...children) {
    const node = /** @type {any} */ (document.createElement(tag));
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (key.startsWith("aria-") && value !== null && value !== undefined) node.setAttribute(key, String(value));
      else if (value === true) node.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, String(value));
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
  };
}

/**
 * Make a button. An update of the panel gives the focus back to the button with the same `id`.
 *
 * @param {PanelBuilder} h
 * @param {string} id
 * @param {any} label
 * @param {() => void} act
 * @param {Record<string, unknown>} [attributes]
 */
export function button(h, id, label, act, attributes = {}) {
  const element = h("button", { type: "button", "data-id": id, ...attributes }, label);
  element.addEventListener("click", act);
  return element;
}

/**
 * A text that an annotator wrote; its direction does not affect the words around it.
 *
 * @param {PanelBuilder} h
 * @param {string} text
 */
export function annotatorText(h, text) {
  return h("bdi", { class: "sirr-text", dir: "auto" }, text);
}

/**
 * A name in a sentence.
 *
 * @param {PanelBuilder} h
 * @param {string} name
 */
export function isolated(h, name) {
  return h("bdi", {}, name);
}

/**
 * A text inside an attribute, where no element can isolate its direction.
 *
 * @param {string} text
 */
export function inline(text) {
  return `\u2068${text.replace(/[\u2066-\u2069\u202a-\u202e]/gu, "")}\u2069`;
}

/**
 * Return `node` shortened to some lines if its text is long, with a button that opens it.
 *
 * @param {PanelBuilder} h
 * @param {HTMLElement} node
 * @param {string} text
 * @param {string} id
 */
export function shortened(h, node, text, id) {
  if (text.length <= LONG_TEXT) return [node];
  node.classList.add("sirr-cut");
  const labels = [`Show all ${text.length.toLocaleString("en")} characters`, "Show less"];
  const more = button(
    h,
    `more-${id}`,
    labels[0],
    () => {
      const isOpen = !node.classList.toggle("sirr-cut");
      more.setAttribute("aria-expanded", String(isOpen));
      more.textContent = labels[Number(isOpen)];
    },
    { class: "sirr-more", "aria-expanded": "false" },
  );
  return [node, more];
}

/**
 * Format a number with two decimals by the rule of softirr/numbers.py: a minus sign, no sign if it rounds to zero, and
 * the even digit for a value in the middle of two, as in Python.
 *
 * @param {number} value
 */
export function number(value) {
  const size = Math.abs(value);
  const text = ((size * 8) % 4 === 1 ? Math.floor(size * 100) / 100 : size).toFixed(2);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/**
 * @param {number} n
 * @param {string} noun
 */
export function plural(n, noun) {
  return `${n.toLocaleString("en")} ${n === 1 ? noun : `${noun}s`}`;
}

/** @param {string} iso */
export function day(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime())
    ? String(iso)
    : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/**
 * Return an address only if it is an HTTP address.
 *
 * @param {string} address
 */
export function safe(address) {
  try {
    const url = new URL(address, globalThis.location?.href ?? "http://localhost/");
    return ["http:", "https:"].includes(url.protocol) ? url.href : "about:blank";
  } catch {
    return "about:blank";
  }
}
