"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const hidden = new Set();
  const choices = {};
  const small = window.matchMedia("(max-width: 640px)");
  const paperWidth = 680;
  let printing = false;

  const chosen = (filter, pick) => !filter || !pick || pick.includes(choices[filter]);
  const seen = (models) => !models.some((model) => hidden.has(String(model)));

  // Charts.

  function isShown(figure, trace) {
    return seen(trace.meta.models) && chosen(figure.filter, trace.meta.pick);
  }

  function height(figure) {
    const { base, row = 0, point = 0, narrow_row = row } = figure.grow;
    const traces = figure.data.filter((trace) => isShown(figure, trace));
    const rows = new Set(traces.flatMap((trace) => (row ? trace.y : []))).size;
    return base + rows * (small.matches ? narrow_row : row) + traces.length * point;
  }

  function labels(figure) {
    const cut = small.matches && !printing && figure.narrow;
    const found = {};
    for (const axis of Object.keys(figure.narrow || {})) {
      const key = `${axis}.ticktext`;
      const wide = figure.scales?.[figure.scale][key] ?? figure.layout[axis].ticktext;
      if (wide) found[key] = cut ? figure.narrow[axis] : wide;
    }
    return found;
  }

  // Set what a path such as "annotations[0].x" names.
  function assign(target, path, value) {
    const keys = path.replaceAll("]", "").split(/[.[]/);
    const last = keys.pop();
    keys.reduce((inner, key) => inner[key], target)[last] = value;
  }

  function draw(name) {
    const div = document.getElementById(`chart-${name}`);
    const figure = figures[name];
    if (!div || !figure) return;
    const visible = figure.data.map((trace) => isShown(figure, trace));
    const size = printing ? { width: Math.min(div.clientWidth, paperWidth) } : { autosize: true };
    const scale = figure.scales?.[figure.scale];
    const layout = { height: height(figure), ...size, ...scale, ...labels(figure) };
    (figure.labels || []).forEach((model, i) => {
      layout[`annotations[${i}].visible`] = !small.matches && seen([model]);
    });
    if (!div.data) {
      const data = figure.data.map((trace, i) => ({ ...trace, visible: visible[i] }));
      const base = { ...structuredClone(figure.layout), paper_bgcolor: "transparent", plot_bgcolor: "transparent" };
      base.font = { family: getComputedStyle(document.body).fontFamily, size: 12.5 };
      base.hoverlabel = { bgcolor: "#fff", bordercolor: "#9aa4ae", align: "left" };
      base.hoverlabel.font = { color: "#1b2026", size: 12.5 };
      const config = { responsive: true, displaylogo: false, displayModeBar: false };
      for (const [path, value] of Object.entries(layout)) assign(base, path, value);
      Plotly.newPlot(div, data, base, config);
    } else {
      Plotly.update(div, { visible }, layout);
    }
  }

  const drawAll = () => Object.keys(figures).forEach(draw);

  function rescale(name, scale) {
    figures[name].scale = scale;
    draw(name);
    for (const button of all(`.switch[data-of="${name}"] button`)) {
      button.setAttribute("aria-pressed", String(button.dataset.scale === scale));
    }
  }

  // What is hidden, and what is chosen.

  function refresh() {
    for (const element of all("[data-models], [data-pick]")) {
      const { models = "", pick } = element.dataset;
      const filter = element.closest("[data-filter]")?.dataset.filter;
      const fits = chosen(filter, pick && pick.split(" "));
      element.hidden = !(fits && seen(models.split(" ").filter(Boolean)));
    }
    for (const chip of all(".chip")) {
      chip.setAttribute("aria-pressed", String(!hidden.has(chip.dataset.model)));
    }
    for (const button of all(".legend .all")) button.hidden = hidden.size === 0;
    drawAll();
  }

  function toggle(model) {
    if (!hidden.delete(model)) hidden.add(model);
    refresh();
  }

  // Tables.

  function keyOf(row, column, words) {
    const cell = row.cells[column];
    if (words) return cell.textContent.trim().toLowerCase();
    return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
  }

  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    return typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
  }

  function sort(button) {
    const head = button.closest("th");
    const table = button.closest("table");
    const words = head.classList.contains("word");
    const first = words ? "ascending" : "descending";
    const other = words ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    const sign = order === "ascending" ? 1 : -1;
    const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row, head.cellIndex, words), row]);
    // What is missing stands last in either order.
    rows.sort(([a], [b]) => (a === null || b === null ? compare(a, b) : sign * compare(a, b)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
    for (const one of all("th[aria-sort]", table)) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
  }

  async function copy(button) {
    const text = document.getElementById(button.dataset.of);
    let done = true;
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      done = document.execCommand("copy");
    }
    button.textContent = done ? "Copied" : "Selected; copy it with your keyboard";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  }

  // What the reader does.

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.matches("thead button")) sort(button);
    else if (button.matches(".chip")) toggle(button.dataset.model);
    else if (button.matches(".all")) (hidden.clear(), refresh());
    else if (button.matches(".copy")) copy(button);
    else if (button.dataset.scale) rescale(button.parentElement.dataset.of, button.dataset.scale);
  });
  for (const select of all("select[data-filter]")) {
    select.addEventListener("change", () => {
      choices[select.dataset.filter] = select.value;
      refresh();
    });
    choices[select.dataset.filter] = select.value;
  }
  choices.pairs ??= "all";
  small.addEventListener("change", drawAll);
  const print = (now) => {
    printing = now;
    drawAll();
  };
  window.addEventListener("beforeprint", () => print(true));
  window.addEventListener("afterprint", () => print(false));
  refresh();
})();
