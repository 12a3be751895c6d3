// Looks through the items: search, filter and order; each opens on its votes and on what every model said.
const AT_ONCE = 20;

function itemExplorer(known, home) {
  const find = (name) => home.querySelector(`[data-part="${name}"]`);
  const [search, filter, order] = ["search", "filter", "order"].map(find);
  const [a, b] = data.leading.map((model) => known.models.indexOf(model));
  const every = known.names.map((_, item) => item);
  const number = (value) => (value === "inf" ? Infinity : value === "-inf" ? -Infinity : value === null ? NaN : value);
  const loss = (model, item) => (data.higherIsBetter ? -1 : 1) * number(known.scores[model][item]);
  const gap = every.map((item) => (b < 0 ? 0 : Math.abs(loss(a, item) - loss(b, item)) || 0));
  const labelled = Boolean(known.labels);
  const label = (item, entry) => known.labels[known.columns ? known.columns[item][entry] : entry];
  const reference = labelled && (known.votes ?? known.shares);
  const top = (row) => row.reduce((best, value, entry) => (value > row[best] ? entry : best), 0);
  const entropy = every.map((item) => {
    if (!labelled) return 0;
    const total = reference[item].reduce((sum, value) => sum + value, 0);
    return -reference[item].reduce((sum, value) => (value > 0 ? sum + (value / total) * Math.log(value / total) : sum), 0);
  });
  const text = (item) => `${known.names[item]}\n${known.text?.[item] ?? ""}`.toLowerCase();
  const short = (model) => data.short[known.models[model]];

  const filters = [["All items", () => true]];
  if (b >= 0) {
    filters.push([`${short(a)} scores better`, (item) => loss(a, item) < loss(b, item)]);
    filters.push([`${short(b)} scores better`, (item) => loss(b, item) < loss(a, item)]);
  }
  if (labelled) {
    if (b >= 0) filters.push(["Leading models name different labels", (item) => top(known.probs[a][item]) !== top(known.probs[b][item])]);
    filters.push(["All miss the most frequent label", (item) => known.probs.every((of) => top(of[item]) !== top(reference[item]))]);
    filters.push(["Labels disagree", (item) => entropy[item] > 0]);
  }
  const orders = [["As in the data", (one, other) => one - other]];
  if (b >= 0) orders.unshift(["Leading models differ most", (one, other) => gap[other] - gap[one] || one - other]);
  if (labelled) orders.push(["Labels disagree most", (one, other) => entropy[other] - entropy[one] || one - other]);
  for (const [choice, list] of [[filter, filters], [order, orders]]) {
    choice.append(...list.map(([name], value) => element("option", { textContent: name, value })));
  }

  /** "7 (3), 1 (2)" of votes; shares of labels as per cent. */
  function labels(item) {
    const row = reference[item].map((value, entry) => [value, entry]).filter(([value]) => value > 0);
    row.sort((one, other) => other[0] - one[0] || one[1] - other[1]);
    const shown = (value) => (known.votes ? `× ${value}` : `${Math.round(value / 10)}%`);
    return row.slice(0, 4).flatMap(([value, entry], at) => [at ? ", " : "", named(label(item, entry)), ` ${shown(value)}`]);
  }

  function says(model, item) {
    const who = element("span", { className: "who", textContent: short(model) });
    if (!labelled) return element("span", {}, who, ` ${score(model, item)}`);
    const row = known.probs[model][item];
    const best = top(row);
    const right = best === top(reference[item]);
    const mark = element("span", { className: right ? "right" : "wrong", textContent: right ? "✓" : "✗" });
    return element("span", {}, who, " ", named(label(item, best)), ` ${probability(row[best] / 1000)} `, mark);
  }

  function score(model, item) {
    const value = number(known.scores[model][item]);
    if (Number.isNaN(value)) return UNKNOWN;
    return Number.isFinite(value) ? fixed(value, 3) : `${value < 0 ? MINUS : ""}∞`;
  }

  function table(item) {
    const cell = (tag, properties, ...children) => element(tag, properties, ...children);
    const head = cell("tr", {}, cell("th", { scope: "col", textContent: labelled ? "Label" : "Model" }));
    const made = element("table", { className: "plain" }, element("thead", {}, head));
    const body = made.createTBody();
    const title = (words) => cell("th", { scope: "col", className: "num", textContent: words });
    if (!labelled) {
      head.append(title("Score"));
      known.models.forEach((model, at) => {
        body.append(cell("tr", {}, cell("th", { scope: "row" }, named(data.names[model])), cell("td", { className: "num", textContent: score(at, item) })));
      });
      return made;
    }
    head.append(title(known.votes ? "Votes" : "Share"), ...known.models.map((model) => title(data.short[model])));
    reference[item].forEach((value, entry) => {
      const row = cell("tr", {}, cell("th", { scope: "row" }, named(label(item, entry))));
      row.append(cell("td", { className: "num", textContent: known.votes ? String(value) : `${Math.round(value / 10)}%` }));
      for (const of of known.probs) {
        const p = of[item][entry] / 1000;
        row.append(cell("td", { className: `num s${10 + Math.round(10 * p)}`, textContent: probability(p) }));
      }
      body.append(row);
    });
    const last = cell("tr", {}, cell("th", { scope: "row", textContent: `Score: ${data.measure}` }), cell("td", {}));
    last.append(...known.models.map((_, at) => cell("td", { className: "num", textContent: score(at, item) })));
    body.append(last);
    return made;
  }

  function entry(item) {
    const said = known.models.slice(0, 2).map((_, model) => says(model, item));
    const head = element("summary", {}, named(known.names[item]));
    if (labelled) head.append(element("span", { className: "votes" }, ...labels(item)));
    head.append(...said);
    const made = element("details", { className: "item" }, head);
    made.addEventListener("toggle", () => {
      if (made.childElementCount > 1) return;
      if (known.text?.[item]) made.append(element("p", { className: "content", textContent: known.text[item] }));
      if (known.image?.[item]) made.append(element("img", { src: known.image[item], alt: `Image of item ${known.names[item]}` }));
      made.append(element("div", { className: "scroll", tabIndex: 0 }, table(item)));
    });
    return made;
  }

  let shown = AT_ONCE;
  function show() {
    const words = search.value.trim().toLowerCase();
    const fits = filters[Number(filter.value)][1];
    const chosen = every.filter((item) => fits(item) && (!words || text(item).includes(words)));
    chosen.sort(orders[Number(order.value)][1]);
    const of = known.all > every.length ? `${every.length.toLocaleString("en-US")} most telling of ${known.all.toLocaleString("en-US")}` : every.length.toLocaleString("en-US");
    find("count").textContent = `${chosen.length.toLocaleString("en-US")} of the ${of} items`;
    find("list").replaceChildren(...chosen.slice(0, shown).map(entry));
    find("more").hidden = chosen.length <= shown;
  }
  const restart = () => {
    shown = AT_ONCE;
    show();
  };
  for (const choice of [search, filter, order]) choice.addEventListener("input", restart);
  find("more").addEventListener("click", () => {
    shown += AT_ONCE;
    show();
  });
  home.hidden = false;
  show();
}

const itemHome = document.getElementById("item-explorer");
if (itemHome && data.items) itemExplorer(data.items, itemHome);
