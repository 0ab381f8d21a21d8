/**
 * Script of a hidden frame of Label Studio's own origin, beside the panel's frame. It answers the panel's frame only,
 * and does for it what a page of another origin can't: it shows the panel, sets the frame's height, offers a link to it
 * as the first element of the page, selects a region, opens a task of Label Studio's list as a click on its row does,
 * and passes Label Studio's dark mode on. A panel of Label Studio's own origin loads it itself.
 * `softirr-ls connect` puts it into the label config as one line without this comment, so it has no other comment,
 * and no dollar sign, after which Label Studio expects a field of the task's data.
 */
window.onmessage = (event) => {
  const asked = event.data || {};
  const { document, Htx, dataManager } = window.parent;
  const store = Htx?.annotationStore;
  const frames = () => [...document.querySelectorAll(".softirr-agreement iframe[src]")];
  const frame = /** @type {HTMLIFrameElement} */ (frames().find((one) => one["contentWindow"] === event.source));
  if (!frame || new URL(frame.src).origin !== event.origin) return;
  const reply = (message) => event.source.postMessage(message, { targetOrigin: event.origin });
  if (asked.softirrShow !== undefined) {
    const box = /** @type {HTMLElement} */ (frame.closest(".softirr-agreement"));
    box.style.display = asked.softirrShow ? "block" : "none";
    let link = document.getElementById("softirr-skip");
    if (!link) {
      link = document.createElement("a");
      link.id = "softirr-skip";
      link.textContent = "Go to the agreement panel";
      link.setAttribute("href", "#softirr");
      link.style.cssText =
        "position:fixed;z-index:9999;top:8px;left:-999px;padding:8px;background:#fff;color:#1c1d21;border:2px solid";
      link.onfocus = () => (link.style.left = "8px");
      link.onblur = () => (link.style.left = "-999px");
      const go = (pressed) => {
        if (pressed.type === "keydown" && pressed.key !== "Enter") return;
        const target = /** @type {HTMLIFrameElement} */ (frames().find((one) => one["offsetHeight"]));
        pressed.preventDefault();
        pressed.stopPropagation();
        target?.scrollIntoView({ block: "nearest" });
        target?.focus();
        target?.contentWindow.postMessage({ softirrFocus: true }, "*");
      };
      link.onclick = go;
      link.onkeydown = go;
      document.body.prepend(link);
    }
    link.hidden = !asked.softirrShow;
  }
  if (asked.softirrHeight > 0) {
    frame.style.height = asked.softirrHeight + "px";
    const root = document.documentElement;
    const theme = () => reply({ softirrTheme: root.dataset.colorScheme || "" });
    const measure = () => {
      if (!frame.isConnected) return document.removeEventListener("scroll", measure, true);
      const bar = document.querySelector(".lsf-bottombar")?.getBoundingClientRect().top ?? Infinity;
      const hidden = frame.getBoundingClientRect().bottom - Math.min(bar, window.parent.innerHeight);
      return reply({ softirrHidden: Math.max(0, hidden) });
    };
    theme();
    measure();
    if (!window.name) {
      new MutationObserver(theme).observe(root, { attributeFilter: ["data-color-scheme"] });
      document.addEventListener("scroll", measure, true);
    }
    window.name = "watches Label Studio's page";
  }
  if (frame.parentNode !== window.frameElement.parentNode) return;
  if (asked.softirrRegion) {
    const { annotation, region } = asked.softirrRegion;
    const owner = store?.annotations.find((one) => String(one.pk) === String(annotation));
    let tries = 0;
    const select = () => {
      const area = owner.regionStore.regions.find((one) => one.cleanId === region);
      tries += 1;
      if (area) owner.selectArea(area);
      else if (tries < 40) window.parent.setTimeout(select, 100);
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
