// The panel "Why": the cause, the binding peaks, what would lower the peak, what to change to fit, and the whole text.
// `go` is what links do: {holder(plan, wanted), group(plan, list), point(plan, list), step(plan, step), op(plan, name),
// peak(plan, n), fit(bytes)}, and `asked` the size that was typed before, or null.

import {answerFor, familiesOf, parseSize, partThatFits} from "./answer.js";
import {roleOf} from "./colour.js";
import {bytesNode, el, linkNode, longList, nameNode, replace} from "./dom.js";
import {baseName, exactBytes, humanBytes, percent, plural, shorten, straight, visible} from "./format.js";
import {namesIn, splitText} from "./links.js";
import {findHolder, findOp} from "./lookup.js";
import {opName, spanName} from "./model.js";
import {arenaFacts, fitOf, withinOf} from "./scenes.js";

const SHOWN_PEAKS = 12;
const FIXED_ROLES = ["graph input", "graph output"];  // these cannot be removed
const NOTHING = " to nothing";
const ROUNDING = 0.001;  // share of a size that alignment may add to shrunken tensors

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
  return plan.explain ? null : el("p", {class: "quiet"}, "This page contains no explanation: `stowage plan` writes one for a graph, unless " +
                                                         "--explain-time is 0.");
}

// Names and steps in a text as links.
function linkedText(plan, text, go) {
  if (!plan.linkNames) plan.linkNames = plan.explain ? namesIn(plan.explain) : new Set();
  return splitText(text, plan.linkNames).map((part) => {
    if (typeof part === "string") return straight(part);
    if (part.step !== undefined) return part.step < plan.steps ? linkNode(part.text, () => go.step(plan, part.step)) : part.text;
    if (findHolder(plan, {name: part.name}) >= 0) return linkNode(el("bdi", {}, part.text), () => go.holder(plan, {name: part.name}));
    return findOp(plan, part.name) >= 0 ? linkNode(el("bdi", {}, part.text), () => go.op(plan, part.name)) : part.text;
  });
}

// ------------------------------------------------------------------------------------------------ how to fit into N

function fitQuestion(plan, go) {
  const {explain} = plan;
  const planned = explain.budget ? explain.budget.budget_bytes : plan.capacity;
  const asked = go.asked === null ? planned : go.asked;
  const isAsked = asked !== null && asked !== undefined;
  const answer = el("div", {class: "answer", role: "status"});
  const input = el("input", {id: `fit-${plan.number}`, class: "fit", type: "text", inputmode: "decimal", value: isAsked ? humanBytes(asked) : "",
                             placeholder: humanBytes(Math.max(...needsOf(plan), 0)),
                             spellcheck: "false"});
  const update = () => {
    const bytes = parseSize(input.value, explain.peak_bytes);
    go.fit(bytes);
    replace(answer, bytes === null ? noSize(plan) : fitAnswer(plan, bytes, go));
  };
  // The text in the field is rounded; the first answer is for the size itself.
  replace(answer, isAsked ? fitAnswer(plan, asked, go) : noSize(plan));
  input.addEventListener("input", update);
  return el("div", {class: "card"}, el("h3", {}, el("label", {for: `fit-${plan.number}`}, "What must change to fit into "), input, "?"),
            answer);
}

// Nothing is said to fail before a size is given.
function noSize(plan) {
  return [el("p", {class: "quiet"}, "Enter a size such as 64 MiB, 1.5 GiB or 70000 B."), apartNode(plan)];
}

function needsOf(plan) {
  return fitOf(plan).map((memory) => memory.bytes);
}

function fitAnswer(plan, bytes, go) {
  const needs = needsOf(plan);
  const known = answerFor(plan.explain, bytes, needs);
  const where = needs.length > 1 ? " in the fullest memory" : "";
  if (known.over === 0) {
    return [el("p", {class: "verdict fits"}, `Nothing: it fits into ${humanBytes(bytes)}.`),
            el("p", {class: "quiet"}, `${humanBytes(bytes - Math.max(...needs, 0))} are left${where}.`), apartNode(plan)];
  }
  const ways = waysOf(plan, known, bytes, go);
  return [el("p", {class: "verdict fails"}, `It does not fit into ${humanBytes(bytes)}: ${humanBytes(known.over)} too much${where}.`),
          ways.length > 0 ? [el("p", {}, ways.length === 1 ? "This suffices:" : "Any one of these suffices:"), el("ul", {class: "ways"}, ways)]
                          : noWay(plan, known, bytes),
          ways.length > 0 && known.shrinks.length > 0 ? howNode() : null,
          known.impossible ? wallNode(plan, known.impossible, go) : null, budgetReason(plan, bytes), apartNode(plan)];
}

