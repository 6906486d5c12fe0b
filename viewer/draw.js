// The still part of a stage: the curve of live bytes, the axes, regions, lines for peak, bound and capacity, names on
// rectangles. A scene is {plan, arena, index, live, ghost, view, box, limits, theme, categories, categoryOf, colours, peaks,
// …}; nothing here changes it.

import {binaryTicks, decimalTicks, humanBytes, shorten, tickBytes} from "./format.js";
import {holderName, isGap, stepNumber} from "./model.js";
import {inkOn} from "./palette.js";
import {visitSpan} from "./pieces.js";

const GUTTER = 76;
const RIGHT = 10;
const AXIS = 24;
const GAP = 14;

// Where the parts of a stage lie: {width, height, left, right, mapWidth, curve: {top, height}, map: {top, height}}.
export function stageBox(width, height) {
  const mapWidth = Math.max(width - GUTTER - RIGHT, 40);
  const curveTop = 20;
  const curveHeight = Math.round(Math.min(Math.max(height * 0.24, 60), 150));
  const mapTop = curveTop + curveHeight + GAP;
  return {
    width,
    height,
    left: GUTTER,
    right: GUTTER + mapWidth,
    mapWidth,
    curve: {top: curveTop, height: curveHeight},
    map: {top: mapTop, height: Math.max(height - mapTop - AXIS, 40)},
  };
}

export function xOf(scene, step) {
  return scene.box.left + ((step - scene.view.x0) / (scene.view.x1 - scene.view.x0)) * scene.box.mapWidth;
}

export function yOf(scene, byte) {
  const {map} = scene.box;
  return map.top + map.height - ((byte - scene.view.y0) / (scene.view.y1 - scene.view.y0)) * map.height;
}

// The top of the curve: the arena, the live bytes, and the capacity unless it is so large that the rest would be flat.
function curveTopOf(scene) {
  let most = Math.max(scene.limits.bytes, scene.most, scene.ghost ? scene.ghost.most : 0, 1);
  if (scene.capacity !== null && scene.capacity < 2 * most) most = Math.max(most, scene.capacity);
  return most * 1.04;
}

export function curveY(scene, bytes) {
  const {curve} = scene.box;
  return curve.top + curve.height - (bytes / curveTopOf(scene)) * curve.height;
}

export function drawCurve(painter, scene) {
  const {box, theme} = scene;
  painter.clipped(box.left, box.curve.top - 1, box.mapWidth, box.curve.height + 2, () => {
    for (const tick of binaryTicks(0, curveTopOf(scene), 3)) hairline(painter, scene, curveY(scene, tick), theme.grid);
    const points = curvePoints(scene, scene.live);
    const base = box.curve.top + box.curve.height;
    painter.path([box.left, base, ...points, box.right, base], {fill: theme.area});
    painter.path(points, {stroke: theme.live, width: 1.25});
    if (scene.ghost) painter.path(curvePoints(scene, scene.ghost.live), {stroke: theme.ghost, width: 1.25, dash: [3, 2]});
    for (const line of linesOf(scene)) {
      painter.path([box.left, curveY(scene, line.bytes), box.right, curveY(scene, line.bytes)],
                   {stroke: line.colour, width: 1, dash: line.dash});
    }
  });
  for (const tick of binaryTicks(0, curveTopOf(scene), 3)) {
    painter.text(box.left - 6, curveY(scene, tick) + 4, humanBytes(tick), {colour: theme.faint, align: "right", size: 10.5});
  }
  drawLineLabels(painter, scene);
  drawPeakMarks(painter, scene);
}

function hairline(painter, scene, y, colour) {
  painter.rect(scene.box.left, Math.round(y), scene.box.mapWidth, 1, colour);
}

// The highest of the steps that share a column of pixels.
function curvePoints(scene, live) {
  const {box, view} = scene;
  const points = [];
  const scale = (view.x1 - view.x0) / box.mapWidth;
  for (let x = 0; x <= box.mapWidth; x += 1) {
    const from = Math.max(Math.floor(view.x0 + Math.min(x, box.mapWidth - 1) * scale), 0);
    const to = Math.min(Math.max(Math.ceil(view.x0 + (x + 1) * scale), from + 1), live.length);
    let most = 0;
    if (scale < 1) most = live[Math.min(from, live.length - 1)];
    else for (let step = from; step < to; step += 1) if (live[step] > most) most = live[step];
    points.push(box.left + x, curveY(scene, from >= live.length ? 0 : most));
  }
  return points;
}

