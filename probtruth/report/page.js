"use strict";
// Sorts tables at a click on a title; searches and sorts all listed items. Without it the page still reads.
const data = JSON.parse(document.getElementById("data").textContent);
const AT_ONCE = 20;

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** The first number of a text, as it is shown: true minus signs, thousands apart, < and >, infinite. */
function number(text) {
  const found = text.replace(/−/g, "-").replace(/,/g, "").replace("∞", "Infinity").match(/([<>]?)([+-]?(?:Infinity|[\d.]+(?:e-?\d+)?))/);
  return found ? Number(found[2]) + ({ "<": -1e-12, ">": 1e-12 }[found[1]] ?? 0) : NaN;
}

/** Rows in the order of a column; what is not known stays last. */
function sorted(rows, column, numeric, down) {
  const keyed = rows.map((row) => [numeric ? number(row.cells[column]) : row.cells[column], row]);
  return keyed
    .sort(([one], [other]) => {
      if (numeric && (isNaN(one) || isNaN(other))) return isNaN(one) - isNaN(other);
      const step = numeric ? (one > other) - (one < other) : one.localeCompare(other, undefined, { numeric: true });
      return down ? -step : step;
    })
    .map(([, row]) => row);
}

/** Makes the titles of a table buttons that sort `rows` (their texts in `cells`) and hand them to `show`. */
function sortable(table, rows, show) {
  table.classList.add("active");
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = element("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      show(sorted(rows, column, head.classList.contains("num"), down));
    });
  });
}

for (const table of document.querySelectorAll("table.sortable:not(.items)")) {
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, cells: [...row.cells].map((cell) => cell.textContent) }));
  sortable(table, rows, (order) => table.tBodies[0].append(...order.map(({ row }) => row)));
}

const name = (text) => element("bdi", { textContent: text });
const score = (value) => (value === null ? "–" : Number.isFinite(Number(value)) ? String(Number(value.toPrecision(3))).replace("-", "−") : value.replace("-", "−").replace("Infinity", "∞"));
const probability = (p) => (p > 0.999 ? ">0.999" : p < 0.001 ? "<0.001" : p.toFixed(p >= 0.01 && p <= 0.99 ? 2 : 3));

/** The cells of an item, in the columns of the table, as lists of text and elements. */
function cells(item) {
  const made = [[name(data.names[item])]];
  if (data.labels) {
    made.push(data.labels[item].flatMap(([label, share], at) => [at ? ", " : "", name(label), ` (${Math.round(100 * share)}%)`]));
    made.push([data.entropy[item].toFixed(3)]);
    data.says.forEach((says, model) => {
      made.push([name(says[item]), ` ${probability(data.probs[model][item])} ${says[item] === data.truth[item] ? "✓" : "✗"}`]);
    });
  }
  for (const of of data.scores) made.push([score(of[item])]);
  return made;
}

/** The name of an item with its text and image, where they are known, at a click. */
function opening(item, cell) {
  const [text, image] = [data.text?.[item], data.image?.[item]];
  if (!text && !image) return cell;
  const made = element("details", {}, element("summary", {}, ...cell));
  if (text) made.append(element("p", { className: "content", textContent: text }));
  if (image) made.append(element("img", { src: image, alt: `Image of item ${data.names[item]}` }));
  return [made];
}

function listItems(table) {
  const heads = [...table.tHead.rows[0].cells];
  const titles = heads.map((head) => head.textContent);
  const all = data.names.map((_, item) => {
    const parts = cells(item);
    const texts = parts.map((cell) => cell.map((part) => part.textContent ?? part).join(""));
    return { item, parts, cells: texts, found: `${texts.join("\n")}\n${data.text?.[item] ?? ""}`.toLowerCase() };
  });
  const search = element("input", { type: "search", autocomplete: "off" });
  const more = element("button", { type: "button", className: "more", textContent: "Show more" });
  const count = element("span", { role: "status" });
  let [order, most] = [all, AT_ONCE];

  function row({ item, parts }) {
    const made = element("tr", {});
    parts.forEach((cell, column) => {
      const shown = element(column ? "td" : "th", { className: heads[column].className }, ...(column ? cell : opening(item, cell)));
      if (column) shown.dataset.title = titles[column];
      made.append(shown);
    });
    made.cells[0].scope = "row";
    return made;
  }

  function show() {
    const words = search.value.trim().toLowerCase();
    const chosen = words ? order.filter(({ found }) => found.includes(words)) : order;
    table.tBodies[0].replaceChildren(...chosen.slice(0, most).map(row));
    const rest = data.all > all.length ? `: the most telling of ${data.all}, which items.parquet has` : "";
    count.textContent = `${Math.min(most, chosen.length)} of ${chosen.length} items${rest}`;
    more.hidden = chosen.length <= most;
  }

  sortable(table, all, (sort) => {
    order = sort;
    show();
  });
  search.addEventListener("input", () => {
    most = AT_ONCE;
    show();
  });
  more.addEventListener("click", () => {
    most += AT_ONCE;
    show();
  });
  const home = table.closest(".scroll");
  home.before(element("p", { className: "controls" }, element("label", {}, "Search ", search), count));
  home.after(more);
  show();
}

const itemTable = document.querySelector("table.items");
if (itemTable && data) listItems(itemTable);
