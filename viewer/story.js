// Why a holder is live, in sentences. A sentence is a list of strings and of {text, step}, which become links to an op.

import {exactBytes, humanBytes, plural} from "./format.js";
import {ROLE, holderBox, holderLayer, holderName, opKind, opName, opSource, producerOf, readsOf, spanLength, spanName, stepName, tensorName, tensorsOf} from "./model.js";

export function opPart(plan, step) {
  const kind = opKind(plan, step);
  return {text: `${opName(plan, step)}${kind ? ` (${kind})` : ""}`, step};
}

function lastRead(plan, tensor) {
  const reads = readsOf(plan, tensor);
  return reads.length === 0 ? -1 : reads[reads.length - 1];
}

function isKept(plan, tensor) {
  const role = plan.tensors.role[tensor];
  return (role & ROLE.kept) !== 0 || (role & ROLE.mask) >= ROLE.output;
}

// Whether the value is needed at a step: it is being written, will be read, or must be kept.
export function neededAt(plan, tensor, step) {
  const role = plan.tensors.role[tensor] & ROLE.mask;
  if (role === ROLE.constant || role === ROLE.variable) return true;
  const born = plan.tensors.producer[tensor];
  return born <= step && (isKept(plan, tensor) || step <= Math.max(lastRead(plan, tensor), born));
}

function birthOf(plan, tensor) {
  const role = plan.tensors.role[tensor] & ROLE.mask;
  const producer = plan.tensors.producer[tensor];
  if (role === ROLE.constant) return ["constant: kept for ever"];
  if (role === ROLE.variable) return ["variable: keeps its value from run to run"];
  if (producer >= 0) return ["written by ", opPart(plan, producer), ` at ${stepName(plan, producer)}`];
  return [role === ROLE.input ? "graph input: given before step 0" : "given by the caller before step 0"];
}

function deathOf(plan, tensor) {
  const role = plan.tensors.role[tensor];
  const last = lastRead(plan, tensor);
  const read = last < 0 ? ["read by no op"] : ["last read by ", opPart(plan, last), ` at ${stepName(plan, last)}`];
  if ((role & ROLE.mask) === ROLE.output) return [...read, "; graph output: kept to the end"];
  return (role & ROLE.kept) !== 0 ? [...read, "; must be kept to the end"] : read;
}

function lifeOf(plan, tensor) {
  return [...birthOf(plan, tensor), "; ", ...deathOf(plan, tensor)];
}

// The tensors of a holder that need it at a step; `step` null: all.
export function needing(plan, holder, step) {
  const tensors = [...tensorsOf(plan, holder)];
  return step === null ? tensors : tensors.filter((tensor) => neededAt(plan, tensor, step));
}

// One sentence, for a step or for the whole life.
export function whyAlive(plan, holder, step) {
  const {tensor, op} = plan.holders;
  if (tensor[holder] < 0) {
    return op[holder] >= 0 ? ["workspace of ", opPart(plan, op[holder]), ": needed while it runs"] : ["destination of copies in the plan"];
  }
  const tensors = needing(plan, holder, step);
  if (tensors.length === 0) return ["none of its tensors is needed at this step; the bytes are reserved for a later one"];
  const main = tensors.includes(tensor[holder]) ? tensor[holder] : tensors[0];
  const own = tensorsOf(plan, holder).length > 1 ? [`${tensorName(plan, main)}: `] : [];
  const others = tensors.length > 1 && step !== null
    ? [`; ${plural(tensors.length - 1, "other tensor")} also ${tensors.length === 2 ? "needs" : "need"} these bytes`] : [];
  return [...own, ...lifeOf(plan, main), ...others];
}

export function sentenceText(sentence) {
  return sentence.map((part) => (typeof part === "string" ? part : part.text)).join("");
}

// "f32 1x512x768", or nothing.
export function typeText(plan, tensor) {
  return [plan.strings[plan.tensors.type[tensor]], plan.strings[plan.tensors.shape[tensor]]].filter(Boolean).join(" ");
}

// The lines of a tooltip: [label, text].
export function factsOf(plan, holder, step) {
  const {tensor, first, end, size} = plan.holders;
  const box = holderBox(plan, holder);
  const facts = [];
  const producer = producerOf(plan, holder);
  if (producer >= 0) facts.push(["op", `${opPart(plan, producer).text}, ${stepName(plan, producer)}`]);
  if (holderLayer(plan, holder)) facts.push(["layer", holderLayer(plan, holder)]);
  if (producer >= 0 && opSource(plan, producer)) facts.push(["source", opSource(plan, producer)]);
  if (tensor[holder] >= 0 && typeText(plan, tensor[holder])) facts.push(["type", typeText(plan, tensor[holder])]);
  facts.push(["size", `${humanBytes(size[holder])} (${exactBytes(size[holder])})`]);
  facts.push(["life", `${spanName(plan, first[holder], end[holder])} (${spanLength(plan, first[holder], end[holder])})`]);
  facts.push(["offset", `${humanBytes(box.low)} (${exactBytes(box.low)})`]);
  const others = [...tensorsOf(plan, holder)].filter((each) => each !== tensor[holder]);
  if (others.length > 0) {
    const names = others.slice(0, 4).map((each) => tensorName(plan, each)).join(", ");
    facts.push(["shares with", `${names}${others.length > 4 ? ` and ${others.length - 4} more` : ""}`]);
  }
  facts.push(["alive", sentenceText(whyAlive(plan, holder, step))]);
  return facts;
}

// For the live region and labels: one short sentence.
export function spoken(plan, holder) {
  return `${holderName(plan, holder)}, ${humanBytes(plan.holders.size[holder])}, ${spanName(plan, plan.holders.first[holder], plan.holders.end[holder])}`;
}
