// A page of a replay: reserved, requested and the largest free block over the events of a trace, and below that the blocks.
// Zoom and pan as on the map.

import {blockColours, blockLabels, blockPixels, drawBlocks} from "./blocks.js";
import {el, bytesNode} from "./dom.js";
import {axisLabel} from "./draw.js";
import {binaryTicks, decimalTicks, exactBytes, grouped, humanBytes, percent, plural} from "./format.js";
import {CanvasPainter} from "./painter.js";
import {toHex} from "./palette.js";
import {pieceAt} from "./pieces.js";
import {makeRaster, paintView} from "./raster.js";

const LEFT = 76;
const TOP = 28;
const BOTTOM = 26;
const RIGHT_EDGE = 10;
const BETWEEN = 24;  // between the curve and the blocks: their key
const CURVE_PART = 0.4;

export function replayFigures(replay) {
  const {report} = replay;
  const figure = (label, value, note) => el("div", {class: "figure"}, el("dt", {}, label),
                                            el("dd", {}, value, note ? el("span", {class: "note"}, note) : null));
  const count = (number) => el("span", {class: "bytes"}, grouped(number));
  return el("dl", {class: "plan-figures", "aria-label": "Figures of the replay"},
            figure("Requested", bytesNode(report.peak_requested_bytes), "peak"),
            figure("Reserved", bytesNode(report.peak_reserved_bytes), `${percent(report.waste, 1)} waste`),
            figure("Time", el("span", {class: "bytes"}, `${grouped(Math.round(report.ns_per_event))} ns`), "per event"),
            figure("Events", count(report.events), `${report.allocator} on ${report.device}`),
            figure("Device calls", count(report.creates + report.maps + report.unmaps + report.access_calls),
                   `${plural(report.creates, "create")}, ${plural(report.maps, "map")}, ${plural(report.unmaps, "unmap")}, ${plural(report.event_waits, "wait")}`),
            report.failures > 0 ? figure("Failures", count(report.failures), "allocations refused") : null);
}

// The samples that a view shows, as numbers from the first to one past the last, one more on each side.
export function samplesIn(at, x0, x1) {
  let from = 0;
  while (from + 1 < at.length && at[from + 1] <= x0) from += 1;
  let to = from;
  while (to < at.length && at[to] <= x1) to += 1;
  return [from, Math.min(to + 1, at.length)];
}

