// Pages without the program: graphs that look like a language model, placed first fit, as stowage.page/1.

import {sampleExplain} from "./sample_explain.js";

const KIB = 1024;
const MIB = 1024 * KIB;

export const HOSTILE = [
  "</script><script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "\u202egnp.exe\u202c", "שלום/עולם-0",
  "a\u0000b\u001b[31mred\u2028c",
  "<!-- stowage:data -->", "__proto__", "constructor", "🦙".repeat(40), `long/${"n".repeat(10000)}/end`, "\"'&amp;\\", "\ud800 alone",
];

// Collects ops and tensors; ids are positions.
class Graph {
  constructor(name) {
    this.name = name;
    this.ops = [];
    this.tensors = [];
    this.workspaces = [];
  }

  given(name, size, role) {
    this.tensors.push({name, size, role, producer: -1, reads: [], base: -1, type: "f32", shape: `${Math.max(1, size / 4)}`});
    return this.tensors.length - 1;
  }

  op(name, kind, inputs, size, more) {
    const step = this.ops.length;
    this.ops.push({name, kind, layer: this.layer || "", source: this.layer ? `net.py:${10 + (step % 14)}: x = self.${kind.toLowerCase()}(x)` : ""});
    for (const input of inputs) if (this.tensors[input].reads.at(-1) !== step) this.tensors[input].reads.push(step);
    this.tensors.push({name, size, role: 0, producer: step, reads: [], base: -1, type: "f32", shape: `${Math.max(1, size / 2048)}x512`,
                       ...more});
    return this.tensors.length - 1;
  }

  workspace(size) {
    this.workspaces.push({op: this.ops.length - 1, size});
  }
}

function addLayer(graph, i, input, shared, options) {
  const width = options.width;
  const name = (word) => `${word}-${i}`;
  graph.layer = options.layers ? `model.layers.${i}.${["attention", "mlp"][i % 2]}` : "";
  const weight = (word) => graph.given(`blk.${i}.${word}.weight`, width * (word.startsWith("ffn") ? 3 : 1), 3);
  const norm = graph.op(name("attn_norm"), "RMS_NORM", [input], width);
  const q = graph.op(name("Qcur"), "MUL_MAT", [norm, weight("attn_q")], width);
  graph.workspace(width / 8);
  const turned = graph.op(name("Qcur_rope"), "ROPE", [q, shared.positions], width, {base: q});
  const k = graph.op(name("Kcur"), "MUL_MAT", [norm, weight("attn_k")], width / 4);
  const v = graph.op(name("Vcur"), "MUL_MAT", [norm, weight("attn_v")], width / 4);
  const scores = graph.op(name("kq"), "MUL_MAT", [turned, k], width * 2);
  const soft = graph.op(name("kq_soft_max"), "SOFT_MAX", [scores, shared.mask], width * 2, {base: scores});
  const mixed = graph.op(name("kqv_out"), "MUL_MAT", [soft, v], width);
  const sum = graph.op(name("ffn_inp"), "ADD", [mixed, input], width);
  const second = graph.op(name("ffn_norm"), "RMS_NORM", [sum], width);
  const gate = graph.op(name("ffn_gate"), "MUL_MAT", [second, weight("ffn_gate")], Math.round(width * 2.6875));
  const up = graph.op(name("ffn_up"), "MUL_MAT", [second, weight("ffn_up")], Math.round(width * 2.6875 * (options.upFactor || 1)));
  const act = graph.op(name("ffn_swiglu"), "GLU", [gate, up], Math.round(width * 2.6875));
  const down = graph.op(name("ffn_out"), "MUL_MAT", [act, weight("ffn_down")], width);
  if (options.adapter && i % 3 === 0) return graph.op(name("l_out"), "ADD", [graph.op(name("adapter"), "MUL_MAT", [down], width / 2), sum],
                                                      width);
  return graph.op(name("l_out"), "ADD", [down, sum], width);
}

// About `tensors` tensors: 19 per layer, six of them weights.
export function sampleGraph(options) {
  const graph = new Graph(options.name || "sample_llama");
  const tokens = graph.given("inp_tokens", 2 * KIB, 1);
  const shared = {positions: graph.given("inp_pos", 2 * KIB, 1), mask: graph.given("attn_inp_kq_mask", 2 * MIB, 1)};
  let at = graph.op("inp_embd", "GET_ROWS", [tokens, graph.given("token_embd.weight", 32 * MIB, 3)], options.width);
  (options.hostile ? HOSTILE : []).forEach((name) => {
    at = graph.op(name, name.slice(0, 60), [at], options.width);
  });
  const layers = Math.max(1, Math.round((options.tensors || 600) / 21));
  for (let i = 0; i < layers; i += 1) at = addLayer(graph, i, at, shared, options);
  const norm = graph.op("result_norm", "RMS_NORM", [at], options.width);
  graph.op("result_output", "MUL_MAT", [norm], options.width * 4, {role: 2 + 8});
  return graph;
}

