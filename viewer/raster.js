// Rasterises the map: rectangles into an array of pixels, without the canvas. A canvas without a GPU takes a
// microsecond or more for each rectangle, whatever its size; a hundred thousand rectangles smaller than a pixel would
// take a tenth of a second per frame. Here each costs a few additions.
//
//  1. A rectangle of two pixels or more in both directions is filled, with edges on whole pixels, and an edge line if it is large enough.
//  2. A smaller one adds its colour to the pixels that it touches, in proportion to the area it covers of each. Thus a pixel that
//     shows many steps has the mean of their colours, and is pale where little is occupied, but never so pale that it could be
//     taken for the background: what is smaller than a pixel in both directions shows too. A rectangle adds the same to a row from
//     its second pixel to the last but one, so only the differences between neighbouring pixels are stored, at most four: a
//     constant that is live at all steps costs no more than a tensor that is live for one step.
//  3. The differences of step 2 are summed from left to right and blended over the picture of step 1.
//
// The origin lies on a whole pixel, so panning moves the old picture, and only the newly visible strip is painted.

const LARGE = 2;
const EDGED = 5;
const MARGIN = 1;
const LEAST_COVER = 1 / 8192;  // less counts as 0: sums in single precision do not return to exactly 0
const PALEST = 0.3;  // of the colour, where next to nothing of a pixel is covered

export function makeRaster(width, height) {
  const bytes = new Uint8ClampedArray(4 * width * height);
  return {
    width,
    height,
    bytes,
    pixels: new Uint32Array(bytes.buffer),
    changes: new Float32Array(4 * width * height),
    touchedFrom: new Int32Array(height).fill(width),
    touchedTo: new Int32Array(height).fill(0),
    scaleX: 0,
    scaleY: 0,
    originX: 0,
    originY: 0,
    index: null,
    version: -1,
  };
}

// Paints what the view shows and returns the parts that are new: [{x, y, width, height}]. `colours` has fill and edge (ABGR,
// by holder), background, and a version that changes with any of them.
export function paintView(raster, index, colours, view) {
  const scaleX = raster.width / (view.x1 - view.x0);
  const scaleY = raster.height / (view.y1 - view.y0);
  const same = raster.index === index && raster.version === colours.version && near(scaleX, raster.scaleX) && near(scaleY, raster.scaleY);
  if (!same) Object.assign(raster, {scaleX, scaleY});
  const originX = Math.round(view.x0 * raster.scaleX);
  const originY = Math.round(view.y0 * raster.scaleY);
  const moveX = originX - raster.originX;
  const moveY = originY - raster.originY;
  Object.assign(raster, {originX, originY, index, version: colours.version});
  const parts = !same || Math.abs(moveX) >= raster.width || Math.abs(moveY) >= raster.height
    ? [{x: 0, y: 0, width: raster.width, height: raster.height}]
    : shift(raster, moveX, moveY);
  for (const part of parts) paintPart(raster, index, colours, part);
  return moveX === 0 && moveY === 0 || !same ? parts : [{x: 0, y: 0, width: raster.width, height: raster.height}];
}

function near(a, b) {
  return Math.abs(a - b) <= 1e-9 * Math.abs(b);
}

// Moves the picture and returns what must be painted: at most one vertical and one horizontal strip.
function shift(raster, moveX, moveY) {
  const {width, height, pixels} = raster;
  if (moveX !== 0 || moveY !== 0) {
    const from = moveY > 0 ? height - 1 : 0;
    const by = moveY > 0 ? -1 : 1;
    for (let n = 0, y = from; n < height; n += 1, y += by) {
      const source = y - moveY;
      if (source < 0 || source >= height) continue;
      const start = source * width;
      if (moveX >= 0) pixels.copyWithin(y * width, start + moveX, start + width);
      else pixels.copyWithin(y * width - moveX, start, start + width + moveX);
    }
  }
  const parts = [];
  if (moveX > 0) parts.push({x: width - moveX, y: 0, width: moveX, height});
  if (moveX < 0) parts.push({x: 0, y: 0, width: -moveX, height});
  if (moveY > 0) parts.push({x: 0, y: 0, width, height: moveY});
  if (moveY < 0) parts.push({x: 0, y: height + moveY, width, height: -moveY});
  return parts;
}

function paintPart(raster, index, colours, part) {
  const right = part.x + part.width;
  const bottom = part.y + part.height;
  for (let y = part.y; y < bottom; y += 1) raster.pixels.fill(colours.background, y * raster.width + part.x, y * raster.width + right);
  const clip = {left: part.x, right, top: part.y, bottom};
  const from = Math.floor((raster.originX + part.x - MARGIN) / raster.scaleX);
  const to = Math.ceil((raster.originX + right + MARGIN) / raster.scaleX);
  paintPieces(raster, index, colours, clip, from, to);
  layOver(raster, clip);
}

