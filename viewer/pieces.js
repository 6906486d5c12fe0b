// The rectangles of one arena, sorted by first step, so that those of a span of steps are found without visiting all:
// binary search finds the end of the walk, and blocks whose last step is before the span are skipped. Building sorts
// once. A tree over both axes was not worth it, since the visible part is mostly a span of steps at full height.

const BLOCK = 256;

export function indexPieces(plan, arena) {
  const order = piecesOfArena(plan, arena);
  const {first, end, low, size, holder} = plan.pieces;
  const index = {
    count: order.length,
    piece: order,
    first: Int32Array.from(order, (each) => first[each]),
    end: Int32Array.from(order, (each) => end[each]),
    low: Float64Array.from(order, (each) => low[each]),
    size: Float64Array.from(order, (each) => size[each]),
    holder: Uint32Array.from(order, (each) => holder[each]),
    blockEnd: new Int32Array(Math.ceil(order.length / BLOCK)),
  };
  for (let i = 0; i < order.length; i += 1) {
    const block = (i / BLOCK) | 0;
    if (index.end[i] > index.blockEnd[block]) index.blockEnd[block] = index.end[i];
  }
  return index;
}

// The same for rectangles that are not pieces of holders: {first, end, low, size}, sorted by `first`.
export function indexRectangles({first, end, low, size}) {
  const index = {count: first.length, first: Int32Array.from(first), end: Int32Array.from(end), low: Float64Array.from(low),
                 size: Float64Array.from(size), holder: Uint32Array.from(first, (_, i) => i),
                 blockEnd: new Int32Array(Math.ceil(first.length / BLOCK))};
  index.end.forEach((each, i) => {
    index.blockEnd[(i / BLOCK) | 0] = Math.max(index.blockEnd[(i / BLOCK) | 0], each);
  });
  return index;
}

function piecesOfArena(plan, arena) {
  const {first, holder} = plan.pieces;
  const list = [];
  let sorted = true;
  for (let i = 0; i < plan.pieces.count; i += 1) {
    if (plan.holders.arena[holder[i]] !== arena) continue;
    if (list.length > 0 && first[i] < first[list[list.length - 1]]) sorted = false;
    list.push(i);
  }
  if (!sorted) list.sort((a, b) => first[a] - first[b] || a - b);
  return Uint32Array.from(list);
}

// Calls visit(i) for each piece that is live during some of the steps [from, to), in the order of their first steps.
export function visitSpan(index, from, to, visit) {
  for (let block = 0; block < index.blockEnd.length; block += 1) {
    const start = block * BLOCK;
    if (index.first[start] >= to) return;
    if (index.blockEnd[block] <= from) continue;
    const stop = Math.min(start + BLOCK, index.count);
    for (let i = start; i < stop && index.first[i] < to; i += 1) {
      if (index.end[i] > from) visit(i);
    }
  }
}

// The piece at a point, or else the largest that touches the box around it; −1: none. Later pieces are on top.
export function pieceAt(index, point, box) {
  let exact = -1;
  let near = -1;
  let most = 0;
  visitSpan(index, box.first, box.end, (i) => {
    const low = index.low[i];
    const high = low + index.size[i];
    if (low >= box.high || high <= box.low) return;
    if (index.first[i] <= point.step && point.step < index.end[i] && low <= point.byte && point.byte < high) exact = i;
    const area = (index.end[i] - index.first[i]) * index.size[i];
    if (area > most) {
      most = area;
      near = i;
    }
  });
  return exact >= 0 ? exact : near;
}

// Bytes that are occupied at each step.
export function liveBytes(index, steps) {
  const live = new Float64Array(steps + 1);
  for (let i = 0; i < index.count; i += 1) {
    live[Math.min(index.first[i], steps)] += index.size[i];
    live[Math.min(index.end[i], steps)] -= index.size[i];
  }
  let sum = 0;
  for (let step = 0; step < steps; step += 1) {
    sum += live[step];
    live[step] = sum;
  }
  return live.subarray(0, steps);
}

// The holders that occupy bytes at a step, largest first: [{holder, bytes, low}].
export function liveSet(index, step) {
  const held = new Map();
  visitSpan(index, step, step + 1, (i) => {
    const entry = held.get(index.holder[i]);
    if (entry) {
      entry.bytes += index.size[i];
      entry.low = Math.min(entry.low, index.low[i]);
    } else {
      held.set(index.holder[i], {holder: index.holder[i], bytes: index.size[i], low: index.low[i]});
    }
  });
  return [...held.values()].sort((a, b) => b.bytes - a.bytes || a.low - b.low);
}

export function fullestStep(live) {
  let best = 0;
  for (let step = 1; step < live.length; step += 1) if (live[step] > live[best]) best = step;
  return best;
}

// Runs of steps whose live bytes are within a part (0.01) of the most: [{first, end, at, live}], for plans without an explanation.
export function fullRuns(live, within) {
  const least = live[fullestStep(live)] * (1 - within);
  const runs = [];
  for (let step = 0; step < live.length; step += 1) {
    if (live[step] < least || live[step] === 0) continue;
    const last = runs[runs.length - 1];
    if (last && last.end === step) {
      last.end = step + 1;
      if (live[step] > last.live) Object.assign(last, {at: step, live: live[step]});
    } else {
      runs.push({first: step, end: step + 1, at: step, live: live[step]});
    }
  }
  return runs;
}
