"use strict";
// Sorts tables at a click on a title; searches the list of items and opens it. Without it the page still reads.

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** The first number of a text, as it is shown: true minus signs, thousands apart, < and >, infinite. */
function number(text) {
  const found = text.replace(/−/g, "-").replace(/,/g, "").replace("∞", "Infinity").match(/([<>]?)([+-]?(?:Infinity|[\d.]+(?:e[-+]?\d+)?))/);
  return found ? Number(found[2]) + ({ "<": -1e-12, ">": 1e-12 }[found[1]] ?? 0) : NaN;
}

/** Rows in the order of a column; what is not known stays last. */
function sorted(rows, column, numeric, down) {
  const key = (row) => (numeric ? number(row.cells[column].textContent) : row.cells[column].textContent);
  return rows
    .map((row) => [key(row), row])
    .sort(([one], [other]) => {
      if (numeric && (isNaN(one) || isNaN(other))) return isNaN(one) - isNaN(other);
      const step = numeric ? (one > other) - (one < other) : one.localeCompare(other, undefined, { numeric: true });
      return down ? -step : step;
    })
    .map(([, row]) => row);
}

/** Makes the titles of a table buttons that sort its rows. */
function sortable(table) {
  table.classList.add("active");
  const [heads, body] = [[...table.tHead.rows[0].cells], table.tBodies[0]];
  heads.forEach((head, column) => {
    const button = element("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...sorted([...body.rows], column, head.classList.contains("num"), down));
    });
  });
}

/** A search above the list of items, and a button below it that shows all of them. */
function searchable(table) {
  const rows = [...table.tBodies[0].rows];
  const search = element("input", { type: "search", autocomplete: "off" });
  const count = element("span", { role: "status" });
  const all = element("button", { type: "button", className: "more", textContent: `Show all ${rows.length}` });

  function show() {
    const words = search.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(words);
    table.classList.toggle("all", all.hidden || words !== "");
    count.textContent = words && `${rows.filter((row) => !row.hidden).length} of ${rows.length} items`;
  }

  search.addEventListener("input", show);
  all.addEventListener("click", () => {
    all.hidden = true;
    show();
  });
  const home = table.closest(".scroll");
  home.before(element("p", { className: "controls" }, element("label", {}, "Search ", search), count));
  if (rows.length > 10) home.after(all);
}

for (const table of document.querySelectorAll("table.sortable")) {
  sortable(table);
  if (table.classList.contains("items")) searchable(table);
}
