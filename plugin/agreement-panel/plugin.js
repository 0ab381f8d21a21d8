/**
 * Agreement panel: shows reviewers how far the annotators of the open task agree in meaning, which of their texts
 * match, and why.
 *
 * It asks a softirr backend (`softirr-ls serve`) and draws the answer into <View idAttr="agreement-panel"/>. It
 * stays neutral where annotators label, so that nobody sees other people's answers before giving their own.
 *
 * To set up: put in the backend's address, as browsers reach it, and the project's panel key. `softirr-ls connect`
 * writes both into the label config of the Community edition, as .../panel?k=KEY.
 */
const BACKEND = "https://agreement.example.org";
const KEY = "KEY";

const node = document.getElementById("agreement-panel");
if (node && !node.dataset.following) {
  node.dataset.following = "1";
  const sheet = document.createElement("link");
  sheet.rel = "stylesheet";
  sheet.href = `${BACKEND}/panel/static/current/panel.css`;
  document.head.append(sheet);

  try {
    const { follow } = await import(`${BACKEND}/panel/static/current/panel.js`);
    const { openRegion } = await import(`${BACKEND}/panel/static/current/studio.js`);
    const stop = follow(node, {
      backend: BACKEND,
      key: KEY,
      credentials: "include", // Label Studio's login, or a personal link, says who asks
      openRegion: (annotation, region) => openRegion(window.Htx?.annotationStore, annotation, region),
      locate() {
        const page = new URL(window.location.href);
        return {
          project: page.pathname.match(/\/projects\/(\d+)(?:\/|$)/)?.[1],
          task: LSI.task ? String(LSI.task.id) : undefined,
          // only the Data Manager names the task in its address; everywhere else someone may be about to answer
          labeling: page.searchParams.get("labeling") === "1" || !page.searchParams.has("task"),
          door: "plugin",
        };
      },
    });
    // Label Studio draws the form anew for each annotation: then another panel follows
    const watch = setInterval(() => {
      if (!node.isConnected) {
        clearInterval(watch);
        stop();
      }
    }, 1000);
  } catch {
    node.textContent = "Agreement can’t be shown: its service can’t be reached. Your work is not affected.";
  }
}
