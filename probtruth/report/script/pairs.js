// A pair, a place and a margin of equivalence (ROPE) that the reader chooses: what the posterior says of them, read off
// the quantiles of the difference by straight lines between them.
const INTERVAL = [0.025, 0.975];

/** The quantiles as numbers, from 32-bit floats in base64, the least byte first. */
function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 4 }, (_, at) => view.getFloat32(4 * at, true));
}

/** The value at x of the straight lines through the points (xs[i], ys[i]); ends where x lies beyond. */
function along(x, xs, ys, before, after) {
  if (x < xs[0]) return before;
  if (x > xs[xs.length - 1]) return after;
  let [low, high] = [0, xs.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle;
    else high = middle;
  }
  const width = xs[high] - xs[low];
  return width > 0 ? ys[low] + ((x - xs[low]) / width) * (ys[high] - ys[low]) : ys[low];
}

/** Of losses, first minus second: P(below), P(within) and the interval, turned into the user's orientation. */
function difference(known, place, first, second, rope) {
  const row = known.rows.find(([at, a, b]) => at === place && (a === first ? b === second : a === second && b === first));
  if (!row) return null;
  const turned = row[1] !== first;
  row.quantiles ??= unpacked(row[4]);
  const values = turned ? row.quantiles.map((value) => -value).reverse() : row.quantiles;
  const constant = values[0] === values[values.length - 1];
  const below = (x) => {
    if (constant) return values[0] === x ? 0.5 : Number(values[0] < x);
    return along(x, values, known.probabilities, 0, 1);
  };
  const sign = data.higherIsBetter ? -1 : 1;
  const ends = INTERVAL.map((p) => sign * along(p, known.probabilities, values, values[0], values[values.length - 1]));
  return {
    first: below(0),
    second: 1 - below(0),
    within: constant ? Number(Math.abs(values[0]) <= rope) : below(rope) - below(-rope),
    beyond: constant ? [Number(values[0] < -rope), Number(values[0] > rope)] : [below(-rope), 1 - below(rope)],
    mean: sign * (turned ? -row[3] : row[3]),
    low: Math.min(...ends),
    high: Math.max(...ends),
  };
}

/** The verdict on a pair in words, under the thresholds of the page's own verdict. */
function sentence(found, first, second, rope) {
  if (rope > 0 && found.within >= data.equivalent) return [named(first), " and ", named(second), " are practically equivalent."];
  const p = Math.max(found.first, found.second);
  const [better, other] = found.first >= found.second ? [first, second] : [second, first];
  const word = data.certainty.find(([bound]) => p >= bound);
  if (word) return [named(better), ` is ${word[1]} better than `, named(other), "."];
  return ["Whether ", named(first), " or ", named(second), " is better is open."];
}

/** Rows of intervals with their names, on one axis; `bold` marks the one that was chosen. */
function forest(rows, rope, width, title) {
  const left = Math.min(width * 0.4, 16 + 7.6 * Math.max(...rows.map((row) => row.name.length)));
  const [right, top, step] = [62, 22, 26];
  const height = top + rows.length * step + 44;
  const inside = rows.filter((row) => row.found).flatMap((row) => [row.found.low, row.found.high]);
  const edges = [...inside, 0, -rope, rope];
  const [least, most] = [Math.min(...edges), Math.max(...edges)];
  const margin = 0.06 * (most - least || 1);
  const scale = (x) => left + ((x - least + margin) / (most - least + 2 * margin)) * (width - left - right);
  const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title, "font-size": 13 });
  const line = (x1, y1, x2, y2, more) => picture.append(drawn("line", { x1, y1, x2, y2, stroke: "currentColor", ...more }));
  const write = (x, y, text, anchor, more = {}) =>
    picture.append(drawn("text", { x, y, fill: "currentColor", "text-anchor": anchor, ...more }, text));
  const foot = top + rows.length * step;
  if (rope > 0) {
    const band = { x: scale(-rope), y: top, width: scale(rope) - scale(-rope), height: foot - top };
    picture.append(drawn("rect", { ...band, fill: "currentColor", opacity: 0.14 }));
  }
  for (const tick of ticks(least, most)) {
    line(scale(tick.value), top, scale(tick.value), foot, { opacity: 0.18 });
    write(scale(tick.value), foot + 18, tick.text, "middle");
  }
  line(scale(0), top, scale(0), foot, {});
  write(left + (width - left - right) / 2, foot + 38, title, "middle");
  write(width - right + 10, top - 8, "P(better)", "start");
  rows.forEach((row, place) => {
    const y = top + (place + 0.5) * step;
    write(left - 8, y + 4, row.name, "end", row.bold ? { "font-weight": 650 } : {});
    if (!row.found) return;
    const { low, high, mean, first } = row.found;
    const apart = low > 0 || high < 0;
    const better = first >= 0.5;
    const [colour, kind] = !apart ? ["currentColor", ""] : better ? ["#0072b2", "b"] : ["#d55e00", "r"];
    const ends = { x1: scale(low), x2: scale(high), y1: y, y2: y, "stroke-width": row.bold ? 4 : 2.2, stroke: colour };
    picture.append(drawn("line", { ...ends, class: kind && `${kind}s` }));
    picture.append(drawn("circle", { cx: scale(mean), cy: y, r: row.bold ? 5 : 3.5, fill: colour, class: kind && `${kind}f` }));
    write(width - right + 10, y + 4, probability(first), "start");
  });
  return picture;
}

