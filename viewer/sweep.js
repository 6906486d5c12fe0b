// A sweep as data: rows by input, and the curves of its charts. No DOM.

// The bytes of a row that a chart or a table may show: by the name of the field, what it is called.
export const SWEEP_FIGURES = {peak: "Peak", total: "Peak and weights"};

export function dimsOf(rows) {
  const names = new Set();
  for (const row of rows) for (const name of Object.keys(row.dims)) names.add(name);
  return [...names];
}

export function dimValue(row, name) {
  return Object.hasOwn(row.dims, name) ? row.dims[name] : null;
}

// "seq=128, batch=4", without the dim `but`.
export function dimWords(row, but) {
  return Object.keys(row.dims).filter((name) => name !== but).map((name) => `${name}=${row.dims[name]}`).join(", ");
}

// One chart for each input and each of its dims that has several values: {input, dim, lines: [{label, rows}]}. A line has the
// rows that are equal in all else, by the value of the dim; rows without bytes are left out.
export function chartsOf(rows) {
  const charts = [];
  for (const [input, own] of groupRows(rows, (row) => row.input)) {
    for (const dim of dimsOf(own)) {
      const values = new Set(own.map((row) => dimValue(row, dim)).filter((value) => value !== null));
      if (values.size < 2) continue;
      const lines = [...groupRows(own.filter((row) => row.peak !== null), (row) => dimWords(row, dim))]
        .map(([label, list]) => ({label, rows: list.sort((a, b) => dimValue(a, dim) - dimValue(b, dim))}));
      if (lines.length > 0) charts.push({input, dim, lines});
    }
  }
  return charts;
}

function groupRows(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return groups;
}

// Whether a row fits a memory: "yes", "no" (proven), "unknown", or "failed". With `figure` total, weights count too.
export function fitWord(row, size, figure) {
  if (row.error) return "failed";
  if (row[figure] !== null && row[figure] <= size) return "yes";
  const extra = figure === "total" ? row.weights || 0 : 0;
  return row.bound !== null && row.bound + extra > size ? "no" : "unknown";
}

// Where the values of a dim lie on an axis, from 0 to 1. Doublings are equally far apart where they span much.
export function dimScale(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const doubling = low > 0 && values.length > 2 && high / low >= 8;
  const place = doubling ? Math.log2 : (value) => value;
  return {doubling, at: (value) => (place(value) - place(low)) / (place(high) - place(low) || 1)};
}

// The values that get a label: not nearer to each other than their words need, the last one in any case.
export function labelledValues(values, xOfValue, widthOf) {
  const sorted = [...new Set(values)].sort((a, b) => b - a);
  const kept = [];
  let left = Infinity;
  for (const value of sorted) {
    const half = widthOf(value) / 2;
    if (xOfValue(value) + half > left) continue;
    kept.push(value);
    left = xOfValue(value) - half - 6;
  }
  return kept.reverse();
}
