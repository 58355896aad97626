"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const choice = (id) => document.getElementById(id)?.value;

  function refresh() {
    for (const row of all("#pairs tbody tr")) {
      const names = [row.cells[0].title, row.cells[1].title];
      row.hidden = Boolean(choice("pairs-of")) && !names.includes(choice("pairs-of"));
    }
    all("#slices .part").forEach((part, i) => (part.hidden = i !== Number(choice("slices-by"))));
    fit();
  }

  // A table that is wider than the screen becomes cards, each figure below its title.

  function fit() {
    for (const table of all(".scroll > table")) {
      const titles = all("thead th", table).map((head) => head.textContent.trim());
      for (const row of all("tbody tr, tfoot tr", table)) {
        titles.forEach((text, i) => (row.cells[i].dataset.title = text));
      }
      table.classList.remove("cards");
      table.classList.toggle("cards", table.offsetWidth > table.parentElement.clientWidth);
    }
  }

  function keyOf(row, column, words) {
    const text = row.cells[column].textContent.trim();
    if (words) return text.toLowerCase();
    const number = parseFloat(text.replace(/^[^\d−]+|,/g, "").replace("−", "-"));
    return Number.isNaN(number) ? null : number;
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
    else if (button.matches(".copy")) copy(button);
  });
  for (const select of all(".choice select")) select.addEventListener("change", refresh);
  addEventListener("resize", fit);
  addEventListener("beforeprint", () => (document.querySelector("#repeat details").open = true));
  refresh();
})();