/** Round values from least to most, at most five, as text with the decimals that tell them apart. */
function ticks(least, most) {
  const rough = (most - least || 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((many) => many * power >= rough);
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const made = [];
  for (let at = Math.ceil(least / step); at * step <= most; at++) made.push({ value: at * step, text: fixed(at * step, places) });
  return made;
}

function pairExplorer(known, home) {
  const find = (name) => home.querySelector(`[data-part="${name}"]`);
  const [one, two, where, margin] = ["first", "second", "place", "rope"].map(find);
  const option = (text, value, chosen) => element("option", { textContent: text, value, selected: value === chosen });
  known.models.forEach((model) => {
    one.append(option(data.names[model], model, data.leading[0]));
    two.append(option(data.names[model], model, data.leading[1]));
  });
  known.places.forEach((name, place) => where.append(option(name, place, 0)));
  where.closest("label").hidden = known.places.length < 2;
  margin.value = data.rope ?? 0;

  function show() {
    const [first, second, place] = [one, two, where].map((choice) => Number(choice.value));
    const rope = Math.max(0, Number(margin.value) || 0);
    const [name, other] = [data.names[first], data.names[second]];
    const found = first === second ? null : difference(known, place, first, second, rope);
    const pictures = [];
    if (found) {
      const units = data.unit && ` ${data.unit}`;
      find("verdict").replaceChildren(...(place ? [`${known.places[place]}: `] : []), ...sentence(found, name, other, rope));
      const numbers = [`${fixed(found.mean, data.places, true)}${units}`, `95% interval ${fixed(found.low, data.places)} to ${fixed(found.high, data.places)}`];
      const equivalent = rope > 0 ? [`; P(equivalent) ${equals(found.within)}`] : [];
      find("numbers").replaceChildren(
        "P(", named(name), ` better) ${equals(found.first)}; P(`, named(other), ` better) ${equals(found.second)}`, ...equivalent,
        `. Difference of ${data.compared}, the first minus the second: ${numbers[0]} (${numbers[1]}); ${data.favouringA} favours the first.`,
      );
      const parts = rope > 0 ? [found.beyond[0], found.within, found.beyond[1]] : [found.first, 0, found.second];
      find("bar").replaceChildren(...parts.map((part, at) => share(part, at)));
    } else {
      find("verdict").replaceChildren(first === second ? "Choose two different models." : "Nothing is known of this difference.");
      for (const part of ["numbers", "bar"]) find(part).replaceChildren();
    }
    const units = data.unit && ` (${data.unit})`;
    const against = known.models.filter((model) => model !== first);
    if (first !== second || against.length) {
      const rows = against.map((model) => ({ name: data.short[model], bold: model === second, found: difference(known, place, first, model, rope) }));
      pictures.push([[named(name), " against each other model", ...(place ? [`, ${known.places[place]}`] : [])], rows]);
    }
    if (known.places.length > 1 && first !== second) {
      const rows = known.places.map((text, at) => ({ name: shortened(text), bold: at === place, found: difference(known, at, first, second, rope) }));
      pictures.push([[named(name), " against ", named(other), ", by group"], rows]);
    }
    const figures = pictures.map(([head]) => element("figure", {}, element("p", { className: "of" }, ...head)));
    find("pictures").replaceChildren(...figures);
    figures.forEach((figure, at) => {
      const width = Math.max(280, Math.min(560, figure.clientWidth));
      figure.append(forest(pictures[at][1], rope, width, `difference of ${data.compared}${units}`));
    });
  }

  function share(part, at) {
    const made = element("span", { className: ["first", "within", "second"][at] });
    made.style.flexGrow = part;
    return made;
  }

  for (const choice of [one, two, where, margin]) choice.addEventListener("input", show);
  let seen = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== seen) show();
    seen = innerWidth;
  });
  home.hidden = false;
  show();
}

const shortened = (text) => (text.length > 24 ? `${text.slice(0, 12)}…${text.slice(-11)}` : text);

const pairHome = document.getElementById("pair-explorer");
if (pairHome && data.curves) pairExplorer(data.curves, pairHome);
