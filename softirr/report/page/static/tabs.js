/**
 * Tabs, tables that fold and tables that sort, for the served page and for the file. Newer parts of the page may
 * replace them (report.js): then "softirr:replaced" has them set up again.
 */
(() => {
  const many = (value) => Number(value).toLocaleString("en");
  /** @type {(selector: string) => any[]} */
  const all = (selector) => [...document.querySelectorAll(selector)];
  const links = () => all(".tabs a");

  /** Show the sections of a tab and hide those of the others. */
  function show(tab) {
    document.body.dataset.tab = tab;
    for (const section of all("main > section[data-tab]")) {
      section.classList.toggle("shown", section.dataset.tab === tab);
    }
    for (const link of links()) {
      if (link.dataset.tab === tab) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  /** The tab of what the address names, else the present one, else the first. */
  function follow() {
    const target = document.getElementById(location.hash.slice(1));
    /** @type {HTMLElement} */
    const section = target?.closest("section[data-tab]");
    const tab = section?.dataset.tab;
    const first = links()[0]?.dataset.tab;
    if (!first) return;
    show(tab ?? document.body.dataset.tab ?? first);
    if (tab) target.scrollIntoView();
  }

  function start() {
    if (document.body.dataset.tab) show(document.body.dataset.tab);
    else follow();
    fold();
    sort();
  }

  function fold() {
    for (const table of all("table[data-more]:not([data-folds])")) {
      const rows = [...table.tBodies[0].rows];
      const first = Number(table.dataset.more);
      if (rows.length <= first + 2) continue;
      table.dataset.folds = "1";
      const button = document.createElement("button");
      button.type = "button";
      button.className = "more";
      const hide = (folded) => {
        rows.slice(first).forEach((row) => {
          row.hidden = folded;
        });
        button.textContent = folded ? `Show ${many(rows.length - first)} more` : "Show fewer";
        button.setAttribute("aria-expanded", String(!folded));
      };
      button.addEventListener("click", () => hide(button.getAttribute("aria-expanded") === "true"));
      hide(true);
      table.after(button);
    }
  }

  function sort() {
    for (const table of all("table.sortable:not([data-sorts])")) {
      table.dataset.sorts = "1";
      [...table.tHead.rows[0].cells].forEach((cell, column) => {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...cell.childNodes);
        cell.append(button);
        button.addEventListener("click", () => {
          const up = cell.getAttribute("aria-sort") === "descending";
          for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
          cell.setAttribute("aria-sort", up ? "ascending" : "descending");
          const value = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
          const rows = [...table.tBodies[0].rows].sort((a, b) => {
            const [x, y] = [value(a), value(b)];
            if (x === "" || y === "") return Number(x === "") - Number(y === "");
            const order =
              Number.isNaN(Number(x)) || Number.isNaN(Number(y)) ? x.localeCompare(y) : Number(x) - Number(y);
            return up ? order : -order;
          });
          table.tBodies[0].append(...rows);
        });
      });
    }
  }

  /** One menu is open at a time, and a click elsewhere closes it. */
  addEventListener("click", (event) => {
    for (const menu of all("details.menu[open]")) {
      if (!menu.contains(/** @type {Node} */ (event.target))) menu.removeAttribute("open");
    }
  });
  addEventListener("hashchange", follow);
  addEventListener("softirr:replaced", start);
  start();
})();
