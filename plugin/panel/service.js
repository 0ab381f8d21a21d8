/** Requests to the backend, and what went wrong with one in words. */

const AWAY = "the agreement service can’t be reached.";

/**
 * @param {object} options
 * @param {string} options.backend
 * @param {string} options.key
 * @param {RequestCredentials} options.credentials
 * @returns {(path: string, options?: RequestInit) => Promise<Response>} which throws an error with a sentence
 */
export function service({ backend, key, credentials }) {
  return async (path, options = {}) => {
    const response = await fetch(`${backend}${path}`, {
      cache: "no-store",
      credentials,
      ...options,
      headers: {
        "X-Softirr-Key": key,
        ...(options.body ? { "Content-Type": "application/json" } : {}),
        ...options.headers,
      },
    });
    if (response.status !== 304 && !response.ok) {
      const body = await response.json().catch(() => ({}));
      throw new Error(body.message || body.error || `The agreement service answered ${response.status}.`);
    }
    return response;
  };
}

/**
 * @param {Error} error
 * @param {string} [failed] what did not happen: "Not saved"
 */
export function problem(error, failed = "") {
  const words = error instanceof TypeError ? AWAY : error.message;
  return failed ? `${failed}: ${words}` : words.charAt(0).toUpperCase() + words.slice(1);
}