function paintPieces(raster, index, colours, clip, from, to) {
  const {scaleX, scaleY, originX, originY, height} = raster;
  const {first, end, low, size, holder, blockEnd} = index;
  const block = 256;
  for (let i = 0; i < index.count; i += 1) {
    if (i % block === 0) {
      while (i < index.count && blockEnd[i / block] <= from) i += block;
      if (i >= index.count || first[i] >= to) return;
    }
    if (end[i] <= from) continue;
    const x0 = first[i] * scaleX - originX;
    const x1 = end[i] * scaleX - originX;
    const y1 = height - (low[i] * scaleY - originY);
    const y0 = y1 - size[i] * scaleY;
    if (x0 >= clip.right || x1 <= clip.left || y0 >= clip.bottom || y1 <= clip.top) continue;
    if (x1 - x0 >= LARGE && y1 - y0 >= LARGE) fillLarge(raster, clip, x0, x1, y0, y1, colours.fill[holder[i]], colours.edge[holder[i]]);
    else addSmall(raster, clip, x0, x1, y0, y1, colours.fill[holder[i]]);
  }
}

function fillLarge(raster, clip, x0, x1, y0, y1, fill, edge) {
  const left = Math.round(x0);
  const top = Math.round(y0);
  const edged = x1 - x0 >= EDGED && y1 - y0 >= EDGED;
  const xFrom = Math.max(left, clip.left);
  const xTo = Math.min(Math.round(x1), clip.right);
  const yFrom = Math.max(top, clip.top);
  const yTo = Math.min(Math.round(y1), clip.bottom);
  if (xFrom >= xTo) return;
  for (let y = yFrom; y < yTo; y += 1) {
    const row = y * raster.width;
    raster.pixels.fill(edged && y === top ? edge : fill, row + xFrom, row + xTo);
    if (edged && xFrom === left) raster.pixels[row + left] = edge;
  }
}

function addSmall(raster, clip, x0, x1, y0, y1, fill) {
  const {width, touchedFrom, touchedTo} = raster;
  const xFrom = Math.max(Math.floor(x0), clip.left);
  const xTo = Math.min(Math.ceil(x1), clip.right);
  const yFrom = Math.max(Math.floor(y0), clip.top);
  const yTo = Math.min(Math.ceil(y1), clip.bottom);
  if (xFrom >= xTo) return;
  const first = coverOf(xFrom, x0, x1);
  const second = xFrom + 1 < xTo ? coverOf(xFrom + 1, x0, x1) : first;
  const last = xTo - 1 > xFrom + 1 ? coverOf(xTo - 1, x0, x1) : second;
  for (let y = yFrom; y < yTo; y += 1) {
    const tall = Math.min(y + 1, y1) - Math.max(y, y0);
    if (xFrom < touchedFrom[y]) touchedFrom[y] = xFrom;
    if (xTo >= touchedTo[y]) touchedTo[y] = Math.min(xTo + 1, clip.right);
    const row = y * width;
    change(raster.changes, row + xFrom, tall * first, fill);
    if (second !== first) change(raster.changes, row + xFrom + 1, tall * (second - first), fill);
    if (last !== second) change(raster.changes, row + xTo - 1, tall * (last - second), fill);
    if (xTo < clip.right) change(raster.changes, row + xTo, -tall * last, fill);
  }
}

// How much of a column of pixels lies in [x0, x1).
function coverOf(x, x0, x1) {
  return Math.min(x + 1, x1) - Math.max(x, x0);
}

function change(changes, pixel, cover, fill) {
  const at = 4 * pixel;
  changes[at] += cover * (fill & 255);
  changes[at + 1] += cover * ((fill >>> 8) & 255);
  changes[at + 2] += cover * ((fill >>> 16) & 255);
  changes[at + 3] += cover;
}

function layOver(raster, clip) {
  const {changes, bytes, width, touchedFrom, touchedTo} = raster;
  for (let y = clip.top; y < clip.bottom; y += 1) {
    let [red, green, blue, cover] = [0, 0, 0, 0];
    let at = 4 * (y * width + touchedFrom[y]);
    for (let x = touchedFrom[y]; x < touchedTo[y]; x += 1, at += 4) {
      red += changes[at];
      green += changes[at + 1];
      blue += changes[at + 2];
      cover += changes[at + 3];
      changes[at] = changes[at + 1] = changes[at + 2] = changes[at + 3] = 0;
      if (cover < LEAST_COVER) continue;
      const shade = cover > 1 ? 1 : PALEST + (1 - PALEST) * cover;
      const part = shade / cover;
      const rest = 1 - shade;
      bytes[at] = bytes[at] * rest + red * part;
      bytes[at + 1] = bytes[at + 1] * rest + green * part;
      bytes[at + 2] = bytes[at + 2] * rest + blue * part;
    }
    touchedFrom[y] = width;
    touchedTo[y] = 0;
  }
}