// ------------------------------------------------------------------------------------------------ places

// Storages (tensors that share bytes) and workspaces, with their lifetimes.
function storagesOf(graph) {
  const steps = graph.ops.length;
  const storages = new Map();
  graph.tensors.forEach((tensor, id) => {
    let root = id;
    while (graph.tensors[root].base >= 0) root = graph.tensors[root].base;
    const forever = tensor.role === 3;
    const first = Math.max(tensor.producer, 0);
    const end = forever || tensor.role & 8 ? steps : Math.max(first, ...tensor.reads.slice(-1)) + 1;
    const old = storages.get(root) || {tensors: [], first: forever ? 0 : first, end, size: 0, arena: forever ? 1 : 0, op: -1};
    old.tensors.push(id);
    old.end = Math.max(old.end, end);
    old.size = Math.max(old.size, Math.ceil(tensor.size / 32) * 32);
    storages.set(root, old);
  });
  const own = graph.workspaces.map((workspace) => ({tensors: [], first: workspace.op, end: workspace.op + 1, size: workspace.size, arena: 0,
                                                    op: workspace.op}));
  return [...storages.values(), ...own].sort((a, b) => a.arena - b.arena || a.first - b.first || b.size - a.size);
}

// First fit over a list of free ranges, in the order of first steps. Returns the size of the arena.
function place(storages) {
  const free = [{low: 0, size: Infinity}];
  const active = [];
  let top = 0;
  for (const storage of storages) {
    for (let i = active.length - 1; i >= 0; i -= 1) if (active[i].end <= storage.first) release(free, ...active.splice(i, 1));
    const hole = free.find((range) => range.size >= storage.size);
    storage.low = hole.low;
    hole.low += storage.size;
    hole.size -= storage.size;
    active.push(storage);
    top = Math.max(top, storage.low + storage.size);
  }
  return top;
}

function release(free, storage) {
  if (storage.size === 0) return;
  let at = free.findIndex((range) => range.low > storage.low);
  if (at < 0) at = free.length;
  free.splice(at, 0, {low: storage.low, size: storage.size});
  for (let i = Math.max(at - 1, 0); i < Math.min(at + 2, free.length - 1);) {
    if (free[i].size === 0) free.splice(i, 1);
    else if (free[i].low + free[i].size === free[i + 1].low) free.splice(i, 2, {low: free[i].low, size: free[i].size + free[i + 1].size});
    else i += 1;
  }
}

// Constants are never freed: one after the other.
function stack(storages) {
  let top = 0;
  for (const storage of storages) {
    storage.low = top;
    top += storage.size;
  }
  return top;
}

// ------------------------------------------------------------------------------------------------ columns

class Strings {
  constructor() {
    this.list = [""];
    this.numbers = new Map([["", 0]]);
  }

  of(text) {
    if (!this.numbers.has(text)) {
      this.numbers.set(text, this.list.length);
      this.list.push(text);
    }
    return this.numbers.get(text);
  }
}

export function scopeOf(name) {
  const cut = Math.max(name.lastIndexOf("/"), name.lastIndexOf("."));
  if (cut > 0) return name.slice(0, cut);
  const number = /-(\d+)$/.exec(name);
  return number ? `*-${number[1]}` : "";
}

const column = (list, of) => list.map(of);

function holderColumns(graph, storages, strings) {
  const face = (storage) => (storage.tensors.length > 0 ? storage.tensors[0] : -1);
  const kindOf = (storage) => {
    if (storage.op >= 0) return graph.ops[storage.op].kind;
    const tensor = graph.tensors[face(storage)];
    return tensor.producer >= 0 ? graph.ops[tensor.producer].kind : tensor.role === 3 ? "constant" : "input";
  };
  const layerOf = (storage) => {
    const op = graph.ops[storage.op >= 0 ? storage.op : graph.tensors[face(storage)].producer];
    return (op && op.layer) || scopeOf(storage.op >= 0 ? op.name : graph.tensors[face(storage)].name);
  };
  return {
    arena: column(storages, (each) => each.arena), tensor: column(storages, face), op: column(storages, (each) => each.op),
    kind: column(storages, (each) => strings.of(kindOf(each))),
    scope: column(storages, (each) => strings.of(layerOf(each))),
    first: column(storages, (each) => each.first), end: column(storages, (each) => each.end), size: column(storages, (each) => each.size),
    piece_count: column(storages, (each) => (each.end - each.first > 6 && each.size > 4096 && each.arena === 0 ? 2 : 1)),
  };
}