// Weights and anything else in arenas that do not count towards the peak: they need memory in addition to it.
function apartNode(plan) {
  const apart = plan.arenas.filter((arena) => !arena.counts && arena.size > 0);
  if (apart.length === 0) return null;
  const list = apart.slice(0, 4).map((arena) => `'${visible(arena.name)}' (${humanBytes(arena.size)})`).join(", ");
  return el("p", {class: "quiet apart"}, `In addition, not counted here: ${list}${apart.length > 4 ? ` and ${apart.length - 4} more` : ""}` +
                                         `${apart.some((arena) => arena.kind === "persistent") ? ", weights and other memory that outlives a run" : ""}.`);
}

// One list item for each change that suffices, constraints first: they cost no work on the model.
function waysOf(plan, known, bytes, go) {
  const then = (peak) => quiet(` (then ${humanBytes(peak)})`);
  const ways = known.constraints.map((cost) => el("li", {}, `drop the constraint '${cost.constraint}': ${cost.without}`,
                                                  then(cost.peak_bytes)));
  if (known.together) ways.push(el("li", {}, `drop these constraints together: ${known.together.constraints.join(", ")}`,
                                   then(known.together.peak)));
  for (const gain of known.shrinks.slice(0, 4)) {
    const part = partOf(plan, gain, bytes);
    ways.push(el("li", {...pointing(plan, gain.holders, go)}, "shrink ", membersNode(plan, gain.holders, go), part,
                 part === NOTHING ? then(gain.peak_bytes) : quiet(` (at 0%: ${humanBytes(gain.peak_bytes)})`),
                 familiesOf(gain.holders).length > 1 ? [" ", linkNode("show all", () => go.group(plan, gain.holders))] : null));
  }
  return ways;
}

// " to about 24% of its size", rounded down; empty where the share is unknown.
function partOf(plan, gain, bytes) {
  const counting = plan.arenas.filter((arena) => arena.counts);
  if (counting.length !== 1 || counting[0].concurrent) return "";
  const part = partThatFits({live: arenaFacts(plan, counting[0].number).live, most: plan.explain.peak_bytes, peak: gain.peak_bytes},
                            gain.holders, bytes * (1 - ROUNDING));
  if (part === null) return "";
  return part < 0.01 ? NOTHING : ` to about ${Math.floor(part * 100)}% of ${gain.holders.length === 1 ? "its size" : "their size"}`;
}

function howNode() {
  return el("p", {class: "quiet"}, "To shrink a tensor: split the op, recompute the tensor instead of keeping it, or use a smaller type or batch. " +
                                   "Percentages are estimates from the live bytes; the peak at 0% has been planned.");
}

function noWay(plan, known, bytes) {
  const tried = known.least === null ? "The changes that were tried give no answer. "
    : `No change that was tried suffices: the lowest peak reached is ${humanBytes(known.least)}. `;
  if (bytes === 0) return el("p", {}, tried);
  const command = `stowage explain ${shorten(baseName(plan.label), 60)} --capacity ${bytes}`;
  return el("p", {}, tried, el("code", {}, command), " searches for one that does.");
}

function wallNode(plan, op, go) {
  return el("p", {}, "Op ", linkNode(nameNode(op.name, 40), () => go.step(plan, op.step)),
            ` alone needs ${humanBytes(op.bytes)}: no order and no placement fits unless the op is split or its tensors shrink.`);
}

function budgetReason(plan, bytes) {
  const {budget} = plan.explain;
  return budget && budget.budget_bytes === bytes && budget.reason ? el("p", {class: "quiet"}, budget.reason) : null;
}

function quiet(words) {
  return el("span", {class: "quiet"}, words);
}

// Highlights the holders in the map while a list item or row is pointed at or has the focus.
function pointing(plan, holders, go) {
  const on = () => go.point(plan, holders);
  const off = () => go.point(plan, []);
  return {onpointerenter: on, onpointerleave: off, onfocusin: on, onfocusout: off};
}

// "result_output, ffn_gate-*", each family a link to its holders; `more` adds something to each.
function familyNodes(plan, holders, go, more) {
  const families = familiesOf(holders);
  return [families.slice(0, 6).map(({family, holders: list}, at) => [
    at > 0 ? ", " : "", linkNode(nameNode(list.length > 1 ? family : list[0].name, 40), () => go.group(plan, list)), more(list),
  ]), families.length > 6 ? ` and ${families.length - 6} more` : ""];
}

