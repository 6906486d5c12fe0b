// The panel "Why": the cause, the places that bind, what would lower the peak, what to change to fit, and the whole text.
// `go` is what links do: {holder(plan, wanted), step(plan, step), op(plan, name), peak(plan, arena, n)}.

import {answerFor, familiesOf, parseSize} from "./answer.js";
import {bytesNode, el, linkNode, longList, nameNode, replace} from "./dom.js";
import {exactBytes, humanBytes, percent, plural, stepSpan} from "./format.js";
import {namesIn, splitText} from "./links.js";
import {findHolder, findOp} from "./lookup.js";
import {opName} from "./model.js";
import {fitOf, withinOf} from "./scenes.js";

const SHOWN_PEAKS = 12;
const UNASKED = 0.9;  // of the peak: a question to begin with, where nobody has asked one

export function whyPanel(plan, tab, facts, go) {
  const {explain} = plan;
  const arena = tab < 0 ? null : plan.arenas[tab];
  return el("section", {"aria-label": "Why it is so big"},
            explain ? el("p", {class: "lead"}, linkedText(plan, explain.cause, go)) : null,
            explain ? fitQuestion(plan, go) : null,
            arena && facts ? peakList(plan, arena, facts, go) : null,
            explain ? gainsPart(plan, go) : null,
            explain ? costsPart(explain) : null,
            plan.text ? textPart(plan, go) : noText(plan));
}

function noText(plan) {
  return plan.explain ? null : el("p", {class: "quiet"}, "This page has no explanation in it: `stowage plan` writes one for a graph, unless " +
                                                         "--explain-time is 0.");
}

// Names and steps in a text as links.
function linkedText(plan, text, go) {
  if (!plan.linkNames) plan.linkNames = plan.explain ? namesIn(plan.explain) : new Set();
  return splitText(text, plan.linkNames).map((part) => {
    if (typeof part === "string") return part;
    if (part.step !== undefined) return part.step < plan.steps ? linkNode(part.text, () => go.step(plan, part.step)) : part.text;
    if (findHolder(plan, {name: part.name}) >= 0) return linkNode(el("bdi", {}, part.text), () => go.holder(plan, {name: part.name}));
    return findOp(plan, part.name) >= 0 ? linkNode(el("bdi", {}, part.text), () => go.op(plan, part.name)) : part.text;
  });
}

// ------------------------------------------------------------------------------------------------ how to fit into N

function fitQuestion(plan, go) {
  const {explain} = plan;
  const asked = explain.budget ? explain.budget.budget_bytes : plan.capacity;
  const start = asked !== null && asked !== undefined ? asked : Math.round(Math.max(...needsOf(plan), 0) * UNASKED);
  const answer = el("div", {class: "answer", role: "status"});
  const input = el("input", {id: `fit-${plan.number}`, class: "fit", type: "text", inputmode: "decimal", value: humanBytes(start),
                             spellcheck: "false"});
  const update = () => {
    const bytes = parseSize(input.value, explain.peak_bytes);
    replace(answer, bytes === null ? el("p", {class: "quiet"}, "A size, please: 64 MiB, 1.5 GiB, 70000 B.") : fitAnswer(plan, bytes, go));
  };
  // The text in the field is rounded; the first answer is for the size itself.
  replace(answer, fitAnswer(plan, start, go));
  input.addEventListener("input", update);
  return el("div", {class: "card"}, el("h3", {}, el("label", {for: `fit-${plan.number}`}, "What do I change to fit into "), input, "?"),
            answer);
}

function needsOf(plan) {
  return fitOf(plan).map((memory) => memory.bytes);
}

function fitAnswer(plan, bytes, go) {
  const needs = needsOf(plan);
  const known = answerFor(plan.explain, bytes, needs);
  if (known.over === 0) {
    const left = `${humanBytes(bytes - Math.max(...needs, 0))} are left${needs.length > 1 ? " in the fullest memory" : ""}.`;
    return [el("p", {class: "verdict fits"}, "Nothing: it fits."), el("p", {class: "quiet"}, left)];
  }
  const ways = waysOf(plan, known, go);
  const count = ways.length;
  const intro = el("p", {}, count === 1 ? "This would do:" : "Any one of these would do:");
  return [el("p", {class: "verdict fails"}, `It does not fit: ${humanBytes(known.over)} too much${needs.length > 1 ? " in the fullest memory" : ""}.`),
          count > 0 ? [intro, el("ul", {class: "ways"}, ways)] : noWay(known, bytes),
          known.impossible ? wallNode(plan, known.impossible, go) : null, budgetReason(plan, bytes)];
}

// One list item for each change that suffices, constraints first: they cost no work on the model.
function waysOf(plan, known, go) {
  const then = (bytes) => quiet(` (then ${humanBytes(bytes)})`);
  const ways = known.constraints.map((cost) => el("li", {}, `drop the constraint '${cost.constraint}': ${cost.without}`,
                                                  then(cost.peak_bytes)));
  if (known.together) ways.push(el("li", {}, `drop these constraints together: ${known.together.constraints.join(", ")}`,
                                   then(known.together.peak)));
  for (const gain of known.shrinks.slice(0, 4)) {
    ways.push(el("li", {}, "do without ", holdersNode(plan, gain.holders, go), then(gain.peak_bytes),
                 quiet(": split the op, recompute instead of keeping, a smaller type or batch")));
  }
  return ways;
}

function noWay(known, bytes) {
  const tried = known.least === null ? "What was tried does not say. "
    : `Nothing that was tried suffices: the lowest peak it led to is ${humanBytes(known.least)}. `;
  return el("p", {}, tried, el("code", {}, `stowage explain INPUT --budget ${bytes}`), " looks for a set that does.");
}

