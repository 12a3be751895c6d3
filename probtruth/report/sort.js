"use strict";
// Sorts a table by a column at a click on its title; unknown values stay last. Works without it: the titles are text.
// On paper, what is folded is open.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      const key = (row) => row.cells[column].dataset.sort;
      const numeric = head.classList.contains("num");
      const order = (a, b) => {
        const [left, right] = [key(a), key(b)];
        if (left === "" || right === "") return (left === "") - (right === "");
        const step = numeric ? Math.sign(left - right) || 0 : left.localeCompare(right, undefined, { numeric: true });
        return down ? -step : step;
      };
      body.append(...[...body.rows].sort(order));
      for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
  });
}
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
});
