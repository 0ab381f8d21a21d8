/* The report's charts, by ECharts, from the data block of the page. Tooltips are drawn, not HTML: no text of a person becomes markup.
   What they are drawn into may be replaced by newer parts of the page (report.js): then "softirr:replaced" has everything drawn again. */
(() => {
  const block = document.getElementById("charts");
  if (!block || !globalThis.echarts) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const drawn = [];
  let target = null;
  let item = "item"; // what the page calls one

  const two = (value) => Number(value).toFixed(2);
  const many = (value) => Number(value).toLocaleString("en");
  const counted = (n) => `${many(n)} ${n === 1 ? item : `${item}s`}`;
  const share = (value) => `${(100 * value).toFixed(1)} %`;

  function colors() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    return { ink: of("ink"), quiet: of("quiet"), line: of("line"), paper: of("paper"), soft: of("soft"), same: of("same"), chance: of("chance") };
  }

  function base(c) {
    const text = { color: c.quiet, fontFamily: getComputedStyle(document.body).fontFamily, fontSize: 12 };
    const axis = { axisLine: { lineStyle: { color: c.line } }, axisTick: { show: false }, axisLabel: text, nameTextStyle: text, splitLine: { lineStyle: { color: c.line } } };
    return {
      animation: !still,
      textStyle: text,
      grid: { left: 52, right: 24, top: 30, bottom: 40 },
      tooltip: { renderMode: "richText", confine: true, backgroundColor: c.paper, borderColor: c.line, textStyle: { ...text, color: c.ink } },
      axis,
      text,
    };
  }

  /** A point with its interval, as a custom series: [x, low, high, value]. */
  function whiskers(color, { flat = false } = {}) {
    return (params, api) => {
      const at = (value) => (flat ? api.coord([value, api.value(0)]) : api.coord([api.value(0), value]));
      const [low, high, middle] = [at(api.value(1)), at(api.value(2)), at(api.value(3))];
      const cap = flat ? [0, 5] : [5, 0];
      const line = (a, b) => ({ type: "line", shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }, style: { stroke: color, lineWidth: 1.5 } });
      const ends = [low, high].map((p) => line([p[0] - cap[0], p[1] - cap[1]], [p[0] + cap[0], p[1] + cap[1]]));
      return { type: "group", children: [line(low, high), ...ends, { type: "circle", shape: { cx: middle[0], cy: middle[1], r: 4.5 }, style: { fill: color } }] };
    };
  }

  /** The project's target as a dashed line with its name, where there is one. */
  function targetLine(c, b, axis, value, label) {
    if (value === null || value === undefined) return {};
    return {
      markLine: {
        silent: true, symbol: "none", animation: false, lineStyle: { color: c.chance, type: "dashed", width: 1.5 },
        label: { ...b.text, color: c.ink, formatter: label, position: axis === "yAxis" ? "insideStartTop" : "end" }, data: [{ [axis]: value }],
      },
    };
  }

  function grouped(rows, name) {
    return (c, b) => ({
      ...b,
      xAxis: { ...b.axis, type: "category", data: rows.map((row) => row.label), splitLine: { show: false }, axisLabel: { ...b.text, hideOverlap: true } },
      yAxis: { ...b.axis, type: "value", min: 0, max: 1, name, nameLocation: "end", nameTextStyle: { ...b.text, align: "left" } },
      tooltip: { ...b.tooltip, trigger: "item", formatter: (p) => told(rows[p.dataIndex]) },
      series: [
        { type: "line", data: rows.map((row) => row.agreement), symbol: "none", lineStyle: { color: c.line, width: 2 }, silent: true, tooltip: { show: false }, z: 1, ...targetLine(c, b, "yAxis", target?.observed, `target ${two(target?.value ?? 0)}: mean ${two(target?.observed ?? 0)}`) },
        {
          type: "custom",
          z: 3,
          data: rows.map((row, i) => [i, ...(row.ci95 ?? [row.agreement, row.agreement]), row.agreement]),
          encode: { x: 0, y: [1, 2] },
          renderItem: whiskers(c.same),
        },
      ],
      links: rows.map((row) => row.link),
    });
  }

  function told(row) {
    const interval = row.ci95 ? `\n95% interval ${two(row.ci95[0])} to ${two(row.ci95[1])}` : "";
    return `${row.label}\n${two(row.agreement)}${interval}\n${counted(row.n)}`;
  }

  const charts = {
    coefficients(rows) {
      const shown = rows.filter((row) => row.value !== null).reverse();
      if (!shown.length) return null;
      const low = Math.min(0, ...shown.map((row) => (row.ci95 ? row.ci95[0] : row.value)));
      return (c, b) => ({
        ...b,
        height: 40 + 30 * shown.length,
        grid: { ...b.grid, left: 150, top: target ? 24 : 8, bottom: 28 },
        xAxis: { ...b.axis, type: "value", min: Math.floor(low * 5) / 5, max: 1 },
        yAxis: { ...b.axis, type: "category", data: shown.map((row) => row.name), axisLabel: { ...b.text, color: c.ink } },
        tooltip: {
          ...b.tooltip,
          formatter: (p) => {
            const row = shown[p.dataIndex];
            return `${row.name} ${two(row.value)}${row.ci95 ? `\n95% interval ${two(row.ci95[0])} to ${two(row.ci95[1])}` : ""}`;
          },
        },
        series: [
          {
            type: "custom",
            data: shown.map((row, i) => [i, ...(row.ci95 ?? [row.value, row.value]), row.value]),
            encode: { x: [1, 2], y: 0 },
            renderItem: whiskers(c.same, { flat: true }),
            ...targetLine(c, b, "xAxis", target?.value, `target ${two(target?.value ?? 0)}`),
          },
        ],
      });
    },

    histogram(bins) {
      return (c, b) => ({
        ...b,
        xAxis: { ...b.axis, type: "category", data: bins.map((bin) => `${bin.low.toFixed(1)} to ${bin.high.toFixed(1)}`), splitLine: { show: false } },
        yAxis: { ...b.axis, type: "value", name: `${item}s`, minInterval: 1 },
        tooltip: { ...b.tooltip, formatter: (p) => `Agreement ${p.name}\n${counted(p.value)}` },
        series: [{ type: "bar", barCategoryGap: "8%", data: bins.map((bin) => bin.n), itemStyle: { color: c.same } }],
        links: bins.map((bin) => (bin.n ? bin.link : null)),
      });
    },

    distributions(shares) {
      const n = shares.same_item.length;
      const edges = Array.from({ length: n + 1 }, (_, i) => i / n);
      const steps = (values) => edges.map((x, i) => [x, values[Math.min(i, n - 1)]]);
      return (c, b) => ({
        ...b,
        legend: { top: 0, textStyle: { ...b.text, color: c.ink }, itemWidth: 22, selectedMode: false },
        xAxis: { ...b.axis, type: "value", min: 0, max: 1, name: "equivalence", nameLocation: "middle", nameGap: 26, splitLine: { show: false } },
        yAxis: { ...b.axis, type: "value", axisLabel: { ...b.text, formatter: (value) => `${Math.round(100 * value)} %` } },
        tooltip: {
          ...b.tooltip,
          trigger: "axis",
          formatter: (points) => {
            const i = Math.min(n - 1, Math.floor(points[0].axisValue * n + 1e-9));
            return `Equivalence ${two(i / n)} to ${two((i + 1) / n)}\nsame ${item} ${share(shares.same_item[i])}\ndifferent ${item}s ${share(shares.different_items[i])}`;
          },
        },
        series: [
          { name: `same ${item}`, type: "line", step: "end", symbol: "none", data: steps(shares.same_item), lineStyle: { color: c.same, width: 2.5 }, areaStyle: { color: c.same, opacity: 0.18 }, itemStyle: { color: c.same } },
          { name: `different ${item}s (chance)`, type: "line", step: "end", symbol: "none", data: steps(shares.different_items), lineStyle: { color: c.chance, width: 2.5, type: "dashed" }, areaStyle: { color: c.chance, opacity: 0.12 }, itemStyle: { color: c.chance } },
        ],
      });
    },

    subgroups(found) {
      const shown = [...found.groups].reverse();
      const low = Math.min(0, ...shown.map((row) => (row.ci95 ? row.ci95[0] : row.agreement)));
      return (c, b) => ({
        ...b,
        height: 50 + 30 * shown.length,
        grid: { ...b.grid, left: 150, top: target ? 24 : 8, bottom: 28 },
        xAxis: { ...b.axis, type: "value", min: low, max: 1 },
        yAxis: { ...b.axis, type: "category", data: shown.map((row) => row.label), axisLabel: { ...b.text, color: c.ink, width: 130, overflow: "truncate" } },
        tooltip: { ...b.tooltip, formatter: (p) => told(shown[p.dataIndex]) },
        series: [
          {
            type: "custom",
            data: shown.map((row, i) => [i, ...(row.ci95 ?? [row.agreement, row.agreement]), row.agreement]),
            encode: { x: [1, 2], y: 0 },
            renderItem: whiskers(c.same, { flat: true }),
          },
          { type: "line", data: [], ...targetLine(c, b, "xAxis", target?.observed, `target ${two(target?.value ?? 0)}: mean ${two(target?.observed ?? 0)}`) },
        ],
        links: shown.map((row) => row.link),
      });
    },

    /** A line for each annotator, told apart by symbol and dash too; with many, those with most tasks. */
    person_trends(found) {
      const symbols = ["circle", "rect", "triangle", "diamond", "emptyCircle", "emptyRect", "emptyTriangle", "emptyDiamond"];
      const people = found.people.slice(0, symbols.length);
      return (c, b) => ({
        ...b,
        legend: { top: 0, type: "scroll", textStyle: { ...b.text, color: c.ink } },
        grid: { ...b.grid, top: 54 },
        xAxis: { ...b.axis, type: "category", data: found.periods, splitLine: { show: false }, axisLabel: { ...b.text, hideOverlap: true } },
        yAxis: { ...b.axis, type: "value", min: 0, max: 1, name: "agreement with the others", nameTextStyle: { ...b.text, align: "left" } },
        tooltip: { ...b.tooltip, trigger: "item", formatter: (p) => `${p.seriesName}, ${p.name}\n${two(p.value)}\n${counted(people[p.seriesIndex].counts[p.dataIndex])}` },
        series: people.map((one, i) => ({
          name: one.name, type: "line", data: one.values, connectNulls: true, symbol: symbols[i], symbolSize: 8,
          lineStyle: { color: i % 2 ? c.chance : c.same, width: 2, type: ["solid", "solid", "dashed", "dashed", "dotted", "dotted"][i % 6] }, itemStyle: { color: i % 2 ? c.chance : c.same },
          ...(i ? {} : targetLine(c, b, "yAxis", target?.observed, `target ${two(target?.value ?? 0)}: mean ${two(target?.observed ?? 0)}`)),
        })),
      });
    },

    over_time: (rows) => (rows.length > 1 ? grouped(rows, "mean agreement") : null),
    batches: (rows) => grouped(rows, "mean agreement"),

    calibration(found) {
      const curve = (when) => found[when].bins.map((bin) => [bin.mean, bin.share, bin.n]);
      const most = Math.max(...found.before.bins.map((bin) => bin.n), ...found.after.bins.map((bin) => bin.n));
      const series = (name, when, color, type, symbol) => ({
        name, type: "line", data: curve(when), symbol, symbolSize: (value) => 6 + 12 * Math.sqrt(value[2] / most),
        lineStyle: { color: color, width: 2, type }, itemStyle: { color: color },
      });
      return (c, b) => ({
        ...b,
        legend: { top: 0, textStyle: { ...b.text, color: c.ink }, selectedMode: false },
        grid: { ...b.grid, top: 40, bottom: 48 },
        xAxis: { ...b.axis, type: "value", min: 0, max: 1, name: "probability that two texts are the same", nameLocation: "middle", nameGap: 28 },
        yAxis: { ...b.axis, type: "value", min: 0, max: 1, name: "share decided the same", nameTextStyle: { ...b.text, align: "left" } },
        tooltip: { ...b.tooltip, trigger: "item", formatter: (p) => `${p.seriesName}\nprobability ${two(p.value[0])}\ndecided the same ${two(p.value[1])}\n${many(p.value[2])} pairs` },
        series: [
          { name: "ideal", type: "line", data: [[0, 0], [1, 1]], symbol: "none", lineStyle: { color: c.quiet, width: 1, type: "dotted" }, itemStyle: { color: c.quiet }, silent: true, tooltip: { show: false } },
          series("before", "before", c.chance, "dashed", "rect"),
          series("after", "after", c.same, "solid", "circle"),
        ],
      });
    },
  };

  function draw() {
    for (const chart of drawn.splice(0)) chart.dispose();
    const data = JSON.parse(block.textContent);
    target = data.target;
    item = data.words.item;
    const c = colors();
    for (const node of document.querySelectorAll(".chart")) {
      const name = node.dataset.chart;
      const make = data[name] && charts[name]?.(data[name]);
      node.hidden = !make;
      if (!make) continue;
      const { links, height, axis: _axis, text: _text, ...options } = make(c, base(c));
      node.style.blockSize = `${height ?? node.dataset.height}px`;
      const chart = echarts.init(node, null, { renderer: "canvas" });
      chart.setOption(options);
      if (links) {
        chart.on("click", (event) => {
          const link = links[event.dataIndex];
          if (link) open(link, "_blank", "noopener");
        });
      }
      drawn.push(chart);
    }
  }

  const observer = new ResizeObserver(() => drawn.forEach((chart) => chart.resize()));

  function start() {
    draw();
    observer.disconnect();
    document.querySelectorAll(".chart").forEach((node) => observer.observe(node));
    tables();
  }

  start();
  addEventListener("softirr:replaced", start);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", () => drawn.forEach((chart) => chart.resize()));

  // tables that are long, and tables that sort: of use in the file too
  function tables() {
    for (const table of document.querySelectorAll("table[data-more]:not([data-folds])")) {
      const rows = [...table.tBodies[0].rows];
      const first = Number(table.dataset.more);
      if (rows.length <= first + 2) continue;
      table.dataset.folds = "1";
      const button = document.createElement("button");
      button.type = "button";
      button.className = "more";
      const fold = (folded) => {
        rows.slice(first).forEach((row) => { row.hidden = folded; });
        button.textContent = folded ? `Show ${many(rows.length - first)} more` : "Show fewer";
        button.setAttribute("aria-expanded", String(!folded));
      };
      button.addEventListener("click", () => fold(button.getAttribute("aria-expanded") === "true"));
      fold(true);
      table.after(button);
    }

    for (const table of document.querySelectorAll("table.sortable:not([data-sorts])")) {
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
            if (x === "" || y === "") return (x === "") - (y === "");
            const order = Number.isNaN(Number(x)) || Number.isNaN(Number(y)) ? x.localeCompare(y) : Number(x) - Number(y);
            return up ? order : -order;
          });
          table.tBodies[0].append(...rows);
        });
      });
    }
  }
})();
