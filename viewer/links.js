// Finds in a text what the map can show: names from the explanation, and "step N". No DOM.

// [string | {text, name} | {text, step}], in order; joined they are the text. A line may end between "step" and its number.
export function splitText(text, names) {
  const byStart = new Map();
  for (const name of names) {
    if (name.length < 2) continue;
    const key = name.slice(0, 2);
    if (!byStart.has(key)) byStart.set(key, new Set());
    byStart.get(key).add(name);
  }
  const sorted = new Map([...byStart].map(([key, set]) => [key, [...set].sort((a, b) => b.length - a.length)]));
  const parts = [];
  let plain = 0;
  for (let at = 0; at < text.length;) {
    const found = isWordBefore(text, at) ? null : partAt(text, at, sorted);
    if (!found) {
      at += 1;
      continue;
    }
    if (at > plain) parts.push(text.slice(plain, at));
    parts.push(found);
    at += found.text.length;
    plain = at;
  }
  if (plain < text.length) parts.push(text.slice(plain));
  return parts;
}

function isWordBefore(text, at) {
  return at > 0 && /[\p{L}\p{N}_]/u.test(text[at - 1]);
}

function partAt(text, at, sorted) {
  for (const name of sorted.get(text.slice(at, at + 2)) || []) {
    if (text.startsWith(name, at) && endsWord(text, at + name.length)) return {text: name, name};
  }
  if (!text.startsWith("step", at)) return null;
  const step = /^steps?\s+(\d+)/.exec(text.slice(at, at + 60));
  return step ? {text: step[0], step: Number(step[1])} : null;
}

// Only whole names match: "ffn_gate-1" is not in "ffn_gate-12", nor "ffn_gate" in "ffn_gate-1".
function endsWord(text, at) {
  if (at >= text.length) return true;
  if (/[\p{L}\p{N}_*]/u.test(text[at])) return false;
  return !/[-./:]/.test(text[at]) || at + 1 >= text.length || !/[\p{L}\p{N}_*]/u.test(text[at + 1]);
}

// Every name of a holder or op that an explanation (stowage.explain/1) has.
export function namesIn(explain) {
  const names = new Set();
  const addAll = (holders) => holders.forEach((holder) => names.add(holder.name));
  for (const arena of explain.arenas) {
    for (const peak of arena.peaks) {
      addAll(peak.holders);
      if (peak.op) names.add(peak.op);
    }
  }
  const gains = [...explain.gains, ...(explain.budget && explain.budget.shrink ? [explain.budget.shrink] : [])];
  for (const gain of gains) {
    addAll(gain.holders);
    if (gain.then) names.add(gain.then);
  }
  if (explain.largest_op) names.add(explain.largest_op.name);
  return names;
}
