// The legend: a button for each category, with its bytes at the fullest step. Pressed, it alone is lit.

import {el, replace} from "./dom.js";
import {exactBytes, humanBytes, percent, plural, shorten} from "./format.js";
import {toHex} from "./palette.js";

const SHOWN = 14;
const MOST = 200;

// Bytes of several plans are joined by arrows.
export function fillLegend(root, look, scenes, chosen, choose) {
  const entry = (category, at) => {
    const swatch = el("span", {class: "swatch", "aria-hidden": "true"});
    swatch.style.backgroundColor = toHex(look.colours[at]);
    return el("button", {type: "button", class: "legend-entry", "aria-pressed": String(chosen === category.label),
                         onclick: () => choose(category.label),
                         title: `${plural(category.count, "holder")}; ${category.bytes.map(exactBytes).join(" → ")} at the fullest step`},
              swatch, el("bdi", {}, shorten(category.label, 26)), " ", el("span", {class: "quiet"}, bytesOfCategory(category, scenes)));
  };
  const all = look.list.slice(0, MOST).map(entry);
  const rest = all.slice(SHOWN);
  if (look.list.length > MOST) rest.push(el("span", {class: "quiet"}, `and ${look.list.length - MOST} more`));
  const more = rest.length === 0 ? null : el("details", {class: "legend-rest"}, el("summary", {}, `${look.list.length - SHOWN} more`),
                                             el("div", {class: "legend"}, rest));
  const note = scenes.length === 1 ? `at step ${scenes[0].at}:` : "at the fullest step:";
  return replace(root, el("span", {class: "quiet legend-note"}, note), all.slice(0, SHOWN), more);
}

function bytesOfCategory(category, scenes) {
  const [first, second] = category.bytes;
  if (second === undefined) return first === 0 ? "0 B" : `${humanBytes(first)}, ${percent(first, scenes[0].most)}`;
  return first === second ? humanBytes(first) : `${humanBytes(first)} → ${humanBytes(second)}`;
}