// The sample at or before an event.
export function sampleAt(at, event) {
  let low = 0;
  let high = at.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (at[middle] <= event) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Where curve and blocks lie: {x(event), y(bytes), top (bytes), bottom (of the curve), blocks: {top, height, y(address)} | null}.
function scaleOf(chart) {
  const {replay, blocks, view, width, height} = chart;
  const whole = height - TOP - BOTTOM;
  const curve = blocks ? Math.round(whole * CURVE_PART) - BETWEEN : whole;
  const top = replay.reserved.reduce((a, b) => Math.max(a, b), replay.requested.reduce((a, b) => Math.max(a, b), 1)) * 1.05;
  const own = {top: TOP + curve + BETWEEN, height: whole - curve - BETWEEN};
  return {
    top,
    bottom: TOP + curve,
    x: (event) => LEFT + ((event - view.x0) / (view.x1 - view.x0)) * (width - LEFT - RIGHT_EDGE),
    y: (bytes) => TOP + curve - (bytes / top) * curve,
    blocks: blocks ? {...own, y: (address) => own.top + own.height - (address / blocks.height) * own.height} : null,
  };
}

// chart: {replay, blocks | null, view: {x0, x1}, width, height, theme, themeName, hover: event | null, block: number | −1}. `paint` draws
// the rectangles of the blocks.
function drawReplay(painter, chart, paint) {
  const {blocks, view, width, height, theme} = chart;
  const scale = scaleOf(chart);
  painter.rect(0, 0, width, height, theme.background);
  bytesAxis(painter, chart, binaryTicks(0, scale.top, (scale.bottom - TOP) / 60), scale.y);
  for (const tick of decimalTicks(view.x0, view.x1, width / 110)) axisLabel(painter, scale.x(tick), height - 8, grouped(tick), {width, theme});
  painter.text(LEFT - 7, height - 8, "event", {colour: theme.faint, align: "right", size: 10.5});
  painter.clipped(LEFT, TOP - 2, width - LEFT - RIGHT_EDGE, scale.bottom - TOP + 4, () => drawSeries(painter, chart, scale));
  if (blocks) {
    painter.clipped(LEFT, scale.blocks.top, width - LEFT - RIGHT_EDGE, scale.blocks.height, () => paint(painter, scale));
    drawSegments(painter, chart, scale);
    drawBlockKey(painter, chart, scale);
    painter.clipped(LEFT, scale.blocks.top, width - LEFT - RIGHT_EDGE, scale.blocks.height, () => outlineBlock(painter, chart, scale));
  }
  drawKey(painter, chart);
}

function bytesAxis(painter, {width, theme}, ticks, y) {
  for (const tick of ticks) {
    painter.rect(LEFT, Math.round(y(tick)), width - LEFT - RIGHT_EDGE, 1, theme.grid);
    painter.text(LEFT - 7, y(tick) + 4, humanBytes(tick), {colour: theme.faint, align: "right", size: 10.5});
  }
}

// Addresses that no block uses are left out: a line where the next run of addresses begins.
function drawSegments(painter, {blocks, width, theme}, scale) {
  const {top, height, y} = scale.blocks;
  for (const tick of binaryTicks(0, blocks.height, height / 60)) {
    painter.text(LEFT - 7, y(tick) + 4, humanBytes(tick), {colour: theme.faint, align: "right", size: 10.5});
  }
  let start = 0;
  for (const size of blocks.segments) {
    if (start > 0) painter.rect(LEFT, Math.round(y(start)), width - LEFT - RIGHT_EDGE, 1, theme.line);
    start += size;
  }
  painter.frame(LEFT - 0.5, top - 0.5, width - LEFT - RIGHT_EDGE + 1, height + 1, {stroke: theme.line});
}

// Where the labels have no room, the first and the last of them.
function drawBlockKey(painter, {blocks, width, theme, themeName}, scale) {
  const y = scale.blocks.top - 7;
  const colours = blockColours(blocks, themeName);
  const labels = blockLabels(blocks);
  const room = (label) => (label === "" ? 12 : 26 + label.length * 6.2);
  const start = LEFT + 50;
  const fits = labels.reduce((sum, label) => sum + room(label), start) <= width - RIGHT_EDGE;
  painter.text(LEFT, y, "blocks:", {colour: theme.ink, size: 11});
  let x = start;
  labels.forEach((label, n) => {
    const words = fits || n + 1 === labels.length ? label : "";
    if (!fits && n === 0) {
      painter.text(x, y, label, {colour: theme.faint, size: 10.5});
      x += room(label) - 16;
    }
    painter.rect(x, y - 9, 10, 10, toHex(colours[n]));
    if (words !== "") painter.text(x + 14, y, words, {colour: theme.faint, size: 10.5});
    x += room(words);
  });
}

function outlineBlock(painter, {blocks, block, theme}, scale) {
  if (block < 0) return;
  const {first, end, low, size} = blocks;
  const [left, right] = [scale.x(first[block]), scale.x(end[block])];
  const [top, bottom] = [scale.blocks.y(low[block] + size[block]), scale.blocks.y(low[block])];
  painter.frame(left, top, Math.max(right - left, 2), Math.max(bottom - top, 2), {stroke: theme.ink, width: 1.5});
}

function drawSeries(painter, chart, scale) {
  const {replay, view, theme} = chart;
  const [from, to] = samplesIn(replay.at, view.x0, view.x1);
  const line = (values) => {
    const points = [];
    for (let i = from; i < to; i += 1) points.push(scale.x(replay.at[i]), scale.y(values[i]));
    return points;
  };
  const area = (values, fill) => painter.path([scale.x(replay.at[from]), scale.y(0), ...line(values), scale.x(replay.at[to - 1]),
                                               scale.y(0)], {fill});
  area(replay.reserved, theme.over);
  area(replay.requested, theme.area);
  painter.path(line(replay.reserved), {stroke: theme.accent, width: 1.5});
  painter.path(line(replay.requested), {stroke: theme.live, width: 1.5});
  painter.path(line(replay.largest_idle), {stroke: theme.ghost, width: 1.25, dash: [3, 2]});
  if (chart.hover === null) return;
  const x = scale.x(replay.at[sampleAt(replay.at, chart.hover)]);
  painter.path([x, TOP, x, scale.bottom], {stroke: theme.faint, dash: [2, 2]});
}

function drawKey(painter, chart) {
  const {theme} = chart;
  let x = LEFT;
  for (const [words, stroke, dash] of [["reserved", theme.accent], ["requested", theme.live], ["largest free block", theme.ghost, [3, 2]]]) {
    painter.path([x, 12, x + 14, 12], {stroke, width: 1.75, dash});
    painter.text(x + 18, 16, words, {colour: theme.ink, size: 11});
    x += 34 + words.length * 6.2;
  }
}

export function replayFacts(replay, event) {
  const n = sampleAt(replay.at, event);
  const [requested, reserved] = [replay.requested[n], replay.reserved[n]];
  const words = (bytes) => `${humanBytes(bytes)} (${exactBytes(bytes)})`;
  return {event: replay.at[n], facts: [["requested", words(requested)], ["reserved", words(reserved)],
                                       ["free", `${words(reserved - requested)}, ${percent(reserved - requested, reserved)}`],
                                       ["largest free block", words(replay.largest_idle[n])]]};
}

// The chart as a table for screen readers: the two peaks and ten points between.
export function replayTable(replay) {
  const count = replay.at.length;
  const rows = [...new Set(Array.from({length: Math.min(count, 11)},
                                      (_, n) => Math.round((n * (count - 1)) / Math.max(1, Math.min(count, 11) - 1))))];
  const cell = (bytes) => el("td", {class: "number", title: exactBytes(bytes)}, humanBytes(bytes));
  return el("details", {}, el("summary", {}, "As a table"), el("table", {class: "figures"},
            el("thead", {}, el("tr", {}, ["event", "requested", "reserved", "largest free block"].map((head) => el("th", {scope: "col"}, head)))),
            el("tbody", {}, rows.map((n) => el("tr", {}, el("th", {scope: "row"}, grouped(replay.at[n])), cell(replay.requested[n]),
                                               cell(replay.reserved[n]), cell(replay.largest_idle[n]))))));
}

// The picture of the blocks, painted again only where the view has changed; `ratio`: pixels of the screen.
function paintBlocks(context, chart, scale, ratio) {
  const {blocks, view, themeName} = chart;
  const width = Math.max(1, Math.round((chart.width - LEFT - RIGHT_EDGE) * ratio));
  const height = Math.max(1, Math.round(scale.blocks.height * ratio));
  const old = chart.picture;
  if (!old || old.raster.width !== width || old.raster.height !== height || old.themeName !== themeName) {
    const canvas = el("canvas", {width: String(width), height: String(height)});
    const raster = makeRaster(width, height);
    chart.picture = {canvas, raster, themeName, own: canvas.getContext("2d", {alpha: false}), image: new ImageData(raster.bytes, width, height),
                     pixels: blockPixels(blocks, themeName)};
  }
  const {canvas, raster, own, image, pixels} = chart.picture;
  for (const part of paintView(raster, blocks.index, pixels, {...view, y0: 0, y1: blocks.height})) {
    own.putImageData(image, 0, 0, part.x, part.y, part.width, part.height);
  }
  context.drawImage(canvas, LEFT, scale.blocks.top, chart.width - LEFT - RIGHT_EDGE, scale.blocks.height);
}

// As a drawing, for SVG.
export function drawReplaySvg(painter, chart) {
  drawReplay(painter, {...chart, hover: null, block: -1}, (own, scale) => {
    drawBlocks(own, chart.blocks, chart.themeName, {view: chart.view, box: {x: scale.x, y: scale.blocks.y}});
  });
}

export function paintReplay(canvas, chart) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  canvas.width = Math.round(chart.width * ratio);
  canvas.height = Math.round(chart.height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawReplay(new CanvasPainter(context), chart, (painter, scale) => paintBlocks(context, chart, scale, ratio));
}

// The event under a pointer, within the trace.
export function eventAt(canvas, chart, clientX) {
  const part = (clientX - canvas.getBoundingClientRect().left - LEFT) / (chart.width - LEFT - RIGHT_EDGE);
  return Math.min(Math.max(chart.view.x0 + part * (chart.view.x1 - chart.view.x0), 0), chart.replay.events);
}

// The block under a pointer, within two pixels; −1: none.
export function blockUnder(canvas, chart, pointer) {
  const {blocks, view, width} = chart;
  if (!blocks) return -1;
  const scale = scaleOf(chart).blocks;
  const y = pointer.clientY - canvas.getBoundingClientRect().top;
  if (y < scale.top || y >= scale.top + scale.height) return -1;
  const point = {step: eventAt(canvas, chart, pointer.clientX), byte: ((scale.top + scale.height - y) / scale.height) * blocks.height};
  const nearX = ((view.x1 - view.x0) / (width - LEFT - RIGHT_EDGE)) * 1.5;
  const nearY = (blocks.height / scale.height) * 1.5;
  return pieceAt(blocks.index, point, {first: point.step - nearX, end: point.step + nearX, low: point.byte - nearY, high: point.byte + nearY});
}
