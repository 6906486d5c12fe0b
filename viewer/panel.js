// The panel "Selection": a holder with its tensors, producer and readers; or a step with what is live at it.

import {bytesNode, el, linkNode, longList, nameNode, wholeName} from "./dom.js";
import {exactBytes, humanBytes, percent, plural, visible} from "./format.js";
import {holderBox, holderLayer, holderName, isGap, opKind, opLayer, opName, opSource, producerOf, readsOf, spanLength, spanName, stepName, tensorName, tensorsOf, tensorsReadAt, tensorsWrittenAt} from "./model.js";
import {roleOf} from "./colour.js";
import {neededAt, opPart, typeText, whyAlive} from "./story.js";
import {stepsOf} from "./overlay.js";

// `go` is {select(plan, holder), step(plan, step)}; `step` is the selected step, or null.
export function holderPanel(plan, holder, step, go) {
  const box = holderBox(plan, holder);
  const {first, end, size, arena, tensor} = plan.holders;
  const fact = (label, ...value) => [el("dt", {}, label), el("dd", {}, value)];
  const at = step !== null && first[holder] <= step && step < end[holder] ? step : null;
  return el("section", {"aria-label": "Selected holder"},
            el("h3", {class: "title"}, wholeName(holderName(plan, holder))),
            el("dl", {class: "facts"},
               fact("size", bytesNode(size[holder]), ` (${exactBytes(size[holder])})`),
               fact("life", linkNode(spanName(plan, first[holder], end[holder]), () => go.step(plan, first[holder])),
                    ` (${spanLength(plan, first[holder], end[holder])})`),
               fact("offset", exactBytes(box.low), ` in ${plan.arenas[arena[holder]].name}`),
               tensor[holder] >= 0 && typeText(plan, tensor[holder]) ? fact("type", typeText(plan, tensor[holder])) : null,
               fact("role", roleOf(plan, holder)),
               originFacts(holderLayer(plan, holder), producerOf(plan, holder) < 0 ? "" : opSource(plan, producerOf(plan, holder)), go),
               fact(at === null ? "alive" : `at ${stepName(plan, at)}`, sentenceNodes(plan, whyAlive(plan, holder, at), go))),
            opLists(plan, holder, go), tensorList(plan, holder, at));
}

// The layer, as a link that finds all of it, and the line of the program.
function originFacts(layer, source, go) {
  return [layer === "" ? null : [el("dt", {}, "layer"), el("dd", {}, linkNode(wholeName(layer), () => go.layer(layer), `Find layer ${layer}`))],
          source === "" ? null : [el("dt", {}, "source"), el("dd", {}, el("code", {}, wholeName(source)))]];
}

function sentenceNodes(plan, sentence, go) {
  return sentence.map((part) => (typeof part === "string" ? el("bdi", {}, part)
                                 : linkNode(nameNode(part.text, 60), () => go.step(plan, part.step))));
}

function opLists(plan, holder, go) {
  const {writes, reads} = stepsOf(plan, holder);
  const row = (step, tensors) => el("tr", {}, el("td", {class: "number"}, linkNode(stepName(plan, step), () => go.step(plan, step))),
    el("td", {class: "wide"}, nameNode(opPart(plan, step).text, 40),
       tensors.length > 0 ? [el("span", {class: "quiet"}, " → "), targets(plan, tensors, holder, go)] : null));
  const section = (title, steps, others) => [el("h4", {}, `${title} (${steps.length})`),
                                             steps.length === 0 ? el("p", {class: "quiet"}, "none")
                                               : longList(steps, (step) => row(step, others(step)))];
  return [section("Written at", writes, () => []), section("Read at", reads, (step) => tensorsWrittenAt(plan, step))];
}

function targets(plan, tensors, holder, go) {
  return tensors.slice(0, 3).flatMap((tensor, n) => {
    const other = plan.tensors.holder[tensor];
    const name = nameNode(tensorName(plan, tensor), 28);
    return [n > 0 ? ", " : "", other < 0 || other === holder ? name : linkNode(name, () => go.select(plan, other))];
  });
}

function tensorList(plan, holder, step) {
  const tensors = [...tensorsOf(plan, holder)];
  if (tensors.length < 2) return null;
  const row = (tensor) => el("tr", {class: step !== null && neededAt(plan, tensor, step) ? "needed" : null},
    el("td", {class: "number"}, bytesNode(plan.tensors.size[tensor])),
    el("td", {class: "wide"}, nameNode(tensorName(plan, tensor), 40), el("span", {class: "quiet"}, ` ${lifeWords(plan, tensor)}`)));
  return [el("h4", {}, `Tensors in these bytes (${tensors.length})`),
          step === null ? null : el("p", {class: "quiet"}, `Marked: needed at ${stepName(plan, step)}.`), longList(tensors, row)];
}