// Long-lived holders have a second piece, half as high: as if half of the storage were needed later alone.
function pieceColumns(storages, counts) {
  const pieces = {first: [], end: [], low: [], size: []};
  const put = (first, end, low, size) => [["first", first], ["end", end], ["low", low],
                                          ["size", size]].forEach(([name, value]) => pieces[name].push(value));
  storages.forEach((storage, at) => {
    const {first, end, low, size} = storage;
    if (counts[at] === 1) return put(first, end, low, size);
    put(first, end - 2, low, size);
    return put(end - 2, end, low, Math.ceil(size / 2));
  });
  return pieces;
}

export function samplePlan(graph, options) {
  const strings = new Strings();
  const storages = storagesOf(graph);
  const [shared, constant] = [storages.filter((each) => each.arena === 0), storages.filter((each) => each.arena === 1)];
  const sizes = [place(shared), stack(constant)];
  storages.sort((a, b) => a.arena - b.arena || a.first - b.first || a.low - b.low);
  storages.forEach((storage, holder) => storage.tensors.forEach((tensor) => (graph.tensors[tensor].holder = holder)));
  const holders = holderColumns(graph, storages, strings);
  const bound = options.gap ? Math.round(sizes[0] * 0.93) : sizes[0];
  const half = constant.filter((each) => each.low < sizes[1] / 2).reduce((sum, each) => sum + each.size, 0);
  const arenas = [{name: "cpu", memory: "cpu", kind: "shared", size: sizes[0], lower_bound: bound, proven_optimal: !options.gap,
                   regions: [sizes[0]], counts: true, concurrent: false},
                  {name: "cpu persistent", memory: "cpu", kind: "persistent", size: sizes[1], lower_bound: sizes[1], proven_optimal: true,
                   regions: [half, sizes[1] - half], counts: false, concurrent: false}];
  const plan = {
    label: `${graph.name}.json.gz`,
    summary: {schema: "stowage.summary/1", name: graph.name, ops: graph.ops.length, tensors: graph.tensors.length, items: shared.length,
              peak_bytes: sizes[0], lower_bound_bytes: bound,
              naive_bytes: shared.reduce((sum, each) => sum + each.size, 0), weights_bytes: sizes[1], folded_bytes: 0,
              total_bytes: sizes[0] + sizes[1], proven_optimal: !options.gap,
              status: options.gap ? "feasible" : "optimal", solver: "first_fit", solve_ms: 1, arenas},
    capacity: options.capacity === undefined ? null : options.capacity,
    steps: graph.ops.length,
    ops: {name: column(graph.ops, (each) => strings.of(each.name)), kind: column(graph.ops, (each) => strings.of(each.kind)),
          stream: column(graph.ops, () => 0), layer: column(graph.ops, (each) => strings.of(each.layer)),
          source: column(graph.ops, (each) => strings.of(each.source))},
    tensors: {name: column(graph.tensors, (each) => strings.of(each.name)), type: column(graph.tensors, (each) => strings.of(each.type)),
              shape: column(graph.tensors, (each) => strings.of(each.shape)),
              size: column(graph.tensors, (each) => each.size), role: column(graph.tensors, (each) => each.role),
              holder: column(graph.tensors, (each) => each.holder),
              producer: column(graph.tensors, (each) => each.producer), read_count: column(graph.tensors, (each) => each.reads.length)},
    reads: graph.tensors.flatMap((each) => each.reads),
    arenas, holders, pieces: pieceColumns(storages, holders.piece_count), strings: strings.list, explain: null, text: null,
  };
  if (!options.plain) Object.assign(plan, sampleExplain(plan, options.budget || null));
  return plan;
}

// ------------------------------------------------------------------------------------------------ pages

export function samplePage(options) {
  const wanted = {width: 8 * MIB, ...options};
  const title = wanted.hostile ? "</title><script>window.hacked=1</script>" : "sample_llama.json.gz";
  return {schema: "stowage.page/1", title, plans: [samplePlan(sampleGraph(wanted), wanted)], diff: null, replay: null};
}

export function sampleDiffPage(options) {
  const wanted = {width: 8 * MIB, tensors: 600, ...options};
  const plans = [samplePlan(sampleGraph({...wanted, name: "before"}), wanted),
                 samplePlan(sampleGraph({...wanted, name: "after", upFactor: 1.25, adapter: true}), wanted)];
  return {schema: "stowage.page/1", title: "before → after", plans, diff: sampleDiff(...plans), replay: null};
}

function placesOf(plan) {
  const starts = [];
  let start = 0;
  for (const count of plan.holders.piece_count) {
    starts.push(start);
    start += count;
  }
  return new Map(plan.tensors.name.map((name, tensor) => [plan.strings[name],
                                                          {size: plan.tensors.size[tensor],
                                                           arena: plan.arenas[plan.holders.arena[plan.tensors.holder[tensor]]].name,
                                                                               offset: plan.pieces.low[starts[plan.tensors.holder[tensor]]]}]));
}

