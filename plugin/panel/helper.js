/**
 * Script of a hidden frame of Label Studio's own origin, beside the panel's frame. It answers the panel's frame only,
 * and does for it what a page of another origin can't: it shows the panel, sets the frame's height, offers a link to it
 * as the first element of the page, selects a region, opens a task of Label Studio's list as a click on its row does,
 * after loading the next page of the list if the task may be there, and passes Label Studio's dark mode on. A panel of
 * Label Studio's own origin loads it itself.
 * `softirr-ls connect` puts it into the label config as one line without this comment, so it has no other comment,
 * and no dollar sign, after which Label Studio expects a field of the task's data.
 */
(() => {
  const page = /** @type {any} */ (window.parent);
  const { document } = page;
  let isWatching = false;

  const frames = () => [...document.querySelectorAll(".softirr-agreement iframe[src]")];

  const goToPanel = (event) => {
    if (event.type === "keydown" && event.key !== "Enter") return;
    const frame = frames().find((candidate) => candidate.offsetHeight);
    event.preventDefault();
    event.stopPropagation();
    frame?.scrollIntoView({ block: "nearest" });
    frame?.focus();
    frame?.contentWindow.postMessage({ softirrFocus: true }, "*");
  };

  const addSkipLink = () => {
    const link = document.createElement("a");
    link.id = "softirr-skip";
    link.textContent = "Go to the agreement panel";
    link.href = "#softirr";
    link.style.cssText =
      "position:fixed;z-index:9999;top:8px;left:-999px;padding:8px;background:#fff;color:#1c1d21;border:2px solid";
    link.onfocus = () => (link.style.left = "8px");
    link.onblur = () => (link.style.left = "-999px");
    link.onclick = goToPanel;
    link.onkeydown = goToPanel;
    document.body.prepend(link);
    return link;
  };

  const show = (frame, isShown) => {
    frame.closest(".softirr-agreement").style.display = isShown ? "block" : "none";
    (document.getElementById("softirr-skip") || addSkipLink()).hidden = !isShown;
  };

  const fit = (frame, height, reply) => {
    const root = document.documentElement;
    const sendTheme = () => reply({ softirrTheme: root.dataset.colorScheme || "" });
    const sendHidden = () => {
      if (!frame.isConnected) return document.removeEventListener("scroll", sendHidden, true);
      const bar = document.querySelector(".lsf-bottombar")?.getBoundingClientRect().top ?? Infinity;
      const hidden = frame.getBoundingClientRect().bottom - Math.min(bar, page.innerHeight);
      return reply({ softirrHidden: Math.max(0, hidden) });
    };
    frame.style.height = height + "px";
    sendTheme();
    sendHidden();
    if (isWatching) return;
    isWatching = true;
    new MutationObserver(sendTheme).observe(root, { attributeFilter: ["data-color-scheme"] });
    document.addEventListener("scroll", sendHidden, true);
  };

  const selectRegion = ({ annotation, region }) => {
    const store = page.Htx?.annotationStore;
    const owner = store?.annotations.find((candidate) => String(candidate.pk) === String(annotation));
    if (!owner) return;
    if (store.selected !== owner) store.selectAnnotation(owner.id);
    let tries = 0;
    const select = () => {
      const area = owner.regionStore.regions.find((candidate) => candidate.cleanId === region);
      tries += 1;
      if (area) owner.selectArea(area);
      else if (tries < 40) page.setTimeout(select, 100);
    };
    select();
  };

  const openTask = async (task, reply) => {
    const list = page.dataManager?.store;
    const find = () => list?.taskStore.list.find(({ id, isSelected }) => String(id) === String(task) && !isSelected);
    if (list?.taskStore.hasNextPage && !find()) await list.taskStore.fetch({ interaction: "scroll" });
    const row = find();
    reply({ softirrTask: row ? "opening" : "no" });
    if (!row) return;
    const isOpen = () => new URL(page.location.href).searchParams.get("task") === String(task);
    list.startLabeling(row);
    page.setTimeout(() => isOpen() || reply({ softirrTask: "no" }), 8000);
  };

  window.onmessage = (event) => {
    const request = event.data || {};
    const frame = frames().find((candidate) => candidate.contentWindow === event.source);
    if (!frame || new URL(frame.src).origin !== event.origin) return;
    const reply = (message) => event.source.postMessage(message, { targetOrigin: event.origin });
    if (request.softirrShow !== undefined) show(frame, request.softirrShow);
    if (request.softirrHeight > 0) fit(frame, request.softirrHeight, reply);
    if (request.softirrReveal && frame.offsetHeight) frame.scrollIntoView({ block: "nearest" });
    if (frame.parentNode !== window.frameElement.parentNode) return;
    if (request.softirrRegion) selectRegion(request.softirrRegion);
    if (request.softirrTask > 0) openTask(request.softirrTask, reply);
  };
})();
