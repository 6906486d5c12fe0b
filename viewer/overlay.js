// The overlay of the map: outlines of what is pointed at or selected, the step, and the lines of the data flow.

import {humanBytes} from "./format.js";
import {holderBox, readsOf, spanName, stepName, tensorsOf, tensorsReadAt, tensorsWrittenAt} from "./model.js";
import {curveY, xOf, yOf} from "./draw.js";

const MOST_LINES = 240;

// `marks` is {hover: {holder, step} | null, pointed: [holder], selected: holder | null, step: number | null}.
export function drawMarks(painter, scene, marks) {
  const {box, theme} = scene;
  if (marks.hover) drawCross(painter, scene, marks.hover.step);
  painter.clipped(box.left, box.curve.top, box.mapWidth, box.height - box.curve.top, () => {
    if (marks.step !== null) drawStep(painter, scene, marks.step);
  });
  painter.clipped(box.left, box.map.top, box.mapWidth, box.map.height, () => {
    for (const holder of marks.pointed) outline(painter, scene, holder, {stroke: theme.selected, width: 2});
    if (marks.hover && marks.hover.holder >= 0) outline(painter, scene, marks.hover.holder, {stroke: theme.ink, width: 1.5});
    if (marks.selected === null) return;
    drawFlow(painter, scene, marks.selected);
    outline(painter, scene, marks.selected, {stroke: theme.selected, width: 2.5});
  });
}

function drawCross(painter, scene, step) {
  const {box, theme, live} = scene;
  if (step < 0 || step >= live.length) return;
  const x = xOf(scene, step + 0.5);
  if (x < box.left || x > box.right) return;
  painter.path([x, box.curve.top, x, box.map.top + box.map.height], {stroke: theme.faint, width: 1, dash: [2, 2]});
  const y = curveY(scene, live[step]);
  painter.path([x, y - 4, x + 4, y, x, y + 4, x - 4, y, x, y - 4], {fill: theme.live});
}

function drawStep(painter, scene, step) {
  const {box, theme} = scene;
  const left = xOf(scene, step);
  const right = xOf(scene, step + 1);
  const bottom = box.map.top + box.map.height;
  for (const x of right - left > 3 ? [left, right] : [(left + right) / 2]) {
    painter.path([x, box.curve.top, x, bottom], {stroke: theme.accent, width: 1.25});
  }
  const words = stepName(scene.plan, step);
  const half = 4 + words.length * 3.1;
  const at = Math.min(Math.max((left + right) / 2, box.left + half), box.right - half);
  painter.rect(at - half, bottom + 5, 2 * half, 15, theme.background);
  painter.text(at, bottom + 16, words, {colour: theme.accent, align: "center", size: 10.5, weight: 600});
}

function outline(painter, scene, holder, style) {
  const {plan} = scene;
  if (plan.holders.arena[holder] !== scene.arena.number) return;
  for (let i = plan.holders.pieceStart[holder]; i < plan.holders.pieceStart[holder + 1]; i += 1) {
    const left = Math.max(xOf(scene, plan.pieces.first[i]), scene.box.left - 4);
    const right = Math.min(xOf(scene, plan.pieces.end[i]), scene.box.right + 4);
    const top = Math.max(yOf(scene, plan.pieces.low[i] + plan.pieces.size[i]), scene.box.map.top - 4);
    const bottom = Math.min(yOf(scene, plan.pieces.low[i]), scene.box.map.top + scene.box.map.height + 4);
    painter.frame(left, top, Math.max(right - left, 2), Math.max(bottom - top, 2), style);
  }
}

// Along the holder from the step that writes it to those that read it; from there to what they write, and from the
// producer's inputs to it.
function drawFlow(painter, scene, holder) {
  const {plan, theme} = scene;
  if (plan.holders.arena[holder] !== scene.arena.number) return;
  const y = anchorOf(scene, holder);
  const steps = stepsOf(plan, holder);
  const style = {stroke: theme.flow, width: 1.25};
  const ends = [steps.writes[0], steps.reads[0], steps.writes.at(-1), steps.reads.at(-1)].filter((step) => step !== undefined);
  if (ends.length > 0) painter.path([xOf(scene, Math.min(...ends) + 0.5), y, xOf(scene, Math.max(...ends) + 0.5), y], style);
  for (const step of steps.writes.slice(0, MOST_LINES)) {
    for (const tensor of tensorsReadAt(plan, step)) joinHolders(painter, scene, plan.tensors.holder[tensor], holder, step, [2, 3]);
    drawDiamond(painter, xOf(scene, step + 0.5), y, 4.5, theme.flow);
  }
  for (const step of steps.reads.slice(0, MOST_LINES)) {
    for (const tensor of tensorsWrittenAt(plan, step)) joinHolders(painter, scene, holder, plan.tensors.holder[tensor], step, null);
    const x = xOf(scene, step + 0.5);
    painter.path([x, y - 5, x, y + 5], {stroke: theme.flow, width: 2});
  }
}

// Steps that write and read the tensors of a holder, each once, ascending.
export function stepsOf(plan, holder) {
  const writes = new Set();
  const reads = new Set();
  for (const tensor of tensorsOf(plan, holder)) {
    if (plan.tensors.producer[tensor] >= 0) writes.add(plan.tensors.producer[tensor]);
    for (const step of readsOf(plan, tensor)) reads.add(step);
  }
  if (plan.holders.op[holder] >= 0) writes.add(plan.holders.op[holder]);
  const sorted = (set) => [...set].sort((a, b) => a - b);
  return {writes: sorted(writes), reads: sorted(reads)};
}

// Where lines meet a holder: below its name.
function anchorOf(scene, holder) {
  const box = holderBox(scene.plan, holder);
  return yOf(scene, box.low + (box.high - box.low) * 0.28);
}

function joinHolders(painter, scene, from, to, step, dash) {
  const {plan, theme} = scene;
  if (from < 0 || to < 0 || from === to) return;
  if (plan.holders.arena[from] !== scene.arena.number || plan.holders.arena[to] !== scene.arena.number) return;
  const x = xOf(scene, step + 0.5);
  const end = anchorOf(scene, to);
  painter.path([x, anchorOf(scene, from), x, end], {stroke: theme.flow, width: 1, dash});
  drawDiamond(painter, x, end, 3, theme.flow);
}

function drawDiamond(painter, x, y, size, fill) {
  painter.path([x, y - size, x + size, y, x, y + size, x - size, y, x, y - size], {fill});
}

// The label of the map for screen readers.
export function mapLabel(scene, label) {
  const {plan, arena, index} = scene;
  return `Memory map of ${label}, arena ${arena.name}: ${index.count} rectangles, ${humanBytes(arena.size)} of addresses upwards, ` +
         `${spanName(plan, 0, plan.steps)} to the right. Arrow keys pan, plus and minus zoom, shift with arrows moves the selection, ` +
         "question mark lists all keys.";
}
