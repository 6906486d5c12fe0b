// What a holder's colour means: categories for each colouring, their legend, and the pixel values for the raster.

import {ROLE, tensorsOf} from "./model.js";
import {humanBytes} from "./format.js";
import {layerGroup} from "./layers.js";
import {CATEGORY_COUNT, CHANGE_COLOURS, THEMES, categoryColour, mixColours, parseColour, rampColour, toPixel} from "./palette.js";

export const COLOURINGS = {
  kind: {label: "Op kind", labelOf: (plan, holder) => plan.strings[plan.holders.kind[holder]] || "no kind"},
  scope: {label: "Layer", cycle: true, labelOf: (plan, holder) => layerGroup(plan, holder) || "no layer"},
  role: {label: "Role", labelOf: roleOf},
  size: {label: "Size", ramp: true, labelOf: sizeOf},
  alias: {label: "Sharing", ramp: true, labelOf: aliasOf},
  change: {label: "Change", labelOf: (plan, holder) => (plan.changes ? plan.changes[holder] : "same")},
};

const ROLES = ["tensor", "graph input", "graph output", "constant", "variable", "workspace", "kept to the end"];
const DIM = 0.84;

export function roleOf(plan, holder) {
  if (plan.holders.tensor[holder] < 0) return plan.holders.op[holder] >= 0 ? "workspace" : "copies";
  let kept = false;
  for (const tensor of tensorsOf(plan, holder)) {
    const role = plan.tensors.role[tensor];
    if (role & ROLE.mask) return ROLES[role & ROLE.mask];
    kept = kept || (role & ROLE.kept) !== 0;
  }
  return kept ? "kept to the end" : "tensor";
}

// Classes of a factor of four, from the largest in the arena downwards.
function sizeOf(plan, holder) {
  const size = plan.holders.size[holder];
  return size === 0 ? "0 B" : `from ${humanBytes(4 ** Math.floor(Math.log2(size) / 2))}`;
}

function aliasOf(plan, holder) {
  const count = tensorsOf(plan, holder).length;
  if (count <= 1) return "1 tensor";
  return count === 2 ? "2 tensors" : count <= 4 ? "3–4 tensors" : count <= 9 ? "5–9 tensors" : "10 or more";
}

// The categories of arenas that are shown together, largest first. A part is {plan, arena (number), peakSet}; the answer is
// {list: [{label, bytes (by part, at its fullest step), count, area}], of: [category by holder, −1 in other arenas] by part}.
// There is one list for all parts, so a colour means the same in each.
export function categorise(parts, colouring) {
  const numbers = new Map();
  const list = [];
  const numberOf = (label) => {
    if (!numbers.has(label)) {
      numbers.set(label, list.length);
      list.push({label, bytes: parts.map(() => 0), count: 0, area: 0, order: list.length, largest: 0});
    }
    return numbers.get(label);
  };
  const of = parts.map(({plan, arena, peakSet}, at) => {
    const own = categoriesOf(plan, arena, colouring, list, numberOf);
    for (const {holder, bytes} of peakSet) list[own[holder]].bytes[at] += bytes;
    return own;
  });
  return ranked(of, list, COLOURINGS[colouring]);
}

function categoriesOf(plan, arena, colouring, list, numberOf) {
  const {holders} = plan;
  const of = new Int32Array(holders.count).fill(-1);
  for (let holder = 0; holder < holders.count; holder += 1) {
    if (holders.arena[holder] !== arena) continue;
    const category = list[(of[holder] = numberOf(COLOURINGS[colouring].labelOf(plan, holder)))];
    category.count += 1;
    category.largest = Math.max(category.largest, rampKey(plan, holder, colouring));
    category.area += holders.size[holder] * (holders.end[holder] - holders.first[holder]);
  }
  return of;
}

function rampKey(plan, holder, colouring) {
  return colouring === "alias" ? tensorsOf(plan, holder).length : plan.holders.size[holder];
}

function ranked(of, list, colouring) {
  const order = list.slice();
  const most = (category) => Math.max(...category.bytes);
  if (colouring.ramp) order.sort((a, b) => b.largest - a.largest);
  else if (!colouring.cycle) order.sort((a, b) => most(b) - most(a) || b.area - a.area);
  const place = new Int32Array(list.length);
  order.forEach((each, at) => {
    place[each.order] = at;
  });
  return {list: order, of: of.map((own) => own.map((category) => (category < 0 ? -1 : place[category])))};
}

// [r, g, b] of each category.
export function categoryColours(list, colouring, theme) {
  const {ramp, cycle} = COLOURINGS[colouring];
  const count = list.length;
  return list.map((each, at) => {
    if (colouring === "change") return parseColour(CHANGE_COLOURS[theme][each.label]);
    if (ramp) return rampColour(count === 1 ? 0.5 : 1 - at / (count - 1), theme);
    if (!cycle && at >= CATEGORY_COUNT) return parseColour(THEMES[theme].other);
    return categoryColour(cycle ? at % CATEGORY_COUNT : at, theme);
  });
}

let versions = 0;

// Pixel values by holder. `of` is the category of each, `lit` (by holder) or null: the others are dimmed.
export function pixelColours(of, colours, theme, lit) {
  const background = parseColour(THEMES[theme].background);
  const line = theme === "light" ? 0.45 : 0.6;
  const bright = colours.map((rgb) => [toPixel(rgb), toPixel(mixColours(rgb, background, line))]);
  const dim = colours.map((rgb) => {
    const grey = mixColours(rgb, background, DIM);
    return [toPixel(grey), toPixel(mixColours(grey, background, line))];
  });
  const fill = new Uint32Array(of.length);
  const edge = new Uint32Array(of.length);
  for (let holder = 0; holder < of.length; holder += 1) {
    const category = of[holder];
    if (category < 0) continue;
    const [inner, outer] = (lit && !lit[holder] ? dim : bright)[category];
    fill[holder] = inner;
    edge[holder] = outer;
  }
  versions += 1;
  return {fill, edge, background: toPixel(background), version: versions};
}
