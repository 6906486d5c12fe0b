// Decodes the text in the page into typed arrays. docs/page.md says what the columns mean.

import {alignPlans} from "./align.js";
import {plural, stepSpan} from "./format.js";

export const ROLE = {input: 1, output: 2, constant: 3, variable: 4, mask: 7, kept: 8};

// Base64 of gzip of JSON. Throws an Error that a person can read.
export async function decodePage(text) {
  const packed = bytesOfBase64(text.replace(/\s+/g, ""));
  if (packed.length === 0) throw new Error("the page contains no data");
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old (it has no DecompressionStream)");
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const json = JSON.parse(await new Response(stream).text());
  if (json.schema !== "stowage.page/1") throw new Error(`the data is '${json.schema}', but this viewer reads 'stowage.page/1'`);
  return json;
}

export function bytesOfBase64(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// The plans of a page as models; everything else is unchanged.
export function readPage(json) {
  const plans = (json.plans || []).map(readPlan);
  alignPlans(plans);
  return {
    title: json.title || "",
    plans,
    diff: json.diff || null,
    replay: json.replay || null,
    sweep: json.sweep || null,
  };
}

export function readPlan(json, number) {
  const holders = readHolders(json.holders);
  const plan = {
    number: number || 0,
    label: json.label || "",
    summary: json.summary,
    capacity: json.capacity === undefined ? null : json.capacity,
    strings: json.strings,
    steps: Math.max(1, json.steps),
    ops: ints(json.ops, ["name", "kind", "stream", "layer", "source"]),
    tensors: readTensors(json.tensors),
    reads: Int32Array.from(json.reads),
    arenas: json.arenas.map(readArena),
    holders,
    pieces: readPieces(json.pieces, holders),
    explain: json.explain || null,
    text: json.text || null,
    isGap: null,  // in a comparison, by step: no op of this plan runs, but one of the other plan does
    numbers: null,  // in a comparison, by step: the number that the step has in its own plan; of a gap, the one before
  };
  plan.readStart = startsOf(json.tensors.read_count);
  plan.holderTensors = groupBy(plan.tensors.holder, holders.count);
  return plan;
}

function ints(columns, names) {
  const table = {count: columns[names[0]].length};
  for (const name of names) table[name] = Int32Array.from(columns[name] || []);
  return table;
}

function readTensors(columns) {
  const tensors = ints(columns, ["name", "type", "shape", "role", "holder", "producer"]);
  tensors.size = Float64Array.from(columns.size);
  return tensors;
}

function readHolders(columns) {
  const holders = ints(columns, ["arena", "tensor", "op", "kind", "scope", "first", "end"]);
  holders.size = Float64Array.from(columns.size);
  holders.pieceStart = startsOf(columns.piece_count);
  return holders;
}

function readPieces(columns, holders) {
  const pieces = ints(columns, ["first", "end"]);
  pieces.low = Float64Array.from(columns.low);
  pieces.size = Float64Array.from(columns.size);
  pieces.holder = new Uint32Array(pieces.count);
  for (let holder = 0; holder < holders.count; holder += 1) {
    pieces.holder.fill(holder, holders.pieceStart[holder], holders.pieceStart[holder + 1]);
  }
  return pieces;
}

function readArena(json, number) {
  const starts = [];
  let start = 0;
  for (const size of json.regions) {
    starts.push(start);
    start += size;
  }
  return {
    number,
    name: json.name,
    memory: json.memory,
    kind: json.kind,
    size: json.size,
    bound: json.lower_bound,
    proven: json.proven_optimal,
    regions: json.regions,
    regionStarts: starts,
    counts: Boolean(json.counts),
    concurrent: Boolean(json.concurrent),
  };
}

// Prefix sums: where the rows of each count begin; one entry more than counts.
export function startsOf(counts) {
  const starts = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i += 1) starts[i + 1] = starts[i] + counts[i];
  return starts;
}

// For keys in [0, count): the rows that have each, in their order, as {starts, rows}. Rows with key −1 are in none.
export function groupBy(keys, count) {
  const starts = new Uint32Array(count + 1);
  for (const key of keys) if (key >= 0) starts[key + 1] += 1;
  for (let i = 0; i < count; i += 1) starts[i + 1] += starts[i];
  const rows = new Uint32Array(starts[count]);
  const next = starts.slice(0, count);
  for (let row = 0; row < keys.length; row += 1) {
    const key = keys[row];
    if (key >= 0) rows[next[key]++] = row;
  }
  return {starts, rows};
}

