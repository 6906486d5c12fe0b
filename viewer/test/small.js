// A plan that can be checked by hand. Steps 0–3; x (64 B, read at 0 and 2) is below a holder of two tensors, h and, in
// the same bytes, h2, of which only the first half is needed at step 2. There is a workspace at step 1, and y, the
// output, at offset 0 from step 3 on.

import {readPlan} from "../model.js";

export function smallColumns() {
  return {
    label: "small.json", summary: {peak_bytes: 256, lower_bound_bytes: 256, naive_bytes: 320, weights_bytes: 0, folded_bytes: 0, total_bytes: 256, ops: 4, tensors: 4}, capacity: null,
    strings: ["", "x", "h", "h2", "y", "mul", "half", "add", "out", "MUL", "HALF", "ADD", "COPY", "input", "f32", "16"],
    steps: 4,
    ops: {name: [5, 6, 7, 8], kind: [9, 10, 11, 12], stream: [0, 0, 0, 0], layer: [0, 0, 0, 0], source: [0, 0, 0, 0]},
    tensors: {name: [1, 2, 3, 4], type: [14, 14, 14, 14], shape: [15, 0, 0, 0], size: [64, 128, 64, 32], role: [1, 0, 0, 10],
              holder: [0, 1, 1, 3], producer: [-1, 0, 1, 3], read_count: [2, 1, 1, 0]},
    reads: [0, 2, 1, 2],
    arenas: [{name: "cpu", memory: "cpu", kind: "shared", size: 256, lower_bound: 256, proven_optimal: true, regions: [256], counts: true,
              concurrent: false}],
    holders: {arena: [0, 0, 0, 0], tensor: [0, 1, -1, 3], op: [-1, -1, 1, -1], kind: [13, 9, 10, 12], scope: [0, 0, 0, 0],
              first: [0, 0, 1, 3], end: [3, 3, 2, 4], size: [64, 128, 64, 32],
              piece_count: [1, 2, 1, 1]},
    pieces: {first: [0, 0, 2, 1, 3], end: [3, 2, 3, 2, 4], low: [0, 64, 64, 192, 0], size: [64, 128, 64, 64, 32]},
    explain: null, text: null,
  };
}

export function smallPlan() {
  return readPlan(smallColumns(), 0);
}