function sampleDiff(before, after) {
  const [a, b] = [placesOf(before), placesOf(after)];
  const entries = [];
  let unchanged = 0;
  for (const name of new Set([...a.keys(), ...b.keys()])) {
    const [old, fresh] = [a.get(name), b.get(name)];
    const change = !old ? "appeared" : !fresh ? "vanished" : fresh.size > old.size ? "grew" : fresh.size < old.size ? "shrank"
      : fresh.offset !== old.offset ? "moved" : null;
    if (!change) unchanged += 1;
    else entries.push({change, name, before: old ? old.size : null, after: fresh ? fresh.size : null, arena_before: old ? old.arena : "",
                       arena_after: fresh ? fresh.arena : "",
                       offset_before: old ? old.offset : null, offset_after: fresh ? fresh.offset : null});
  }
  return {schema: "stowage.diff/1", graph_before: before.summary.name, graph_after: after.summary.name, by_number: false,
          peak_before: before.summary.peak_bytes, peak_after: after.summary.peak_bytes,
          growth_bytes: after.summary.peak_bytes - before.summary.peak_bytes, bound_before: before.summary.lower_bound_bytes,
          bound_after: after.summary.lower_bound_bytes,
          arenas: before.arenas.map((arena, at) => ({name: arena.name, kind: arena.kind, before: arena.size,
                                                     after: after.arenas[at].size})), unchanged, entries};
}

// Three streams; long runs of addresses, the second one far above the first.
function sampleBlocks(events) {
  const blocks = {left_out: 7, first: [], end: [], low: [], size: [], stream: [], segments: [64 * MIB, 32 * MIB]};
  for (let i = 0; i < 600; i += 1) {
    const slot = i % 24;
    blocks.first.push(i * 50);
    blocks.end.push(Math.min(i * 50 + 1200, events));
    blocks.low.push(slot * 4 * MIB);
    blocks.size.push((1 + (i % 4)) * MIB);
    blocks.stream.push(slot % 3);
  }
  return blocks;
}

export function sampleReplayPage() {
  const [at, requested, reserved, largest] = [[], [], [], []];
  for (let i = 0; i <= 2000; i += 1) {
    const live = Math.round((300 + 120 * Math.sin(i / 90) + 60 * Math.sin(i / 7) + (i % 97)) * MIB / 2);
    at.push(i * 17);
    requested.push(live);
    reserved.push(Math.max(live + 8 * MIB, reserved.length > 0 ? reserved[reserved.length - 1] * (i % 400 === 0 ? 0.8 : 1) : 0));
    largest.push(Math.round((reserved[i] - live) * 0.6));
  }
  const report = {schema: "stowage.replay/1", allocator: "torch-native", device: "sim", events: 34000,
                  peak_requested_bytes: Math.max(...requested), peak_reserved_bytes: Math.max(...reserved),
                  waste: 1 - Math.max(...requested) / Math.max(...reserved), ns_per_event: 105.3, failures: 0, creates: 12, maps: 0,
                  unmaps: 0, access_calls: 0, event_waits: 3};
  return {schema: "stowage.page/1", title: "serving_trace.csv", plans: [], diff: null,
          replay: {trace: "serving_trace.csv", report, events: 34000, blocks: sampleBlocks(34000), at, requested: requested.map(Math.round),
                   reserved: reserved.map(Math.round), largest_idle: largest}};
}

// Two inputs with the dims batch and seq, and one that failed.
export function sampleSweepPage(wanted) {
  const inputs = wanted.hostile ? HOSTILE.slice(0, 2) : ["models/bert.onnx", "models/gpt2.onnx"];
  const rows = [];
  inputs.forEach((input, n) => {
    for (const batch of [1, 2, 4, 8, 16]) {
      for (const seq of [128, 512]) {
        const peak = (n + 1) * MIB * (1 + (batch * seq) / 200);
        const row = {input, hash: `0${n}`, dims: {batch, seq}, options: "{}", peak: Math.round(peak), bound: Math.round(peak * (batch > 8 ? 0.9 : 1)),
                     proven: batch <= 8, weights: 400 * MIB, total: Math.round(peak) + 400 * MIB, status: batch > 8 ? "feasible" : "optimal", error: ""};
        rows.push(batch === 4 && seq === 512 ? {...row, peak: null, bound: null, proven: false, weights: null, total: null, status: "", error: `${input}: broken`} : row);
      }
    }
  });
  return {schema: "stowage.page/1", title: inputs.length === 1 ? inputs[0] : "sweep of 2 inputs", plans: [], diff: null, replay: null,
          sweep: {fits: [16 * MIB, 64 * MIB], rows}};
}
