// From names, as explanations and differences have them, to holders of a plan; and the search over names.

import {holderBox, holderName, opName, tensorName, tensorsOf} from "./model.js";

const MOST_ALIKE = 400;

// name → holders that have a tensor of that name, or are the workspace of an op of that name. Made when first asked for.
function nameIndex(plan) {
  if (plan.byName) return plan.byName;
  const byName = new Map();
  const put = (name, holder) => {
    const list = byName.get(name);
    if (!list) byName.set(name, [holder]);
    else if (list[list.length - 1] !== holder) list.push(holder);
  };
  for (let holder = 0; holder < plan.holders.count; holder += 1) {
    for (const tensor of tensorsOf(plan, holder)) put(tensorName(plan, tensor), holder);
    if (plan.holders.tensor[holder] < 0) put(holderName(plan, holder), holder);
  }
  plan.byName = byName;
  return byName;
}

// `wanted` is {name, steps?: [first, end), offset?, arena?}: the best match among those with that name. −1: none.
export function findHolder(plan, wanted) {
  const name = wanted.name.replace(/ \(workspace \d+\)$/, " (workspace)");
  const found = nameIndex(plan).get(name) || nameIndex(plan).get(name.replace(/ \+\d+$/, ""));
  if (!found) return -1;
  const fit = (holder) => {
    const {first, end, arena} = plan.holders;
    const box = holderBox(plan, holder);
    return (wanted.steps && wanted.steps[0] === first[holder] && wanted.steps[1] === end[holder] ? 4 : 0) +
           (wanted.arena && plan.arenas[arena[holder]].name === wanted.arena ? 2 : 0) +
           (typeof wanted.offset === "number" && box.low <= wanted.offset && wanted.offset < Math.max(box.high, box.low + 1) ? 1 : 0);
  };
  return found.slice(0, MOST_ALIKE).reduce((best, each) => (fit(each) > fit(best) ? each : best));
}

// The step of the op of that name; of several the one at or after `near`. −1: none.
export function findOp(plan, name, near) {
  if (!plan.opsByName) {
    plan.opsByName = new Map();
    for (let step = plan.ops.count - 1; step >= 0; step -= 1) {
      const own = opName(plan, step);
      plan.opsByName.set(own, [step, ...(plan.opsByName.has(own) && plan.opsByName.get(own).length < 64 ? plan.opsByName.get(own) : [])]);
    }
  }
  const steps = plan.opsByName.get(name);
  if (!steps) return -1;
  return near === undefined ? steps[0] : steps.find((step) => step >= near) || steps[0];
}

// {test, error}: a case-insensitive regular expression, or, if it is not a valid one, the text itself. The strict
// grammar (flag u) has more features (\p{L}); the loose one accepts "a\-b".
export function makePattern(query) {
  let message = "";
  for (const flags of ["iu", "i"]) {
    try {
      const pattern = new RegExp(query, flags);
      return {test: (text) => pattern.test(text), error: null};
    } catch (error) {
      message = error.message.replace(/^Invalid regular expression: /, "");
    }
  }
  const plain = query.toLowerCase();
  return {test: (text) => text.toLowerCase().includes(plain), error: message};
}

const SOON = 4e9;  // matching steps: about ten seconds in the worst case, and almost no time for ordinary searches

// Whether the search is sure to end soon for any names. Matching backtracks: each repetition may begin and end anywhere
// in a name, each alternative may double the work, and a repeated group or a back reference has no useful bound.
export function endsSoon(query, strings) {
  if (/\)[*+{]|\\[1-9k]/.test(query)) return false;
  const repeats = (query.match(/[*+]|\{\d+,/g) || []).length;
  const choices = (query.match(/[?|]/g) || []).length;
  const steps = strings.reduce((sum, text) => sum + (text.length + 1) ** (repeats + 1), 0);
  return steps * 2 ** choices <= SOON;
}

// {lit: Uint8Array by holder, hits: [holder, …], bytes, error}; hits in the order of their lives. Each different string is
// tried once.
export function searchHolders(plan, query) {
  const {test, error} = makePattern(query);
  const cache = new Int8Array(plan.strings.length).fill(-1);
  const matches = (number) => {
    if (!(number > 0)) return false;
    if (cache[number] < 0) cache[number] = number > 0 && test(plan.strings[number]) ? 1 : 0;
    return cache[number] === 1;
  };
  const lit = new Uint8Array(plan.holders.count);
  const hits = [];
  let bytes = 0;
  for (let holder = 0; holder < plan.holders.count; holder += 1) {
    if (!holderMatches(plan, holder, matches)) continue;
    lit[holder] = 1;
    hits.push(holder);
    bytes += plan.holders.size[holder];
  }
  return {lit, hits, bytes, error};
}

// The names of its tensors and of the ops that wrote them, their layers and lines.
function holderMatches(plan, holder, matches) {
  if (matches(plan.holders.scope[holder])) return true;
  const op = plan.holders.op[holder];
  const opMatches = (step) => ["name", "layer", "source"].some((column) => matches(plan.ops[column][step]));
  if (op >= 0 && opMatches(op)) return true;
  for (const tensor of tensorsOf(plan, holder)) {
    if (matches(plan.tensors.name[tensor])) return true;
    const producer = plan.tensors.producer[tensor];
    if (producer >= 0 && opMatches(producer)) return true;
  }
  return false;
}
