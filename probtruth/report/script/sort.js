// Sorts a table by a column at a click on its title; unknown values stay last. Arrows show what can be sorted, and how.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.classList.add("active");
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = element("button", { type: "button" }, ...head.childNodes);
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
