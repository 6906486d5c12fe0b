// The whole arena in a strip, with a frame for what the stage shows. The frame can be dragged; a click elsewhere moves
// it there.

import {el} from "./dom.js";
import {makeRaster, paintView} from "./raster.js";
import {wholeView} from "./viewport.js";

export class Minimap {
  constructor(stage, onMove) {
    this.stage = stage;
    this.onMove = onMove;
    this.canvas = el("canvas", {});
    this.frame = el("div", {class: "minimap-frame"});
    this.root = el("div", {class: "minimap", "aria-hidden": "true", title: "The whole arena; drag the frame"}, this.canvas, this.frame);
    this.painted = null;
    this.grip = null;
    this.root.addEventListener("pointerdown", (event) => this.grab(event));
    this.root.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) this.root.addEventListener(name, () => (this.grip = null));
  }

  update() {
    const {scene, ratio} = this.stage;
    const width = this.root.clientWidth;
    const height = this.root.clientHeight;
    if (!scene || width < 10 || height < 4) return;
    const wanted = `${width}x${height}:${scene.pixels.version}:${scene.arena.number}`;
    if (wanted !== this.painted) this.paint(width, height, ratio || 1);
    this.painted = wanted;
    const {view, limits} = scene;
    const style = this.frame.style;
    style.left = `${(view.x0 / limits.steps) * width}px`;
    style.width = `${Math.max(((view.x1 - view.x0) / limits.steps) * width, 5)}px`;
    style.bottom = `${(view.y0 / limits.bytes) * height}px`;
    style.height = `${Math.max(((view.y1 - view.y0) / limits.bytes) * height, 5)}px`;
  }

  paint(width, height, ratio) {
    const {scene} = this.stage;
    const raster = makeRaster(Math.round(width * ratio), Math.round(height * ratio));
    paintView(raster, scene.index, scene.pixels, wholeView(scene.limits));
    this.canvas.width = raster.width;
    this.canvas.height = raster.height;
    this.canvas.getContext("2d").putImageData(new ImageData(raster.bytes, raster.width, raster.height), 0, 0);
  }

  pointOf(event) {
    const rect = this.root.getBoundingClientRect();
    const {limits} = this.stage.scene;
    return {step: ((event.clientX - rect.left) / rect.width) * limits.steps,
            byte: (1 - (event.clientY - rect.top) / rect.height) * limits.bytes};
  }

  grab(event) {
    if (!this.stage.scene || event.button !== 0) return;
    this.root.setPointerCapture(event.pointerId);
    const point = this.pointOf(event);
    const {view} = this.stage.scene;
    const inside = point.step >= view.x0 && point.step <= view.x1 && point.byte >= view.y0 && point.byte <= view.y1;
    this.grip = inside ? {step: point.step - view.x0, byte: point.byte - view.y0}
      : {step: (view.x1 - view.x0) / 2, byte: (view.y1 - view.y0) / 2};
    this.drag(event);
  }

  drag(event) {
    if (!this.grip) return;
    const point = this.pointOf(event);
    const {view} = this.stage.scene;
    const x0 = point.step - this.grip.step;
    const y0 = point.byte - this.grip.byte;
    this.onMove(this.stage, {x0, x1: x0 + view.x1 - view.x0, y0, y1: y0 + view.y1 - view.y0});
  }
}
