"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const choices = {};

  function refresh() {
    for (const element of all("[data-pick]")) {
      const { filter } = element.closest("[data-filter]").dataset;
      element.hidden = !element.dataset.pick.split(" ").includes(choices[filter]);
    }
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
    else if (button.matches(".copy")) copy(button);
  });
  for (const select of all("select[data-filter]")) {
    select.addEventListener("change", () => {
      choices[select.dataset.filter] = select.value;
      refresh();
    });
    choices[select.dataset.filter] = select.value;
  }
  choices.pairs ??= "all";
  refresh();
})();
