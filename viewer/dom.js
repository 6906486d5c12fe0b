// Elements. Text from the data goes through text nodes only: nothing here, or anywhere in the viewer, parses HTML.

import {exactBytes, humanBytes, shorten, visible} from "./format.js";

// el("button", {class: "link", onclick: f, "aria-label": "…"}, "text", node, null): false and null attributes and children are
// left out.
export function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  add(node, children);
  return node;
}

// The same for SVG, whose elements have a namespace.
export function svgEl(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) node.setAttribute(name, String(value));
  }
  return add(node, children);
}

export function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child);
  }
  return node;
}

export function replace(node, ...children) {
  node.replaceChildren();
  return add(node, children);
}

// A name from the data: shortened in the middle, isolated from the text direction around it.
export function nameNode(text, most) {
  const limit = most || 48;
  return el("bdi", {class: "name", title: text.length > limit ? shorten(text, 600) : null}, shorten(text, limit));
}

// All of it, wrapped wherever it must be.
export function wholeName(text) {
  return el("bdi", {class: "name whole"}, visible(text));
}

// "74.5 MiB" for the eye, the exact bytes for the pointer and the screen reader.
export function bytesNode(bytes, attributes) {
  const exact = exactBytes(bytes);
  return el("span", {class: "bytes", title: exact, ...attributes},
            el("span", {"aria-hidden": "true"}, humanBytes(bytes)),
            el("span", {class: "only-heard"}, `${humanBytes(bytes)}, exactly ${exact}`));
}

// A link to another place in the map. An anchor and not a button, since buttons do not wrap.
export function linkNode(content, onclick, label) {
  const follow = (event) => {
    event.preventDefault();
    onclick();
  };
  return el("a", {href: "#", class: "link", onclick: follow, "aria-label": label || null}, content);
}

// A list of rows, the first `page` of them at once and a button for more: a step may have ten thousand live holders.
export function longList(rows, makeRow, attributes) {
  const page = 150;
  const body = el("tbody", {});
  const table = el("table", {class: "rows", ...attributes}, body);
  const more = el("button", {type: "button", class: "more"});
  let shown = 0;
  const grow = () => {
    for (const row of rows.slice(shown, shown + page)) body.append(makeRow(row));
    shown = Math.min(shown + page, rows.length);
    more.textContent = `show ${Math.min(page, rows.length - shown)} of ${rows.length - shown} more`;
    more.hidden = shown >= rows.length;
  };
  more.addEventListener("click", grow);
  grow();
  return [table, more];
}
