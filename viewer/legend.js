// The legend: a button for each category, with its bytes at the fullest step. Pressed, it alone is lit.

import {el, replace} from "./dom.js";
import {exactBytes, humanBytes, percent, shorten} from "./format.js";
import {toHex} from "./palette.js";

const SHOWN = 14;

export function fillLegend(root, scene, chosen, choose) {
  if (!scene) return replace(root);
  const whole = scene.most;
  const entry = (category, at) => {
    const swatch = el("span", {class: "swatch", "aria-hidden": "true"});
    swatch.style.backgroundColor = toHex(scene.colours[at]);
    return el("button", {type: "button", class: "legend-entry", "aria-pressed": String(chosen === category.label), onclick: () => choose(category.label),
                         title: `${category.count} holders; ${exactBytes(category.bytes)} at step ${scene.at}`},
              swatch, el("bdi", {}, shorten(category.label, 26)), " ", el("span", {class: "quiet"}, `${humanBytes(category.bytes)}, ${percent(category.bytes, whole)}`));
  };
  const all = scene.categories.list.map(entry);
  const rest = all.slice(SHOWN);
  const more = rest.length === 0 ? null : el("details", {class: "legend-rest"}, el("summary", {}, `${rest.length} more`), el("div", {class: "legend"}, rest));
  return replace(root, el("span", {class: "quiet legend-note"}, `at step ${scene.at}:`), all.slice(0, SHOWN), more);
}
