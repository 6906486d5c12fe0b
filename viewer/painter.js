// Two ways to draw the same lines and words: on a canvas, and as SVG text. What is drawn (draw.js) does not know which.
// Coordinates are CSS pixels. A style is {fill, stroke, width, dash}, words have {colour, align, size, weight}.

import {escapeXml} from "./format.js";

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

export class CanvasPainter {
  constructor(context) {
    this.context = context;
  }

  rect(x, y, width, height, fill) {
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, width, height);
  }

  frame(x, y, width, height, style) {
    this.context.strokeStyle = style.stroke;
    this.context.lineWidth = style.width || 1;
    this.context.strokeRect(x, y, width, height);
  }

  // Points are x0, y0, x1, y1, …
  path(points, style) {
    const {context} = this;
    context.beginPath();
    for (let i = 0; i < points.length; i += 2) context.lineTo(points[i], points[i + 1]);
    if (style.fill) {
      context.fillStyle = style.fill;
      context.fill();
    }
    if (style.stroke) {
      context.setLineDash(style.dash || []);
      context.strokeStyle = style.stroke;
      context.lineWidth = style.width || 1;
      context.stroke();
      context.setLineDash([]);
    }
  }

  text(x, y, words, style) {
    const {context} = this;
    context.font = `${style.weight || 400} ${style.size || 11}px ${FONT}`;
    context.textAlign = style.align || "left";
    context.fillStyle = style.colour;
    context.fillText(words, x, y);
  }

  clipped(x, y, width, height, draw) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }
}

export class SvgPainter {
  constructor() {
    this.parts = [];
  }

  rect(x, y, width, height, fill, title) {
    const shape = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"`;
    this.parts.push(title === undefined ? `<rect ${shape}/>` : `<rect ${shape}><title>${escapeXml(title)}</title></rect>`);
  }

  frame(x, y, width, height, style) {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="none" ${strokeOf(style)}/>`);
  }

  path(points, style) {
    const list = [];
    for (let i = 0; i < points.length; i += 2) list.push(`${short(points[i])},${short(points[i + 1])}`);
    const tag = style.fill ? "polygon" : "polyline";
    this.parts.push(`<${tag} points="${list.join(" ")}" fill="${style.fill || "none"}" ${style.stroke ? strokeOf(style) : ""}/>`);
  }

  // Rectangles of one colour in one element: [x, y, width, height, …].
  rects(boxes, fill) {
    const list = [];
    for (let i = 0; i < boxes.length; i += 4) {
      list.push(`M${short(boxes[i])} ${short(boxes[i + 1])}h${short(boxes[i + 2])}v${short(boxes[i + 3])}h${short(-boxes[i + 2])}z`);
    }
    this.parts.push(`<path fill="${fill}" d="${list.join("")}"/>`);
  }

  text(x, y, words, style) {
    const anchor = {right: "end", center: "middle"}[style.align] || "start";
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" font-size="${style.size || 11}" font-weight="${style.weight || 400}" text-anchor="${anchor}" ` +
                    `fill="${style.colour}">${escapeXml(words)}</text>`);
  }

  clipped(x, y, width, height, draw) {
    const box = `${short(x)} ${short(y)} ${short(width)} ${short(height)}`;
    this.parts.push(`<svg x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" viewBox="${box}">`);
    draw();
    this.parts.push("</svg>");
  }

  // Calls `draw`, with its output moved down.
  below(top, width, height, draw) {
    this.parts.push(`<svg y="${short(top)}" width="${short(width)}" height="${short(height)}">`);
    draw();
    this.parts.push("</svg>");
  }

  // The whole document.
  finish(width, height, title) {
    return `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" ` +
           `viewBox="0 0 ${short(width)} ${short(height)}" font-family="${escapeXml(FONT)}"><title>${escapeXml(title)}</title>\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

function strokeOf(style) {
  const dash = style.dash ? ` stroke-dasharray="${style.dash.join(" ")}"` : "";
  return `stroke="${style.stroke}" stroke-width="${style.width || 1}"${dash}`;
}

function short(number) {
  return String(Math.round(number * 100) / 100);
}
