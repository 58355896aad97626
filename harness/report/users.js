"use strict";
(async () => {
  const packed = document.getElementById("user-data");
  if (!packed) return;
  const part = (name) => document.getElementById(`user-${name}`);
  const bytes = Uint8Array.from(atob(packed.content.textContent.trim()), (c) => c.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = await new Response(plain).json();
  const [model, group, search, user] = ["model", "group", "search", "choice"].map(part);

  // Every name is text, whatever it holds.
  function element(tag, text, ...inside) {
    const made = document.createElement(tag);
    made.textContent = text;
    made.append(...inside);
    return made;
  }

  function option(text, value) {
    const made = element("option", text);
    made.value = value;
    return made;
  }

  function table(caption, columns, rows) {
    const head = element("tr", "", ...columns.map((title) => element("th", title)));
    const lines = rows.map((texts) => {
      const line = element("tr", "", ...texts.map((text) => element("td", text)));
      line.classList.toggle("hit", texts[columns.indexOf("hit")] === "hit");
      return line;
    });
    const made = element("table", "", element("caption", caption));
    made.append(element("thead", "", head), element("tbody", "", ...lines));
    for (const cell of head.cells) cell.scope = "col";
    for (const row of made.rows) {
      columns.forEach((title, i) => {
        if (title !== "rank") row.cells[i].className = "word";
      });
    }
    return made;
  }

  const titled = data.titles.length ? ["title"] : [];
  const id = (item) => (item < 0 ? "–" : data.items[item] || "(an item that nobody knows)");
  const named = (item) => [id(item), ...titled.map(() => data.titles[item] ?? "")];

  function show() {
    const [m, u] = [Number(model.value), Number(user.value)];
    const [shown, summary] = [part("shown"), part("summary")];
    shown.replaceChildren();
    if (user.value === "") {
      summary.textContent = "No such user here.";
      return;
    }
    const [list, truth] = [data.lists[m][u], data.truth?.[u]];
    const reachable = truth?.slice(0, data.reachable[u]); // behind them are no candidates
    const isHit = (item, rank) => reachable?.includes(item) && list.indexOf(item) === rank;
    const value = (place) => `${data.models[place]} ${data.values[place][u].toFixed(4)}`;
    const best = m > 0 ? `; the best model, ${value(0)}` : "";
    summary.textContent = `User ${data.users[u]}: ${data.metric} of ${value(m)}${best}.`;
    const ranks = list.map((item, i) => [
      String(i + 1), ...named(item), ...(truth ? [isHit(item, i) ? "hit" : ""] : []),
    ]);
    const hits = truth ? ["hit"] : [];
    const title = `The list of ${data.models[m]}`;
    const tables = [table(title, ["rank", "item", ...titled, ...hits], ranks)];
    if (truth) {
      const places = truth.map((item) => [
        ...named(item), list.includes(item) ? String(list.indexOf(item) + 1) : "not listed",
      ]);
      const columns = ["item", ...titled, "at rank"];
      tables.unshift(table(`What was true (R = ${truth.length})`, columns, places));
      const days = data.days.length ? ["day"] : [];
      const types = data.types.length ? ["type"] : [];
      const events = data.history[u].map(([day, item, type]) => [
        ...days.map(() => data.days[day]), ...named(item), ...types.map(() => data.types[type]),
      ]);
      const which = `The last ${events.length} of ${data.events[u]} training events`;
      tables.unshift(table(which, [...days, "item", ...titled, ...types], events));
    }
    shown.append(...tables.map((made) => {
      const scroll = element("div", "", made);
      scroll.className = "scroll";
      scroll.tabIndex = 0;
      scroll.role = "region";
      scroll.ariaLabel = made.caption.textContent;
      return scroll;
    }));
    dispatchEvent(new Event("resize")); // a table may be too wide
  }

  function choose() {
    const text = search.value.trim().toLowerCase();
    const every = data.users.map((_, place) => place);
    // Some groups are each model's own, others are the same for all.
    const groups = text ? [every] : data.groups[group.value] ?? [every];
    const places = groups[groups.length > 1 ? model.value : 0] ?? [];
    const kept = places.filter((place) => data.users[place].toLowerCase().includes(text));
    user.replaceChildren(...kept.map((place) => option(data.users[place], place)));
    group.disabled = text !== "";
    show();
  }

  model.append(...data.models.map((name, place) => option(name, place)));
  for (const control of [model, group]) control.addEventListener("change", choose);
  search.addEventListener("input", choose);
  user.addEventListener("change", show);
  choose();
})();
