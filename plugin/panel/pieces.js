/** What the panel is made of: elements, buttons, texts of people, numbers as they read. */

const STEPS = 10;

/** Characters from which a text is cut until somebody opens it. */
const LONG = 200;

/**
 * All elements below a node that a selector matches.
 *
 * @param {ParentNode} node
 * @param {string} selector
 * @returns {any[]} of the types that the panel gives them
 */
export function every(node, selector) {
  return [...node.querySelectorAll(selector)];
}

/**
 * `h(tag, attributes, ...children)` makes an element; children that are strings become text, never markup.
 *
 * @param {Document} document
 * @returns {PanelBuilder}
 */
export function builder(document) {
  return function h(tag, attributes, ...children) {
    const node = /** @type {ReturnType<PanelBuilder>} */ (document.createElement(tag));
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (value === true) node.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, String(value));
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
}

/**
 * A button that calls `act`; `keep` names it, so that an update gives it the focus back.
 *
 * @param {PanelBuilder} h
 * @param {string} keep
 * @param {PanelChild} label
 * @param {() => void} act
 * @param {Record<string, unknown> & { key?: string }} [more] attributes; `key` is the key that presses it
 */
export function press(h, keep, label, act, { key, ...more } = {}) {
  const keyed = key ? { "aria-keyshortcuts": key, title: `Key: ${key}` } : {};
  const button = h("button", { type: "button", "data-keep": keep, ...keyed, ...more }, label);
  button.addEventListener("click", act);
  return button;
}

/**
 * Something that opens; `keep` names it, so that an update leaves it open and gives it the focus back.
 *
 * @param {PanelBuilder} h
 * @param {string} keep
 * @param {string | PanelChild[]} words what is shown when it is closed, too
 * @param {Record<string, unknown>} attributes
 * @param {...PanelChild} inside
 */
export function fold(h, keep, words, attributes, ...inside) {
  const summary = h("summary", { "data-keep": keep }, ...[words].flat());
  return h("details", { ...attributes, "data-fold": keep }, summary, ...inside);
}

/**
 * A sign for the eye, and the words for it that are read aloud.
 *
 * @param {PanelBuilder} h
 * @param {string} shown
 * @param {string} words
 * @param {string | null} [look] class of the sign
 */
export function sign(h, shown, words, look = null) {
  return [h("span", { class: look, "aria-hidden": "true" }, shown), h("span", { class: "sirr-hidden" }, words)];
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
 * `node` with a text of an annotator: cut after some lines where it is long, with a button that opens it.
 *
 * @param {PanelBuilder} h
 * @param {HTMLElement} node
 * @param {string} text
 * @param {string} keep
 * @returns {HTMLElement[]}
 */
export function openable(h, node, text, keep) {
  if (text.length <= LONG) return [node];
  node.classList.add("sirr-cut");
  const words = [`Show all ${count(text.length)} characters`, "Show less"];
  const button = press(
    h,
    `more-${keep}`,
    words[0],
    () => {
      const open = !node.classList.toggle("sirr-cut");
      button.setAttribute("aria-expanded", String(open));
      button.textContent = words[Number(open)];
    },
    { class: "sirr-small sirr-more", "aria-expanded": "false" },
  );
  return [node, button];
}

/**
 * @param {PanelBuilder} h
 * @param {number} value
 * @param {string | null} label
 */
export function bar(h, value, label) {
  const inside = h("span", { class: "sirr-bar-inside" });
  inside.style.setProperty("inline-size", `${100 * Math.min(1, Math.max(0, value))}%`);
  const attributes = label
    ? {
        class: "sirr-bar",
        role: "meter",
        "aria-label": label,
        "aria-valuemin": "0",
        "aria-valuemax": "1",
        "aria-valuenow": number(value),
      }
    : { class: "sirr-bar", "aria-hidden": "true" };
  return h("span", attributes, inside);
}

/**
 * A text of an annotator: its direction is its own and does not affect the words around it.
 *
 * @param {PanelBuilder} h
 * @param {string} text
 */
export function written(h, text) {
  return text === ""
    ? h("span", { class: "sirr-quiet" }, "(empty)")
    : h("bdi", { class: "sirr-text", dir: "auto" }, text);
}

/**
 * @param {PanelBuilder} h
 * @param {string} text
 */
export function isolated(h, text) {
  return h("bdi", {}, text);
}

/**
 * @param {PanelBuilder} h
 * @param {string[]} words
 */
export function joined(h, words) {
  return words.flatMap((word, index) => (index ? ["; ", isolated(h, word)] : [isolated(h, word)]));
}

/**
 * Initials, made longer until they differ.
 *
 * @param {string[]} names
 */
export function labels(names) {
  const make = (name, length) => {
    const [, letter] = length === 1 ? (/^Annotator (\S{1,3})$/u.exec(name) ?? []) : [];
    if (letter) return letter;
    const words = name
      .trim()
      .split(/[\s@._-]+/u)
      .filter(Boolean);
    const first = Array.from(words[0] ?? "?")
      .slice(0, length)
      .join("");
    const last = words.length > 1 && !name.includes("@") ? Array.from(words[words.length - 1])[0] : "";
    return `${first}${last}`;
  };
  return names.map((name) => {
    for (let length = 1; length < 8; length += 1) {
      const label = make(name, length);
      if (names.filter((other) => make(other, length) === label).length === 1) return label;
    }
    return name.slice(0, 10);
  });
}

/** @param {number} value */
export function shade(value) {
  return Math.min(STEPS, Math.max(0, Math.round(value * STEPS)));
}

/**
 * A number with two digits by the rule of softirr/numbers.py: the minus sign, no sign where it rounds to zero, and the
 * even digit where it lies in the middle of two, as in Python.
 *
 * @param {number} value
 */
export function number(value) {
  const size = Math.abs(value);
  const text = ((size * 8) % 4 === 1 ? Math.floor(size * 100) / 100 : size).toFixed(2);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** @param {number} value */
export function count(value) {
  return Number(value).toLocaleString("en");
}

/** @param {number} value */
export function ordinal(value) {
  const last = value % 100;
  const suffix = last >= 11 && last <= 13 ? "th" : ({ 1: "st", 2: "nd", 3: "rd" }[value % 10] ?? "th");
  return `${count(value)}${suffix}`;
}

/** @param {string} iso */
export function day(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime())
    ? String(iso)
    : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** @param {string} address */
export function safe(address) {
  try {
    const url = new URL(address, globalThis.location?.href ?? "http://localhost/");
    return ["http:", "https:"].includes(url.protocol) ? url.href : "about:blank";
  } catch {
    return "about:blank";
  }
}
