// The legend: a button for each category, with its bytes at the fullest step, or at the one that is selected. Pressed,
// only its holders are highlighted.

import {el, replace} from "./dom.js";
import {exactBytes, humanBytes, percent, plural, shorten} from "./format.js";
import {stepName} from "./model.js";
import {toHex} from "./palette.js";
import {liveSet} from "./pieces.js";

const SHOWN = 14;
const MOST = 200;

// Bytes of several plans are joined by arrows. `step` is a step of the only scene, or null.
export function fillLegend(root, look, scenes, step, chosen, choose) {
  const own = scenes.length === 1 && step !== null ? bytesAt(scenes[0], look, step) : null;
  const total = own ? scenes[0].live[step] : scenes[0] ? scenes[0].most : 0;
  const entry = (category, at) => {
    const swatch = el("span", {class: "swatch", "aria-hidden": "true"});
    swatch.style.backgroundColor = toHex(look.colours[at]);
    return el("button", {type: "button", class: "legend-entry", "aria-pressed": String(chosen === category.label),
                         onclick: () => choose(category.label),
                         title: `${plural(category.count, "holder")}; ${category.bytes.map(exactBytes).join(" → ")} at the fullest step`},
              swatch, el("bdi", {}, shorten(category.label, 26)), " ", el("span", {class: "quiet"}, bytesOfCategory(own ? [own[at]] : category.bytes, total)));
  };
  const all = look.list.slice(0, MOST).map(entry);
  const rest = all.slice(SHOWN);
  if (look.list.length > MOST) rest.push(el("span", {class: "quiet"}, `and ${look.list.length - MOST} more`));
  const more = rest.length === 0 ? null : el("details", {class: "legend-rest"}, el("summary", {}, `${look.list.length - SHOWN} more`),
                                             el("div", {class: "legend"}, rest));
  const note = scenes.length === 1 ? `at ${stepName(scenes[0].plan, own ? step : scenes[0].at)}:` : "at the fullest step:";
  const buttons = () => [...root.querySelectorAll(".legend-entry")];
  const focused = buttons().indexOf(document.activeElement);
  if (more && root.querySelector("details[open]")) more.open = true;
  replace(root, el("span", {class: "quiet legend-note"}, note), all.slice(0, SHOWN), more);
  if (focused >= 0 && buttons()[focused]) buttons()[focused].focus();
}

// By category, at a step.
function bytesAt(scene, look, step) {
  const bytes = look.list.map(() => 0);
  for (const each of liveSet(scene.index, step)) bytes[scene.categoryOf[each.holder]] += each.bytes;
  return bytes;
}

function bytesOfCategory([first, second], total) {
  if (second === undefined) return first === 0 ? "0 B" : `${humanBytes(first)}, ${percent(first, total)}`;
  return first === second ? humanBytes(first) : `${humanBytes(first)} → ${humanBytes(second)}`;
}
