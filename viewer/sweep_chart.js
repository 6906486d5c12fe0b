// One chart of a sweep, as SVG: bytes against the values of a dim.

import {svgEl} from "./dom.js";
import {binaryTicks, exactBytes, grouped, humanBytes, shorten, tickBytes} from "./format.js";
import {CATEGORY_COUNT, THEMES, categoryColour, toHex} from "./palette.js";
import {SWEEP_FIGURES, dimScale, dimValue, dimWords, labelledValues} from "./sweep.js";

const CHART = {height: 260, left: 74, right: 16, top: 14, bottom: 44};
const LETTER = 6.2;  // the mean width of one, at the size of labels

// How line `n` is drawn; there are more lines than colours where nothing else tells them apart than dashes.
export function lineStyle(n, theme) {
  const dashes = ["", "6 3", "2 3"];
  const hues = CATEGORY_COUNT / 2;
  return {stroke: n % hues === 0 ? THEMES[theme].live : toHex(categoryColour(n % hues, theme)), dash: dashes[Math.floor(n / hues) % dashes.length]};
}

function scalesOf(chart, {width, figure, fits}) {
  const values = chart.lines.flatMap((line) => line.rows.map((row) => dimValue(row, chart.dim)));
  const most = Math.max(...chart.lines.flatMap((line) => line.rows.map((row) => row[figure])), 1);
  const near = fits.filter((size) => size <= most * 1.25);  // a larger memory would flatten the curves
  const top = Math.max(most, ...near) * 1.06;
  const {at, doubling} = dimScale([...new Set(values)]);
  const [wide, high] = [width - CHART.left - CHART.right, CHART.height - CHART.top - CHART.bottom];
  return {values, top, near, doubling, x: (value) => CHART.left + at(value) * wide, y: (bytes) => CHART.top + high - (bytes / top) * high};
}

function axesOf(chart, scales, {width, figure, theme}) {
  const {line, faint, ink, grid} = THEMES[theme];
  const [right, bottom] = [width - CHART.right, CHART.height - CHART.bottom];
  const ticks = binaryTicks(0, scales.top, (bottom - CHART.top) / 40);
  const parts = ticks.map((tick) => [
    svgEl("line", {x1: CHART.left, x2: right, y1: scales.y(tick), y2: scales.y(tick), stroke: tick === 0 ? line : grid}),
    svgEl("text", {x: CHART.left - 7, y: scales.y(tick) + 4, "text-anchor": "end", fill: faint}, tickBytes(tick, ticks[1] - ticks[0]))]);
  const words = (value) => grouped(value);
  for (const value of labelledValues(scales.values, scales.x, (each) => words(each).length * LETTER)) {
    parts.push(svgEl("line", {x1: scales.x(value), x2: scales.x(value), y1: bottom, y2: bottom + 4, stroke: line}),
               svgEl("text", {x: scales.x(value), y: bottom + 17, "text-anchor": "middle", fill: faint}, words(value)));
  }
  parts.push(svgEl("line", {x1: CHART.left, x2: CHART.left, y1: CHART.top, y2: bottom, stroke: line}),
             svgEl("text", {x: (CHART.left + right) / 2, y: CHART.height - 8, "text-anchor": "middle", fill: ink},
                   `${shorten(chart.dim, 40)}${scales.doubling ? " (each doubling equally far)" : ""}`),
             svgEl("text", {x: 12, y: (CHART.top + bottom) / 2, "text-anchor": "middle", fill: ink,
                            transform: `rotate(-90 12 ${(CHART.top + bottom) / 2})`}, SWEEP_FIGURES[figure]));
  return parts;
}

function fitLines(scales, {width, theme}) {
  const {capacity} = THEMES[theme];
  const right = width - CHART.right;
  // Words of small sizes at the right, of large ones at the left: curves nearly always rise.
  const place = (size) => (size < scales.top / 2 ? {x: right - 4, "text-anchor": "end"} : {x: CHART.left + 5});
  return scales.near.map((size) => [
    svgEl("line", {x1: CHART.left, x2: right, y1: scales.y(size), y2: scales.y(size), stroke: capacity, "stroke-dasharray": "4 3"}),
    svgEl("text", {...place(size), y: scales.y(size) - 4, fill: capacity}, humanBytes(size))]);
}

function pointTitle(row, chart, figure) {
  const gap = row.proven ? "the smallest possible (proven)" : `at least ${exactBytes(row.bound)}`;
  const others = dimWords(row, chart.dim);
  return `${chart.dim}=${dimValue(row, chart.dim)}${others ? `, ${others}` : ""}: ${SWEEP_FIGURES[figure].toLowerCase()} ` +
         `${humanBytes(row[figure])} (${exactBytes(row[figure])}); of the peak: ${gap}`;
}

// A filled point is proven, a hollow one is not.
function lineParts(line, n, chart, scales, {figure, theme}) {
  const {stroke, dash} = lineStyle(n, theme);
  const at = line.rows.map((row) => [scales.x(dimValue(row, chart.dim)), scales.y(row[figure])]);
  const parts = [svgEl("polyline", {points: at.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "), fill: "none", stroke, "stroke-width": 1.75,
                                    "stroke-dasharray": dash || null})];
  line.rows.forEach((row, i) => parts.push(
    svgEl("circle", {cx: at[i][0].toFixed(1), cy: at[i][1].toFixed(1), r: 3.5, fill: row.proven ? stroke : THEMES[theme].background, stroke,
                     "stroke-width": 1.5, class: "sweep-point"}, svgEl("title", {}, pointTitle(row, chart, figure)))));
  return parts;
}

// `how`: {width, figure, fits (sizes), theme (name)}.
export function sweepChart(chart, how) {
  const scales = scalesOf(chart, how);
  const label = `${SWEEP_FIGURES[how.figure]} of ${shorten(chart.input, 80)} against ${shorten(chart.dim, 40)}: ` +
                chart.lines.map((line) => line.rows.map((row) => `${dimValue(row, chart.dim)}: ${humanBytes(row[how.figure])}`).join(", ")).join("; ").slice(0, 400);
  return svgEl("svg", {class: "sweep-chart", width: how.width, height: CHART.height, viewBox: `0 0 ${how.width} ${CHART.height}`, role: "img",
                       "aria-label": label, "font-size": 10.5},
               axesOf(chart, scales, how), fitLines(scales, how), chart.lines.map((line, n) => lineParts(line, n, chart, scales, how)));
}
