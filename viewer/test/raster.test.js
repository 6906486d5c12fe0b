import assert from "node:assert/strict";
import test from "node:test";
import {indexPieces} from "../pieces.js";
import {makeRaster, paintView} from "../raster.js";
import {readPlan} from "../model.js";
import {samplePage} from "./sample.js";
import {smallPlan} from "./small.js";

const WHITE = 0xffffffff;
const colours = (count, fill) => ({fill: new Uint32Array(count).fill(fill), edge: new Uint32Array(count).fill(fill), background: WHITE,
                                   version: 1});

test("a large rectangle covers its pixels and no others", () => {
  const raster = makeRaster(40, 64);
  paintView(raster, indexPieces(smallPlan(), 0), colours(4, 0xff0000ff), {x0: 0, x1: 4, y0: 0, y1: 256});
  const at = (x, y) => raster.pixels[y * 40 + x];
  assert.equal(at(5, 63), 0xff0000ff);
  assert.equal(at(5, 0), WHITE, "nothing above 192 at step 0");
  assert.equal(at(15, 0), 0xff0000ff, "the workspace at step 1");
  assert.equal(at(25, 20), WHITE, "the upper half is gone at step 2");
  assert.equal(at(35, 56), 0xff0000ff);
  assert.equal(at(35, 55), WHITE);
});

test("many rectangles in a pixel give the mean of their colours", () => {
  const raster = makeRaster(1, 1);
  paintView(raster, indexPieces(smallPlan(), 0), colours(4, 0xff000000), {x0: 0, x1: 4, y0: 0, y1: 256});
  const shade = 0.3 + 0.7 * ((192 + 256 + 128 + 32) / (4 * 256));
  for (const byte of raster.bytes.slice(0, 3)) assert.ok(Math.abs(byte - 255 * (1 - shade)) <= 1, `${byte}`);
});

test("panning gives the picture that painting anew gives", () => {
  const plan = readPlan(samplePage({tensors: 2000, plain: true}).plans[0], 0);
  const index = indexPieces(plan, 0);
  const own = colours(plan.holders.count, 0xff336699);
  own.fill.forEach((_, holder) => (own.fill[holder] = (0xff000000 | (holder * 2654435761)) >>> 0));
  const moved = makeRaster(200, 120);
  const size = plan.arenas[0].size;
  for (const [x0, y0] of [[100, 0], [112.3, 0], [90, 0.1 * size], [250, 0.05 * size], [251, 0.2 * size], [251, 0]]) {
    const view = {x0, x1: x0 + 300, y0, y1: y0 + size * 0.7};
    paintView(moved, index, own, view);
    const fresh = makeRaster(200, 120);
    paintView(fresh, index, own, view);
    assert.deepEqual(differences(moved.bytes, fresh.bytes), 0, `at ${x0}, ${y0}`);
  }
});

// Each is one pixel high and spans the whole width.
function constants(count, steps) {
  const column = (type, valueOf) => type.from({length: count}, (_, i) => valueOf(i));
  return {count, first: column(Int32Array, () => 0), end: column(Int32Array, () => steps), low: column(Float64Array, (i) => i),
          size: column(Float64Array, () => 1), holder: column(Uint32Array, (i) => i), blockEnd: new Int32Array(Math.ceil(count / 256)).fill(steps)};
}

// How often painting so many constants writes to the sums.
function writesOf(count, width) {
  const raster = makeRaster(width, 1);
  let writes = 0;
  raster.changes = new Proxy(raster.changes, {set: (target, key, value) => {
    writes += 1;
    target[key] = value;
    return true;
  }});
  paintView(raster, constants(count, 1000), colours(count, 0xff336699), {x0: 0, x1: 1000, y0: 0, y1: count});
  return writes;
}

test("what is there at all steps costs no more the wider the map is", () => {
  const each = (width) => writesOf(101, width) - writesOf(100, width);
  assert.equal(each(2000), each(20));
  assert.ok(each(2000) <= 16, `${each(2000)}`);
});

test("flat rectangles cover what they cover, to both sides of their ends", () => {
  const raster = makeRaster(10, 1);
  const index = {...constants(3, 0), first: Int32Array.of(1, 1, 5), end: Int32Array.of(4, 5, 8)};
  index.blockEnd[0] = 8;
  paintView(raster, index, colours(3, 0xff000000), {x0: 0, x1: 20, y0: 0, y1: 3});
  const shade = (sixths) => (sixths === 0 ? 0 : Math.round(255 * (0.3 + 0.7 * (sixths / 6))));
  const dark = [...raster.pixels].map((_, x) => 255 - raster.bytes[4 * x]);
  [2, 4, 2, 2, 0, 0, 0, 0, 0, 0].map(shade).forEach((wanted, x) => assert.ok(Math.abs(dark[x] - wanted) <= 1, `${x}: ${dark[x]}, not ${wanted}`));
});

test("a map whose rectangles are all smaller than a pixel shows them", () => {
  // Lives of two steps of 100,000, a thousandth of the height: without a least shade no pixel differs from white by more than one.
  const count = 50;
  const column = (type, valueOf) => type.from({length: count}, (_, i) => valueOf(i));
  const index = {count, first: column(Int32Array, (i) => i * 2000), end: column(Int32Array, (i) => i * 2000 + 2),
                 low: column(Float64Array, () => 0), size: column(Float64Array, () => 8), holder: column(Uint32Array, (i) => i),
                 blockEnd: Int32Array.of(100000)};
  const raster = makeRaster(500, 400);
  paintView(raster, index, colours(count, 0xff000000), {x0: 0, x1: 100000, y0: 0, y1: 4096});
  const dark = [...raster.pixels].filter((_, i) => raster.bytes[4 * i] < 200).length;
  assert.ok(dark >= count, `${dark} of ${count} are to be seen`);
});

// Bytes that differ by more than rounding.
function differences(a, b) {
  let count = 0;
  for (let i = 0; i < a.length; i += 1) if (Math.abs(a[i] - b[i]) > 1) count += 1;
  return count;
}

test("another version of the colours paints everything", () => {
  const raster = makeRaster(10, 10);
  const index = indexPieces(smallPlan(), 0);
  const view = {x0: 0, x1: 4, y0: 0, y1: 256};
  paintView(raster, index, colours(4, 0xff0000ff), view);
  paintView(raster, index, {...colours(4, 0xff00ff00), version: 2}, view);
  assert.ok(!raster.pixels.includes(0xff0000ff));
  assert.ok(raster.pixels.includes(0xff00ff00));
});