// Peak, bound and capacity, as far as this arena has them.
export function linesOf(scene) {
  const {arena, theme} = scene;
  const lines = [];
  const proven = arena.bound === arena.size;
  const word = arena.counts ? "peak" : "size";
  lines.push({bytes: arena.size, label: `${proven && arena.counts ? "peak = bound" : word} ${humanBytes(arena.size)}`, colour: theme.ink,
              dash: [1, 0]});
  if (!proven) lines.push({bytes: arena.bound, label: `bound ${humanBytes(arena.bound)}`, colour: theme.bound, dash: [5, 3]});
  if (scene.capacity !== null) lines.push({bytes: scene.capacity, label: `${limitWords(scene)} ${humanBytes(scene.capacity)}`,
                                           colour: theme.capacity, dash: [7, 3]});
  return lines;
}

function limitWords({plan, capacity, fit}) {
  const asked = typeof fit === "number";
  if (capacity !== (asked ? fit : plan.capacity)) return asked ? "left of the requested size" : "left of the capacity";
  return asked ? "asked" : "capacity";
}

// In a row above the curve, so that they never overlap.
function drawLineLabels(painter, scene) {
  const {box, theme} = scene;
  let x = box.left;
  const entries = [{label: "live bytes", colour: theme.live}];
  if (scene.ghost) entries.push({label: scene.plan.number === 0 ? "after" : "before", colour: theme.ghost, dash: [3, 2]});
  for (const entry of [...entries, ...linesOf(scene)]) {
    const words = shorten(entry.label, 34);
    const width = 20 + words.length * 6.3;
    if (x + width > box.right) return;
    painter.path([x, 9.5, x + 13, 9.5], {stroke: entry.colour, width: 1.5, dash: entry.dash});
    painter.text(x + 17, 13, words, {colour: theme.faint, size: 10.5});
    x += width + 12;
  }
}

function drawPeakMarks(painter, scene) {
  const {box, theme} = scene;
  let last = -10;
  for (const peak of scene.peaks) {
    const x = xOf(scene, peak.at + 0.5);
    if (x < box.left || x > box.right || x - last < 4) continue;
    last = x;
    const y = box.curve.top + box.curve.height + 3;
    painter.path([x, y, x + 4, y + 6, x - 4, y + 6, x, y], {fill: theme.accent});
  }
}

export function drawAxes(painter, scene) {
  const {box, view, theme} = scene;
  const bottom = box.map.top + box.map.height;
  const bytes = binaryTicks(view.y0, view.y1, Math.max(box.map.height / 60, 2));
  for (const tick of bytes) {
    const y = yOf(scene, tick);
    painter.rect(box.left - 4, Math.round(y), 4, 1, theme.line);
    painter.text(box.left - 7, y + 4, tickBytes(tick, bytes[1] - bytes[0]), {colour: theme.faint, align: "right", size: 10.5});
  }
  for (const [tick, number] of stepTicks(scene)) {
    const x = xOf(scene, tick);
    painter.rect(Math.round(x), bottom, 1, 4, theme.line);
    axisLabel(painter, x, bottom + 16, String(number), {width: box.width, theme});
  }
  painter.text(box.left - 7, bottom + 16, "step", {colour: theme.faint, align: "right", size: 10.5});
  painter.frame(box.left - 0.5, box.map.top - 0.5, box.mapWidth + 1, box.map.height + 1, {stroke: theme.line});
}

// [step, its number in the plan], where the numbers are round.
function stepTicks({plan, view, box}) {
  const ticks = decimalTicks(view.x0, view.x1, Math.max(box.mapWidth / 90, 2));
  if (plan.numbers === null) return ticks.map((tick) => [tick, tick]);
  const unit = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
  const round = [];
  for (let step = Math.max(Math.ceil(view.x0), 0); step < Math.min(view.x1, plan.steps) && round.length < 200; step += 1) {
    if (!isGap(plan, step) && stepNumber(plan, step) % unit === 0) round.push([step, stepNumber(plan, step)]);
  }
  return round;
}

// Centred below its tick, but inside the picture.
export function axisLabel(painter, x, y, words, {width, theme}) {
  const half = words.length * 3.1 + 1;
  painter.text(Math.min(x, width - half), y, words, {colour: theme.faint, align: "center", size: 10.5});
}

