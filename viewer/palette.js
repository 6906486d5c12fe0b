// Colours. The base is the palette of Okabe and Ito, which is distinguishable with the common kinds of colour
// blindness, made lighter for areas with dark text on them; further categories use the same hues with another
// lightness.

const OKABE_ITO = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#0072b2", "#d55e00", "#c9bf26"];

export const THEMES = {
  light: {
    background: "#ffffff", ink: "#1d2329", faint: "#6b747d", line: "#d5dade", grid: "#eceff1", accent: "#b3261e", bound: "#00694b",
    capacity: "#b3261e", live: "#3f6c94", area: "#dbe7f2", ghost: "#9a6a00", selected: "#111111", flow: "#333c45", other: "#b9c0c6",
    over: "rgba(179,38,30,0.07)", gap: "rgba(20,24,28,0.09)", mixes: [0.3, 0.62],
  },
  dark: {
    background: "#14181c", ink: "#e4e8eb", faint: "#97a1aa", line: "#39424a", grid: "#20262b", accent: "#ff8a80", bound: "#5fd3ab",
    capacity: "#ff8a80", live: "#8fbde6", area: "#22384c", ghost: "#e0b45c", selected: "#ffffff", flow: "#d5dade", other: "#5d666e",
    over: "rgba(255,138,128,0.09)", gap: "rgba(228,232,235,0.11)", mixes: [0.14, 0.42],
  },
};

export function parseColour(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

export function mixColours(a, b, part) {
  return a.map((value, i) => Math.round(value * (1 - part) + b[i] * part));
}

export function toHex(rgb) {
  return `#${rgb.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

// As the raster writes it: little endian, opaque.
export function toPixel(rgb) {
  return (0xff000000 | (rgb[2] << 16) | (rgb[1] << 8) | rgb[0]) >>> 0;
}

// Dark or light, whichever has more contrast on it.
export function inkOn(rgb) {
  return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2] > 118 ? "#14181c" : "#ffffff";
}

// The colour of category `rank` (0 is the largest), as [r, g, b].
export function categoryColour(rank, theme) {
  const base = parseColour(OKABE_ITO[rank % OKABE_ITO.length]);
  const towards = parseColour(THEMES[theme].background);
  const mixes = THEMES[theme].mixes;
  return mixColours(base, towards, mixes[Math.floor(rank / OKABE_ITO.length) % mixes.length]);
}

export const CATEGORY_COUNT = OKABE_ITO.length * 2;

// From pale to dark (light theme), or dim to bright (dark theme), for a part in [0, 1]. The order is visible without
// hue.
export function rampColour(part, theme) {
  const stops = theme === "light" ? ["#e3ecf4", "#9cc3e0", "#4c93c3", "#1f5f96", "#0b2f57"]
    : ["#22303c", "#2c5573", "#3d84b0", "#7db9dd", "#d6ecfa"];
  const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  return mixColours(parseColour(stops[low]), parseColour(stops[low + 1]), at - low);
}

export const CHANGE_COLOURS = {
  light: {grew: "#e08a5b", shrank: "#6fb7a0", appeared: "#d1495b", vanished: "#2a7f9e", moved: "#b7a6d9", same: "#d8dde1"},
  dark: {grew: "#c26a3a", shrank: "#3f8f78", appeared: "#e0566a", vanished: "#4ba6c7", moved: "#7a68a6", same: "#38424a"},
};
