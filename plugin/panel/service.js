/** Requests to the backend, and their problems in words. */

const UNREACHABLE = "the agreement service can’t be reached.";

/** A refusal; `asks` names what the person may choose to do. */
export class Refusal extends Error {
  /**
   * @param {string} sentence
   * @param {string | undefined} asks
   */
  constructor(sentence, asks) {
    super(sentence);
    this.asks = asks;
  }
}

/**
 * @param {object} options
 * @param {string} options.backend
 * @param {string} options.key
 * @param {RequestCredentials} options.credentials
 * @returns {(path: string, options?: RequestInit) => Promise<Response>} throws an error with a sentence
 */
export function service({ backend, key, credentials }) {
  return async (path, options = {}) => {
    const headers = { "X-Softirr-Key": key, ...options.headers };
    if (options.body) headers["Content-Type"] = "application/json";
    const response = await fetch(`${backend}${path}`, { cache: "no-store", credentials, ...options, headers });
    if (response.status !== 304 && !response.ok) {
      const body = await response.json().catch(() => ({}));
      throw new Refusal(body.message || body.error || `The agreement service answered ${response.status}.`, body.asks);
    }
    return response;
  };
}

/**
 * @param {Error} error
 * @param {string} [failed] what did not happen, such as "Not saved"
 */
export function problem(error, failed = "") {
  const words = error instanceof TypeError ? UNREACHABLE : error.message;
  return failed ? `${failed}: ${words}` : words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Links of an answer, which are relative to the backend, as addresses.
 *
 * @param {Record<string, string> | undefined} links
 * @param {string} backend
 */
export function absoluteLinks(links, backend) {
  const entries = Object.entries(links ?? {});
  return Object.fromEntries(entries.map(([name, link]) => [name, new URL(link, `${backend}/`).href]));
}
