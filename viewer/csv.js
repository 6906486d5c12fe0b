// What is shown, as a table for other programs: RFC 4180, with a header. No DOM.

import {roleOf} from "./colour.js";
import {holderBox, holderLayer, holderName, opKind, opName, opSource, producerOf, spanNumbers, tensorsOf} from "./model.js";

// A field; in quotes where it needs them. A name that a spreadsheet would take for a formula gets an apostrophe in front.
function csvField(value) {
  const text = String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

function csvText(header, rows) {
  return [header, ...rows].map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

const HEADER = ["plan", "arena", "name", "op", "kind", "layer", "source", "role", "bytes", "offset", "first_step", "end_step", "tensors", "change"];

// The holders that the views of these scenes show; where some are highlighted, only those.
export function holdersCsv(scenes) {
  return csvText(HEADER, scenes.flatMap((scene) => {
    const {plan, arena, view, lit} = scene;
    const {first, end} = plan.holders;
    const shown = [];
    for (let holder = 0; holder < plan.holders.count; holder += 1) {
      if (plan.holders.arena[holder] !== arena.number || (lit && !lit[holder]) || first[holder] >= view.x1 || end[holder] <= view.x0) continue;
      const box = holderBox(plan, holder);
      if (box.low < view.y1 && box.high > view.y0) shown.push(holderRow(scene, holder, box));
    }
    return shown;
  }));
}

function holderRow({plan, arena}, holder, box) {
  const producer = producerOf(plan, holder);
  const [first, end] = spanNumbers(plan, plan.holders.first[holder], plan.holders.end[holder]);
  return [plan.label, arena.name, holderName(plan, holder), producer < 0 ? "" : opName(plan, producer), producer < 0 ? "" : opKind(plan, producer),
          holderLayer(plan, holder), producer < 0 ? "" : opSource(plan, producer), roleOf(plan, holder), plan.holders.size[holder], box.low, first, end,
          tensorsOf(plan, holder).length, plan.changes ? plan.changes[holder] : ""];
}

// The samples of a replay that a view shows.
export function samplesCsv(replay, view) {
  const rows = [];
  replay.at.forEach((event, n) => {
    if (event >= view.x0 && event <= view.x1) rows.push([event, replay.requested[n], replay.reserved[n], replay.largest_idle[n]]);
  });
  return csvText(["event", "requested", "reserved", "largest_free_block"], rows);
}

// The rows of a sweep, in the columns of `stowage sweep --out`, less the times.
export function sweepCsv(rows) {
  const columns = ["input", "hash", "dims", "options", "peak", "bound", "proven", "weights", "total", "status", "error"];
  const cell = (row, column) => (column === "dims" ? JSON.stringify(row.dims) : row[column] === null ? "" : row[column]);
  return csvText(columns, rows.map((row) => columns.map((column) => cell(row, column))));
}

// The blocks of a replay that a view shows.
export function blocksCsv(blocks, view) {
  const rows = [];
  blocks.first.forEach((event, n) => {
    if (event < view.x1 && blocks.end[n] > view.x0) rows.push([event, blocks.end[n], blocks.low[n], blocks.size[n], blocks.stream[n]]);
  });
  return csvText(["first_event", "end_event", "address", "bytes", "stream"], rows);
}
