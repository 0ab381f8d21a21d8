/**
 * Tables that fold and tables that sort, for the served page and for the file. Newer parts of the page may replace them
 * (report.js): then "softirr:replaced" sets them up again. Printing shows every row and opens every part.
 */
(() => {
  const formatted = (value) => Number(value).toLocaleString("en");
  /** @type {(selector: string) => any[]} */
  const all = (selector) => [...document.querySelectorAll(selector)];

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
        button.textContent = folded ? `Show ${formatted(rows.length - first)} more` : "Show fewer";
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
          for (const heading of table.tHead.rows[0].cells) heading.removeAttribute("aria-sort");
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
  addEventListener("beforeprint", () => {
    for (const details of all("main details:not([open])")) {
      details.open = true;
      details.dataset.printed = "1";
    }
  });
  addEventListener("afterprint", () => {
    for (const details of all("details[data-printed]")) {
      details.open = false;
      delete details.dataset.printed;
    }
  });
  const start = () => {
    fold();
    sort();
  };
  addEventListener("softirr:replaced", start);
  start();
})();