function lifeWords(plan, tensor) {
  const reads = readsOf(plan, tensor);
  const born = plan.tensors.producer[tensor];
  const uses = reads.length === 0 ? "never read" : `read ${plural(reads.length, "time")}, last at ${stepName(plan, reads[reads.length - 1])}`;
  return `${born < 0 ? "given" : `written at ${stepName(plan, born)}`}, ${uses}`;
}

// A step: its op, and everything that is live, largest first. `live` is from liveSet.
export function stepPanel(plan, arena, step, live, go) {
  const sum = live.reduce((total, each) => total + each.bytes, 0);
  const inputs = tensorsReadAt(plan, step);
  const outputs = tensorsWrittenAt(plan, step);
  const row = (each) => el("tr", {}, el("td", {class: "number"}, bytesNode(each.bytes)),
                           el("td", {class: "number quiet"}, percent(each.bytes, sum)),
    el("td", {class: "wide"}, linkNode(nameNode(holderName(plan, each.holder), 38), () => go.select(plan, each.holder))));
  const kind = opKind(plan, step);
  const title = stepName(plan, step).replace(/^./, (letter) => letter.toUpperCase());
  return el("section", {"aria-label": title},
            el("h3", {class: "title"}, `${title}: `, wholeName(opName(plan, step)),
               kind ? el("span", {class: "quiet"}, ` ${kind}`) : null,
               plan.ops.stream.some((stream) => stream > 0) && !isGap(plan, step) ? el("span", {class: "quiet"}, `, stream ${plan.ops.stream[step]}`) : null),
            el("p", {class: "stepper"}, stepButton("← step", step - 1, plan, go), stepButton("step →", step + 1, plan, go)),
            opLayer(plan, step) || opSource(plan, step) ? el("dl", {class: "facts"}, originFacts(opLayer(plan, step), opSource(plan, step), go)) : null,
            operands("reads", plan, inputs, go), operands("writes", plan, outputs, go),
            el("h4", {}, `Live in ${arena.name}: ${plural(live.length, "holder")}, ${humanBytes(sum)}`),
            el("p", {class: "quiet"}, `${exactBytes(sum)}, ${percent(sum, arena.size)} of the arena.`,
               arena.concurrent ? " Ops run on several streams: some of these may share bytes." : ""),
            longList(live, row, {class: "rows live"}));
}

function stepButton(words, step, plan, go) {
  return el("button", {type: "button", class: "small", disabled: step < 0 || step >= plan.steps, onclick: () => go.step(plan, step)},
            words);
}

function operands(word, plan, tensors, go) {
  if (tensors.length === 0) return null;
  return el("p", {}, el("span", {class: "quiet"}, `${word} `), targets(plan, tensors, -1, go),
            tensors.length > 3 ? ` and ${tensors.length - 3} more` : "");
}

// Several holders, the largest first.
export function groupPanel(plan, holders, go) {
  const {size, first, end, arena} = plan.holders;
  const sorted = [...holders].sort((a, b) => size[b] - size[a] || first[a] - first[b]);
  const note = (holder) => [spanName(plan, first[holder], end[holder]), roleOf(plan, holder) === "tensor" ? null : roleOf(plan, holder),
                            arena[holder] === arena[sorted[0]] ? null : plan.arenas[arena[holder]].name].filter(Boolean).join(", ");
  const row = (holder) => el("tr", {}, el("td", {class: "number"}, bytesNode(size[holder])),
    el("td", {class: "wide"}, linkNode(nameNode(holderName(plan, holder), 38), () => go.select(plan, holder)),
       el("span", {class: "quiet"}, ` ${visible(note(holder))}`)));
  return el("section", {"aria-label": "Selected holders"},
            el("h3", {class: "title"}, plural(holders.length, "holder")),
            el("p", {class: "quiet"}, "Only these are highlighted in the map; Esc clears that."),
            longList(sorted, row, {class: "rows group"}));
}

export function emptyPanel() {
  const words = "Nothing is selected. Click a rectangle to select a tensor; click the curve, or shift-click a rectangle, to select a step.";
  return el("section", {"aria-label": "Selection"}, el("p", {class: "quiet"}, words));
}