export function tensorsOf(plan, holder) {
  return plan.holderTensors.rows.subarray(plan.holderTensors.starts[holder], plan.holderTensors.starts[holder + 1]);
}

export function readsOf(plan, tensor) {
  return plan.reads.subarray(plan.readStart[tensor], plan.readStart[tensor + 1]);
}

export function tensorName(plan, tensor) {
  return plan.strings[plan.tensors.name[tensor]] || `tensor ${tensor}`;
}

// ------------------------------------------------------------------------------------------------ steps, as people read them

export function isGap(plan, step) {
  return plan.isGap !== null && plan.isGap[step] === 1;
}

export function stepNumber(plan, step) {
  return plan.numbers === null ? step : plan.numbers[step];
}

// "step 29"; where no op of this plan runs: "after step 29".
export function stepName(plan, step) {
  const number = stepNumber(plan, step);
  if (!isGap(plan, step)) return `step ${number}`;
  return number < 0 ? "before step 0" : `after step ${number}`;
}

// "steps 27–29".
export function spanName(plan, first, end) {
  return stepSpan(...spanNumbers(plan, first, end));
}

// "3 steps".
export function spanLength(plan, first, end) {
  const [from, to] = spanNumbers(plan, first, end);
  return plural(to - from, "step");
}

export function spanNumbers(plan, first, end) {
  return [Math.max(stepNumber(plan, first), 0), end > first ? stepNumber(plan, end - 1) + 1 : stepNumber(plan, first)];
}

// ------------------------------------------------------------------------------------------------ names

export function opName(plan, step) {
  if (isGap(plan, step)) return "no op of this plan";
  return plan.strings[plan.ops.name[step]] || `op ${step}`;
}

export function opKind(plan, step) {
  return plan.strings[plan.ops.kind[step]] || "";
}

// The layer that an op belongs to, and the line of the program; may be empty.
export function opLayer(plan, step) {
  return plan.strings[plan.ops.layer[step]] || "";
}

export function opSource(plan, step) {
  return plan.strings[plan.ops.source[step]] || "";
}

export function holderLayer(plan, holder) {
  return plan.strings[plan.holders.scope[holder]] || "";
}

// The step whose op wrote a holder, or uses it as a workspace; −1: none.
export function producerOf(plan, holder) {
  const {tensor, op} = plan.holders;
  return tensor[holder] >= 0 ? plan.tensors.producer[tensor[holder]] : op[holder];
}

// The one name that a holder has everywhere.
export function holderName(plan, holder) {
  const tensor = plan.holders.tensor[holder];
  if (tensor >= 0) return tensorName(plan, tensor);
  const op = plan.holders.op[holder];
  return op >= 0 ? `${opName(plan, op)} (workspace)` : "(copies)";
}

// The rectangle around all pieces of a holder: {first, end, low, high}.
export function holderBox(plan, holder) {
  const box = {first: plan.holders.first[holder], end: plan.holders.end[holder], low: Infinity, high: -Infinity};
  for (let i = plan.holders.pieceStart[holder]; i < plan.holders.pieceStart[holder + 1]; i += 1) {
    box.low = Math.min(box.low, plan.pieces.low[i]);
    box.high = Math.max(box.high, plan.pieces.low[i] + plan.pieces.size[i]);
  }
  return box.low === Infinity ? {...box, low: 0, high: 0} : box;
}

// What ops read and write, by step. Made when first asked for.
export function flowOf(plan) {
  if (!plan.flow) {
    const readers = new Int32Array(plan.reads.length);
    for (let tensor = 0; tensor < plan.tensors.count; tensor += 1) {
      readers.fill(tensor, plan.readStart[tensor], plan.readStart[tensor + 1]);
    }
    const reads = groupBy(plan.reads, plan.steps);
    plan.flow = {reads: {starts: reads.starts, rows: reads.rows.map((row) => readers[row])},
                 writes: groupBy(plan.tensors.producer, plan.steps)};
  }
  return plan.flow;
}

export function tensorsReadAt(plan, step) {
  const {starts, rows} = flowOf(plan).reads;
  return [...new Set(rows.subarray(starts[step], starts[step + 1]))];
}

export function tensorsWrittenAt(plan, step) {
  const {starts, rows} = flowOf(plan).writes;
  return [...rows.subarray(starts[step], starts[step + 1])];
}