// "33 holders: result_output, ffn_gate-* (32)".
function holdersNode(plan, holders, go) {
  return [holders.length > 1 ? [linkNode(plural(holders.length, "holder"), () => go.group(plan, holders)), ": "] : "",
          familyNodes(plan, holders, go, (list) => (list.length > 1 ? ` (${list.length})` : ""))];
}

// "linear (MatMul, 98.2 MiB, graph output), val_* (12 × 68.7 MiB, Softmax)".
function membersNode(plan, holders, go) {
  return familyNodes(plan, holders, go, (list) => {
    const most = humanBytes(Math.max(...list.map((holder) => holder.bytes)));
    const same = list.every((holder) => holder.bytes === list[0].bytes);
    const size = list.length === 1 ? most : same ? `${list.length}\u00a0×\u00a0${most}` : `${list.length}, up to ${most}`;
    const kinds = [...new Set(list.map((holder) => holder.kind).filter(Boolean))];
    const roles = [...new Set(list.map((holder) => roleAt(plan, holder)))].filter((role) => FIXED_ROLES.includes(role));
    return quiet(` (${[size, ...(kinds.length > 2 ? [] : kinds.map(visible)), ...roles].join(", ")})`);
  });
}

function roleAt(plan, wanted) {
  const holder = findHolder(plan, wanted);
  return holder < 0 ? "" : roleOf(plan, holder);
}

// ------------------------------------------------------------------------------------------------ peaks, gains, costs

function peakList(plan, arena, facts, go) {
  if (!arena.counts) return el("p", {class: "quiet"},
                               `'${arena.name}' (${arena.kind}, ${humanBytes(arena.size)}) does not count towards the peak.`);
  const numbered = facts.peaks.map((peak, n) => [peak, n]);
  const row = ([peak, n]) => el("tr", {},
    el("td", {}, linkNode(spanName(plan, peak.first, peak.end), () => go.peak(plan, n), `Peak ${n + 1}: ${spanName(plan, peak.first, peak.end)}`)),
    el("td", {class: "number"}, bytesNode(peak.live)), el("td", {class: "wide"}, nameNode(peak.op || opName(plan, peak.at), 34)));
  const rest = numbered.slice(SHOWN_PEAKS);
  const more = rest.length > 0 ? el("details", {}, el("summary", {}, `${rest.length} more`),
                                    longList(rest, row)) : null;
  if (numbered.length === 0) return null;
  return el("div", {}, el("h3", {}, `${plural(facts.peaks.length, "binding peak")} `,
                          el("kbd", {}, "n"), " ", el("kbd", {}, "p")),
            el("p", {class: "quiet"}, `In '${arena.name}', live bytes are within ${Number((100 * withinOf(plan)).toFixed(2))}% of the most at these steps. The peak falls only when all binding peaks fall.`,
               arena.concurrent ? " Ops run on several streams: holders that are live at the same steps may still share bytes." : ""),
            el("table", {class: "rows peaks"}, el("tbody", {}, numbered.slice(0, SHOWN_PEAKS).map(row))), more);
}

function gainsPart(plan, go) {
  const {gains} = plan.explain;
  const row = (gain) => el("tr", {...pointing(plan, gain.holders, go)}, el("td", {class: "number"}, bytesNode(gain.gain_bytes)),
    el("td", {class: "wide"}, holdersNode(plan, gain.holders, go), quiet(notesOf(gain)),
       gain.then ? [quiet("; then "), findOp(plan, gain.then) >= 0 ? linkNode(nameNode(gain.then, 30), () => go.op(plan, gain.then))
                    : nameNode(gain.then, 30), quiet(" is the fullest")] : null),
    el("td", {class: "number", title: exactBytes(gain.peak_bytes)}, humanBytes(gain.peak_bytes)));
  const head = el("thead", {}, el("tr", {}, ["gain", "if gone", "peak then"].map((word) => el("th", {scope: "col"}, word))));
  return el("div", {}, el("h3", {}, "What would lower the peak"),
            gains.length === 0 ? el("p", {class: "quiet"}, "No set of holders was found whose removal lowers it.")
                               : [el("p", {class: "quiet"},
                                     "Planned again with these at size 0: an upper limit of what recomputing, splitting or a smaller type gains."),
                                  el("table", {class: "rows gains"}, head, el("tbody", {}, gains.map(row)))]);
}

function notesOf(gain) {
  const notes = [];
  if (gain.holders.length > 1) notes.push(gain.smallest ? "none can be left out" : "a subset might suffice");
  if (!gain.proven) notes.push("not proven");
  return notes.map((note) => `; ${note}`).join("");
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

// One line for the header: "smallest possible (proven)" or the gap.
export function gapText(peak, bound) {
  return peak <= bound ? "smallest possible (proven)" : `${percent(peak - bound, bound)} above the bound`;
}