// Regions are stacked: a line at the start of each except the first, with its number. The map is tinted above the
// capacity.
export function drawRegions(painter, scene) {
  const {box, arena, theme} = scene;
  painter.clipped(box.left, box.map.top, box.mapWidth, box.map.height, () => {
    arena.regions.forEach((size, region) => {
      if (arena.regions.length < 2) return;
      const y = yOf(scene, arena.regionStarts[region]);
      if (region > 0) painter.rect(box.left, Math.round(y) - 1, box.mapWidth, 2, theme.ink);
      const top = yOf(scene, arena.regionStarts[region] + size);
      const words = `region ${region}, ${humanBytes(size)}`;
      if (y - top < 18) return;
      painter.rect(box.right - 9 - words.length * 6.1, y - 17, words.length * 6.1 + 9, 16, theme.background);
      painter.text(box.right - 5, y - 5, words, {colour: theme.ink, align: "right", size: 10.5, weight: 600});
    });
    drawGaps(painter, scene);
    if (arena.size < scene.limits.bytes) {
      painter.path([box.left, yOf(scene, arena.size), box.right, yOf(scene, arena.size)], {stroke: theme.faint, width: 1, dash: [2, 3]});
    }
    if (scene.capacity === null || scene.capacity >= arena.size) return;
    const y = yOf(scene, scene.capacity);
    painter.rect(box.left, box.map.top, box.mapWidth, Math.max(y - box.map.top, 0), theme.over);
    painter.path([box.left, y, box.right, y], {stroke: theme.capacity, width: 1, dash: [7, 3]});
  });
}

// In a comparison: the steps at which only the other plan has an op.
function drawGaps(painter, scene) {
  const {box, view, plan, theme} = scene;
  if (plan.isGap === null || box.mapWidth / (view.x1 - view.x0) < 1.5) return;
  for (let step = Math.max(Math.floor(view.x0), 0); step < Math.min(view.x1, plan.steps); step += 1) {
    if (plan.isGap[step]) painter.rect(xOf(scene, step), box.map.top, xOf(scene, step + 1) - xOf(scene, step), box.map.height, theme.gap);
  }
}

const CHARACTER = 6.7;  // the widest of the usual fonts, at 11 pixels
const LEAST_NAME = 14;
const LEAST_CUT = 56;  // pixels; shorter than this, names such as "Mo…u6" all look the same

// Names where there is room for them; the widest pieces first would flicker while panning, so the order is that of the index.
export function drawNames(painter, scene, most) {
  const {box, view, index, plan} = scene;
  const scaleX = box.mapWidth / (view.x1 - view.x0);
  const scaleY = box.map.height / (view.y1 - view.y0);
  let count = 0;
  visitSpan(index, Math.floor(view.x0), Math.ceil(view.x1), (i) => {
    if (count >= most || index.size[i] * scaleY < 13 || (index.end[i] - index.first[i]) * scaleX < LEAST_NAME) return;
    const left = Math.max(xOf(scene, index.first[i]), box.left);
    const right = Math.min(xOf(scene, index.end[i]), box.right);
    const top = Math.max(yOf(scene, index.low[i] + index.size[i]), box.map.top);
    const bottom = Math.min(yOf(scene, index.low[i]), box.map.top + box.map.height);
    const name = holderName(plan, index.holder[i]);
    if (right - left < Math.min(LEAST_CUT, name.length * CHARACTER + 8) || bottom - top < 12) return;
    count += 1;
    drawName(painter, scene, name, index.holder[i], {left, right, top, bottom, bytes: index.size[i]});
  });
}

function drawName(painter, scene, name, holder, at) {
  const dimmed = scene.lit && !scene.lit[holder];
  const colour = dimmed ? scene.theme.faint : inkOn(scene.colours[scene.categoryOf[holder]]);
  const room = Math.floor((at.right - at.left - 8) / CHARACTER);
  const two = at.bottom - at.top >= 28 && room >= 7;
  const y = (at.top + at.bottom) / 2 + (two ? -2 : 4);
  painter.text(at.left + 4, y, shorten(name, name.length > room ? room - 1 : room), {colour, size: 11});
  if (two) painter.text(at.left + 4, y + 13, humanBytes(at.bytes), {colour, size: 10});
}
