"use strict";
// What the other parts share: the data of the page, elements made from text (never from markup), and numbers in words.
// Without this script everything on the page still reads; it adds choices, sorting and search.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = document.querySelector("svg").namespaceURI;
const MINUS = "−";
const UNKNOWN = "–";

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function drawn(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const named = (text) => element("bdi", { className: "name", textContent: text });

function fixed(value, places, sign = false) {
  const digits = Math.abs(value).toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
  const zero = !/[1-9]/.test(digits);
  return (value < 0 && !zero ? MINUS : sign && !zero ? "+" : "") + digits;
}

function probability(p) {
  if (p > 0.999) return ">0.999";
  if (p < 0.001) return "<0.001";
  return p.toFixed(p >= 0.01 && p <= 0.99 ? 2 : 3);
}

function equals(p) {
  const text = probability(p);
  return "<>".includes(text[0]) ? `${text[0]} ${text.slice(1)}` : `= ${text}`;
}

addEventListener("beforeprint", () => {
  // on paper, what is folded is open
  for (const folded of document.querySelectorAll("details:not(.item)")) folded.open = true;
});
