/** What the panel is made of: elements, texts of people, numbers as they read. */

const STEPS = 10;

/** `h(tag, attributes, ...children)` makes an element; children that are strings become text, never markup. */
export function builder(document) {
  return function h(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (value === true) node.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, String(value));
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
}

export function bar(h, value, label) {
  const inside = h("span", { class: "sirr-bar-inside" });
  inside.style.setProperty("inline-size", `${100 * Math.min(1, Math.max(0, value))}%`);
  const attributes = label
    ? { class: "sirr-bar", role: "meter", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": "1", "aria-valuenow": number(value) }
    : { class: "sirr-bar", "aria-hidden": "true" };
  return h("span", attributes, inside);
}

/** A text of an annotator: its own direction, kept apart from what stands around it. */
export function written(h, text) {
  return text === "" ? h("span", { class: "sirr-quiet" }, "(empty)") : h("bdi", { class: "sirr-text", dir: "auto" }, text);
}

export function isolated(h, text) {
  return h("bdi", {}, text);
}

/** Concepts of a text or a match by the project's terminologies, the surest first; null where there are none. */
export function codes(h, found, most = 3) {
  if (!found?.length) return null;
  const entry = (code) =>
    h("li", { "data-code": code.id, title: `${code.terminology}: ${code.name}, ${code.how}` }, isolated(h, code.id), " ", isolated(h, code.name), code.score < 0.995 ? h("span", { class: "sirr-quiet" }, ` ${number(code.score)}`) : null);
  return h("ul", { class: "sirr-codes", "aria-label": "Codes" }, ...found.slice(0, most).map(entry));
}

export function joined(h, words) {
  return words.flatMap((word, index) => (index ? ["; ", isolated(h, word)] : [isolated(h, word)]));
}

/** Initials, made longer until they differ. */
export function labels(names) {
  const make = (name, length) => {
    const words = name.trim().split(/[\s@._-]+/u).filter(Boolean);
    const first = Array.from(words[0] ?? "?").slice(0, length).join("");
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

export function shade(value) {
  return Math.min(STEPS, Math.max(0, Math.round(value * STEPS)));
}

export function number(value) {
  const text = Number(value).toFixed(2);
  return Number(text) === 0 ? "0.00" : text.replace("-", "−");
}

export function count(value) {
  return Number(value).toLocaleString("en");
}

export function ordinal(value) {
  const last = value % 100;
  const suffix = last >= 11 && last <= 13 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[value % 10] ?? "th";
  return `${count(value)}${suffix}`;
}

export function day(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? String(iso) : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

export function safe(address) {
  try {
    const url = new URL(address, globalThis.location?.href ?? "http://localhost/");
    return ["http:", "https:"].includes(url.protocol) ? url.href : "about:blank";
  } catch {
    return "about:blank";
  }
}
