// What to change, from what the explanation has tried. No DOM.

// Holders by family, largest families first: [{family, holders}].
export function familiesOf(holders) {
  const families = new Map();
  for (const holder of holders) {
    const family = holder.family || holder.name;
    if (!families.has(family)) families.set(family, []);
    families.get(family).push(holder);
  }
  return [...families].map(([family, list]) => ({family, holders: list})).sort((a, b) => sumBytes(b.holders) - sumBytes(a.holders));
}

function sumBytes(holders) {
  return holders.reduce((sum, holder) => sum + holder.bytes, 0);
}

// What is known about fitting into `bytes`: {fits, impossible, constraints: [cost], together, shrinks: [gain], least}.
// `impossible`: one op alone needs more; `together`: constraints that suffice only when all are dropped, {constraints, peak} or
// null. Shrinks come with the fewest holders first; `least` is the lowest peak of everything that was tried.
export function answerFor(explain, bytes) {
  const peaks = [...explain.gains, ...explain.costs].map((each) => each.peak_bytes).filter((peak) => peak !== null && peak !== undefined);
  const shrinks = explain.gains.filter((gain) => gain.peak_bytes <= bytes);
  if (explain.budget && explain.budget.shrink && explain.budget.shrink.peak_bytes <= bytes) {
    const own = explain.budget.shrink;
    peaks.push(own.peak_bytes);
    if (!shrinks.some((gain) => gain.peak_bytes === own.peak_bytes && gain.holders.length === own.holders.length)) shrinks.push(own);
  }
  return {
    fits: explain.peak_bytes <= bytes,
    impossible: explain.largest_op && explain.largest_op.bytes > bytes ? explain.largest_op : null,
    constraints: explain.costs.filter((cost) => cost.peak_bytes !== null && cost.peak_bytes <= bytes && cost.cost_bytes > 0),
    together: togetherOf(explain.budget, bytes),
    shrinks: shrinks.sort((a, b) => a.holders.length - b.holders.length || a.peak_bytes - b.peak_bytes),
    least: Math.min(explain.peak_bytes, ...peaks),
  };
}

function togetherOf(budget, bytes) {
  if (!budget || budget.together.length === 0 || budget.together_peak_bytes === null || budget.together_peak_bytes > bytes) return null;
  return {constraints: budget.together, peak: budget.together_peak_bytes};
}

// "64", "64MiB", "1.5 GiB", "70000 B": bytes, or null. A number alone is MiB.
export function parseSize(text) {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])i?b?|(b|bytes?))?\s*$/i.exec(text);
  if (!found) return null;
  if (found[3]) return Math.round(Number(found[1]));
  return Math.round(Number(found[1]) * 1024 ** (1 + "kmgt".indexOf((found[2] || "m").toLowerCase())));
}
