/**
 * Script of a hidden frame of Label Studio's own origin, beside the panel's frame. It answers the panel's frame only,
 * and does for it what a page of another origin can't: it sets the frame's height, opens the viewer's own draft in the
 * form, selects a region, opens a task of Label Studio's list as a click on its row does, and passes Label Studio's
 * dark switch on. A panel of Label Studio's own origin loads it itself and needs no hidden frame.
 * `softirr-ls connect` puts it into the label config as one line without this comment, so it has no other comment,
 * and no dollar sign, after which Label Studio expects a field of the task's data.
 */
window.onmessage = (event) => {
  const asked = event.data || {};
  const { document, Htx, dataManager } = window.parent;
  const store = Htx?.annotationStore;
  const frames = [...document.querySelectorAll(".softirr-agreement iframe[src]")];
  const frame = /** @type {HTMLIFrameElement} */ (frames.find((one) => one["contentWindow"] === event.source));
  if (!frame || new URL(frame.src).origin !== event.origin) return;
  const reply = (message) => event.source.postMessage(message, { targetOrigin: event.origin });
  if (asked.softirrHeight > 0) {
    frame.style.height = Math.min(asked.softirrHeight, window.parent.innerHeight) + "px";
    const root = document.documentElement;
    const theme = () => reply({ softirrTheme: root.dataset.colorScheme || "" });
    theme();
    if (!window.name) new MutationObserver(theme).observe(root, { attributeFilter: ["data-color-scheme"] });
    window.name = "watches Label Studio's switch";
  }
  if (asked.softirrDraft) {
    const draft = store?.annotations.find((one) => !one.pk && String(one.draftId) === String(asked.softirrDraft));
    if (draft) {
      reply({ softirrDraft: "open" });
      setTimeout(() => store.selectAnnotation(draft.id), 100);
    }
  }
  if (frame.parentNode !== window.frameElement.parentNode) return;
  if (asked.softirrRegion) {
    const { annotation, region } = asked.softirrRegion;
    const owner = store?.annotations.find((one) => String(one.pk) === String(annotation));
    let turns = 0;
    const select = () => {
      const place = owner.regionStore.regions.find((one) => one.cleanId === region);
      turns += 1;
      if (place) owner.selectArea(place);
      else if (turns < 40) window.parent.setTimeout(select, 100);
    };
    if (owner && store.selected !== owner) store.selectAnnotation(owner.id);
    if (owner) select();
  }
  if (asked.softirrTask > 0) {
    const list = dataManager?.store;
    const row = list?.taskStore.list.find((one) => String(one.id) === String(asked.softirrTask) && !one.isSelected);
    reply({ softirrTask: row ? "open" : "no" });
    if (row) list.startLabeling(row);
  }
};
