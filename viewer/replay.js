// A page of a replay: reserved, requested and the largest free block over the events of a trace. Zoom and pan as on the map.

import {el, bytesNode} from "./dom.js";
import {binaryTicks, decimalTicks, exactBytes, grouped, humanBytes, percent, plural} from "./format.js";
import {CanvasPainter} from "./painter.js";

const LEFT = 76;
const TOP = 28;
const BOTTOM = 26;

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

function scaleOf(chart) {
  const {replay, view, width, height} = chart;
  const top = Math.max(...replay.reserved, ...replay.requested, 1) * 1.05;
  return {
    top,
    x: (event) => LEFT + ((event - view.x0) / (view.x1 - view.x0)) * (width - LEFT - 10),
    y: (bytes) => height - BOTTOM - (bytes / top) * (height - TOP - BOTTOM),
  };
}

// chart: {replay, view: {x0, x1}, width, height, theme, hover: event | null}
export function drawReplay(painter, chart) {
  const {replay, view, width, height, theme} = chart;
  const scale = scaleOf(chart);
  painter.rect(0, 0, width, height, theme.background);
  for (const tick of binaryTicks(0, scale.top, height / 70)) {
    painter.rect(LEFT, Math.round(scale.y(tick)), width - LEFT - 10, 1, theme.grid);
    painter.text(LEFT - 7, scale.y(tick) + 4, humanBytes(tick), {colour: theme.faint, align: "right", size: 10.5});
  }
  for (const tick of decimalTicks(view.x0, view.x1, width / 110)) {
    painter.text(scale.x(tick), height - 8, grouped(tick), {colour: theme.faint, align: "center", size: 10.5});
  }
  painter.text(LEFT - 7, height - 8, "event", {colour: theme.faint, align: "right", size: 10.5});
  painter.clipped(LEFT, TOP - 2, width - LEFT - 10, height - TOP - BOTTOM + 4, () => drawSeries(painter, chart, scale));
  drawKey(painter, chart);
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
  painter.path([x, TOP, x, chart.height - BOTTOM], {stroke: theme.faint, dash: [2, 2]});
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

export function paintReplay(canvas, chart) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  canvas.width = Math.round(chart.width * ratio);
  canvas.height = Math.round(chart.height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawReplay(new CanvasPainter(context), chart);
}

// The event under a pointer, within the trace.
export function eventAt(canvas, chart, clientX) {
  const part = (clientX - canvas.getBoundingClientRect().left - LEFT) / (chart.width - LEFT - 10);
  return Math.min(Math.max(chart.view.x0 + part * (chart.view.x1 - chart.view.x0), 0), chart.replay.events);
}
