// Numbers and names as people read them. No DOM.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

// The file name of a path.
export function baseName(path) {
  return path.split(/[\\/]/).filter(Boolean).pop() || path;
}

// Three digits and a unit, exactly as the terminal has them: "74.5 MiB", "8.00 MiB", "512 B".
export function humanBytes(bytes) {
  if (bytes === null || bytes === undefined || Number.isNaN(bytes)) return "unknown";
  const unit = unitOf(bytes);
  const value = Math.abs(bytes) / 1024 ** unit;
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${bytes < 0 ? "−" : ""}${fixed(value, digits)} ${UNITS[unit]}`;
}

// The power of 1024 in whose unit bytes are shown: 2 for MiB.
export function unitOf(bytes) {
  let value = Math.abs(bytes);
  let unit = 0;
  while (value >= (unit === 0 ? 1023.5 : 999.5) && unit + 1 < UNITS.length) {
    value /= 1024;
    unit += 1;
  }
  return unit;
}

// Rounds half to even, as C++ does: 6.125 is 6.12 in the terminal; toFixed rounds it up.
function fixed(value, digits) {
  const scaled = value * 10 ** digits;
  const whole = Math.floor(scaled);
  return scaled - whole === 0.5 && whole % 2 === 0 ? (whole / 10 ** digits).toFixed(digits) : value.toFixed(digits);
}

// For an axis whose ticks are `apart` bytes from each other: with as many digits as tell them apart, else in bytes.
export function tickBytes(bytes, apart) {
  const short = humanBytes(bytes);
  if (!(apart > 0) || bytes === 0) return short;
  const unit = 1024 ** Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  const digits = Math.max(0, Math.ceil(-Math.log10(apart / unit) - 1e-9));
  if (digits <= (short.match(/\.(\d+)/) || ["", ""])[1].length) return short;
  return digits <= 3 ? `${(bytes / unit).toFixed(digits)} ${UNITS[Math.round(Math.log2(unit) / 10)]}` : grouped(bytes);
}

// "78,118,912 bytes".
export function exactBytes(bytes) {
  if (bytes === null || bytes === undefined) return "unknown";
  return `${grouped(bytes)} ${bytes === 1 ? "byte" : "bytes"}`;
}

export function signedBytes(bytes) {
  return bytes > 0 ? `+${humanBytes(bytes)}` : humanBytes(bytes);
}

export function grouped(number) {
  const [whole, part] = String(Math.abs(number)).split(".");
  const text = whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? `.${part}` : "");
  return number < 0 ? `−${text}` : text;
}

export function percent(part, whole) {
  if (!(whole > 0)) return "0%";
  const value = (100 * part) / whole;
  const size = Math.abs(value);
  return `${value < 0 ? "−" : ""}${size.toFixed(size !== 0 && size < 9.95 ? 1 : 0)}%`;
}

// One step is "step 29"; a half-open span of several is "steps 27–29", the last one included.
export function stepSpan(first, end) {
  return end - first <= 1 ? `step ${first}` : `steps ${first}–${end - 1}`;
}

export function plural(count, word) {
  if (count === 1) return `${grouped(count)} ${word}`;
  return `${grouped(count)} ${/(s|x|ch|sh)$/.test(word) ? `${word}es` : `${word}s`}`;
}

// Replaces invisible characters, and those that change the text direction, by a visible sign.
export function visible(text) {
  return straight(text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g, "\ufffd"));
}

// Removes characters that change the text direction: a shortened name may have lost the one that ends the change.
export function straight(text) {
  return text.replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, "");
}

// Both ends of a long name say more than its front alone: "blk.0.attn…proj.weight". Pairs of surrogates stay whole.
export function shorten(text, most) {
  if (text.length <= most) return visible(text);
  if (most < 3) return "…";
  const front = Math.ceil((most - 1) / 2);
  const back = most - 1 - front;
  const head = text.slice(0, front).replace(/[\ud800-\udbff]$/, "");
  const tail = (back > 0 ? text.slice(-back) : "").replace(/^[\udc00-\udfff]/, "");
  return visible(`${head}…${tail}`);
}

// For SVG: control characters are not allowed in XML at all, lone surrogates neither.
export function escapeXml(text) {
  const clean = visible(text).replace(/[\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
  return clean.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;").replace(/'/g, "&#39;");
}

// Round numbers for an axis: 1, 2 or 5 times a power of ten; about `wanted` of them in [low, high].
export function decimalTicks(low, high, wanted) {
  const raw = Math.max((high - low) / Math.max(wanted, 1), 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const unit = [1, 2, 5, 10].find((each) => each * power >= raw) * power;
  return ticksOf(low, high, Math.max(1, Math.round(unit)));
}

// The same for bytes: powers of two, so that the labels are round in KiB and MiB.
export function binaryTicks(low, high, wanted) {
  const raw = Math.max((high - low) / Math.max(wanted, 1), 1);
  const unit = 2 ** Math.ceil(Math.log2(raw));
  return ticksOf(low, high, unit);
}

function ticksOf(low, high, unit) {
  const ticks = [];
  for (let at = Math.ceil(low / unit) * unit; at <= high && ticks.length < 200; at += unit) ticks.push(at);
  return ticks;
}
