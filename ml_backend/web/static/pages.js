/** What the report and the audit page have in common: asking the service, the key, the viewer's name. */

/** Where the service is: the pages stand one folder below it, whatever a proxy put before. */
export const base = new URL("..", location.href).href;

/** Ask the service; its JSON answer, or an error with the sentence that it gives. */
export async function call(path, options = {}) {
  const headers = options.body ? { "Content-Type": "application/json" } : {};
  let response;
  try {
    response = await fetch(`${base}${path}`, { cache: "no-store", credentials: "same-origin", headers, ...options });
  } catch {
    throw new Error("The agreement service can’t be reached.");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error || `The agreement service answered ${response.status}.`);
  return answer;
}

/** The key came in the address and is in a cookie now: it need not stand in the history or in what people copy. */
export function forgetKey() {
  const here = new URL(location.href);
  if (!here.searchParams.has("k")) return;
  here.searchParams.delete("k");
  history.replaceState(null, "", here);
}

/** The viewer's name; a browser may refuse storage, then it lasts as long as the page. */
export const kept = {
  get: () => { try { return localStorage.getItem("softirr-name") ?? ""; } catch { return ""; } },
  set: (name) => { try { localStorage.setItem("softirr-name", name); } catch { /* for this page only */ } },
};
