// The blocks of a replay: rectangles, events × addresses, below its curve. Colours tell streams apart, or sizes where there is
// one stream.

import {exactBytes, grouped, humanBytes, plural} from "./format.js";
import {CATEGORY_COUNT, THEMES, categoryColour, mixColours, parseColour, rampColour, toHex, toPixel} from "./palette.js";
import {indexRectangles, visitSpan} from "./pieces.js";

const SIZES = 8;  // classes of a factor of four, from the largest downwards

// The power of four that a size reaches.
function powerOf(size) {
  return Math.floor(Math.log2(Math.max(size, 1)) / 2);
}

// Of the columns in the page; null if there are none.
export function readBlocks(json) {
  if (!json || json.first.length === 0) return null;
  const streams = [...new Set(json.stream)].sort((a, b) => a - b);
  const most = json.size.reduce((a, b) => Math.max(a, b), 1);
  const byStream = streams.length > 1;
  const classOf = (n) => (byStream ? streams.indexOf(json.stream[n]) % CATEGORY_COUNT
                                   : Math.min(powerOf(most) - powerOf(json.size[n]), SIZES - 1));
  return {...json, index: indexRectangles(json), byStream, streams, most, height: Math.max(1, json.segments.reduce((a, b) => a + b, 0)),
          category: Uint8Array.from(json.first, (_, n) => classOf(n))};
}

export function blockColours(blocks, theme) {
  const count = blocks.byStream ? Math.min(blocks.streams.length, CATEGORY_COUNT) : SIZES;
  return Array.from({length: count}, (_, n) => (blocks.byStream ? categoryColour(n, theme) : rampColour(1 - n / (SIZES - 1), theme)));
}

// What `paintView` needs: pixel values by block.
export function blockPixels(blocks, theme) {
  const background = parseColour(THEMES[theme].background);
  const colours = blockColours(blocks, theme);
  const fills = colours.map(toPixel);
  const edges = colours.map((rgb) => toPixel(mixColours(rgb, background, 0.5)));
  return {fill: Uint32Array.from(blocks.category, (each) => fills[each]), edge: Uint32Array.from(blocks.category, (each) => edges[each]),
          background: toPixel(background), version: 1};
}

// What each colour means.
export function blockLabels(blocks) {
  const colours = blockColours(blocks, "light");
  if (blocks.byStream) return blocks.streams.slice(0, colours.length).map((stream) => `stream ${stream}`);
  return colours.map((_, n) => (n + 1 === colours.length ? "smaller" : `from ${humanBytes(4 ** Math.max(powerOf(blocks.most) - n, 0))}`));
}

// For SVG: one path per colour.
export function drawBlocks(painter, blocks, theme, {view, box}) {
  const colours = blockColours(blocks, theme);
  const boxes = colours.map(() => []);
  const {index} = blocks;
  visitSpan(index, Math.floor(view.x0), Math.ceil(view.x1), (i) => {
    const x = box.x(index.first[i]);
    const y = box.y(index.low[i] + index.size[i]);
    boxes[blocks.category[i]].push(x, y, Math.max(box.x(index.end[i]) - x, 0.3), Math.max(box.y(index.low[i]) - y, 0.3));
  });
  boxes.forEach((list, n) => list.length > 0 && painter.rects(list, toHex(colours[n])));
}

// [label, text] of a tooltip.
export function blockFacts(blocks, n, events) {
  const {first, end, size, low, stream} = blocks;
  return [["size", `${humanBytes(size[n])} (${exactBytes(size[n])})`],
          ["allocated", `at event ${grouped(first[n])}`],
          ["freed", end[n] >= events ? "not before the end" : `at event ${grouped(end[n])}, ${plural(end[n] - first[n], "event")} later`],
          ["address", `${humanBytes(low[n])} (${exactBytes(low[n])})`],
          ...(blocks.byStream ? [["stream", String(stream[n])]] : [])];
}

// "37,012 blocks; the 17,012 smallest are not shown".
export function blockWords(blocks) {
  const shown = plural(blocks.first.length, "block");
  return blocks.left_out > 0 ? `The ${shown} that take the most bytes × events; ${grouped(blocks.left_out)} smaller ones are left out.` : `All ${shown}.`;
}