function wallNode(plan, op, go) {
  return el("p", {}, "Op ", linkNode(nameNode(op.name, 40), () => go.step(plan, op.step)),
            ` alone reads, writes and works with ${humanBytes(op.bytes)}: as it is, no order and no placement fits.`);
}

function budgetReason(plan, bytes) {
  const {budget} = plan.explain;
  return budget && budget.budget_bytes === bytes && budget.reason ? el("p", {class: "quiet"}, budget.reason) : null;
}

function quiet(words) {
  return el("span", {class: "quiet"}, words);
}

// "33 holders: result_output, ffn_gate-* (32)", each family a link to its first holder.
function holdersNode(plan, holders, go) {
  const families = familiesOf(holders);
  const nodes = families.slice(0, 6).flatMap(({family, holders: list}, at) => [
    at > 0 ? ", " : "",
    linkNode(nameNode(list.length > 1 ? family : list[0].name, 40), () => go.holder(plan, list[0])),
    list.length > 1 ? ` (${list.length})` : "",
  ]);
  return [holders.length > 1 ? `${plural(holders.length, "holder")}: ` : "", nodes,
          families.length > 6 ? ` and ${families.length - 6} more` : ""];
}

// ------------------------------------------------------------------------------------------------ peaks, gains, costs

function peakList(plan, arena, facts, go) {
  if (!arena.counts) return el("p", {class: "quiet"},
                               `'${arena.name}' (${arena.kind}, ${humanBytes(arena.size)}) does not count towards the peak.`);
  const numbered = facts.peaks.map((peak, n) => [peak, n]);
  const row = ([peak, n]) => el("tr", {},
    el("td", {}, linkNode(stepSpan(peak.first, peak.end), () => go.peak(plan, n), `Peak ${n + 1}: ${stepSpan(peak.first, peak.end)}`)),
    el("td", {class: "number"}, bytesNode(peak.live)), el("td", {class: "wide"}, nameNode(peak.op || opName(plan, peak.at), 34)));
  const rest = numbered.slice(SHOWN_PEAKS);
  const more = rest.length > 0 ? el("details", {}, el("summary", {}, `${rest.length} more`),
                                    longList(rest, row)) : null;
  return el("div", {}, el("h3", {}, `${plural(facts.peaks.length, "place")} that ${facts.peaks.length === 1 ? "binds" : "bind"} `,
                          el("kbd", {}, "n"), " ", el("kbd", {}, "p")),
            el("p", {class: "quiet"}, `In '${arena.name}', live bytes are within ${Number((100 * withinOf(plan)).toFixed(2))}% of the most here. The peak falls only when all of them do.`,
               arena.concurrent ? " Ops run on several streams: what is live at the same time here may still share bytes." : ""),
            el("table", {class: "rows peaks"}, el("tbody", {}, numbered.slice(0, SHOWN_PEAKS).map(row))), more);
}

function gainsPart(plan, go) {
  const {gains} = plan.explain;
  const row = (gain) => el("tr", {}, el("td", {class: "number"}, bytesNode(gain.gain_bytes)),
    el("td", {class: "wide"}, holdersNode(plan, gain.holders, go), el("span", {class: "quiet"}, notesOf(gain)),
       gain.then ? [quiet(" then "), findOp(plan, gain.then) >= 0 ? linkNode(nameNode(gain.then, 30), () => go.op(plan, gain.then))
                    : nameNode(gain.then, 30), quiet(" binds")] : null),
    el("td", {class: "number", title: exactBytes(gain.peak_bytes)}, humanBytes(gain.peak_bytes)));
  const head = el("thead", {}, el("tr", {}, ["gain", "if gone", "peak then"].map((word) => el("th", {scope: "col"}, word))));
  return el("div", {}, el("h3", {}, "What would lower the peak"),
            gains.length === 0 ? el("p", {class: "quiet"}, "No set of holders was found whose absence lowers it.")
                               : [el("p", {class: "quiet"},
                                     "Planned again with these shrunk to nothing: an upper limit of what recomputing, splitting or a smaller type gains."),
                                  el("table", {class: "rows gains"}, head, el("tbody", {}, gains.map(row)))]);
}

function notesOf(gain) {
  const notes = [];
  if (gain.holders.length > 1) notes.push(gain.smallest ? "all of them" : "fewer might do");
  if (!gain.proven) notes.push("not proven");
  return notes.length > 0 ? `; ${notes.join(", ")};` : ";";
}

function costsPart(explain) {
  if (explain.costs.length === 0) return null;
  const row = (cost) => el("tr", {}, el("td", {class: "number"}, cost.cost_bytes === null ? "not tried" : bytesNode(cost.cost_bytes)),
                           el("td", {class: "wide"}, cost.constraint, quiet(`; instead: ${cost.without}`)));
  return el("div", {}, el("h3", {}, "What constraints cost"), el("table", {class: "rows"}, el("tbody", {}, explain.costs.map(row))));
}

function textPart(plan, go) {
  const whole = el("details", {class: "text"}, el("summary", {}, "The whole explanation, as stowage explain prints it"));
  whole.addEventListener("toggle", () => {
    if (whole.open && whole.childElementCount === 1) whole.append(el("pre", {tabindex: "0", "aria-label": "Explanation"},
                                                                     linkedText(plan, plan.text, go)));
  });
  return whole;
}

// One line for the header: "proven least" or the gap.
export function gapText(peak, bound) {
  return peak <= bound ? "proven least" : `${percent(peak - bound, bound)} above the bound`;
}
