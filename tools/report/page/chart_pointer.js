// Pointing at a chart: the values under the pointer, and zooming by dragging.
"use strict";

Chart.prototype.listen = function() {
  const at = (event) => {
    const px = event.clientX - this.canvas.getBoundingClientRect().left;
    return Math.min(Math.max(px, PAD.left), this.canvas.clientWidth - PAD.right);
  };
  this.canvas.addEventListener("pointermove", (event) => {
    if (this.drag) this.drag[1] = at(event);
    this.hover(at(event));
  });
  this.canvas.addEventListener("pointerleave", () => {
    if (this.drag) return;
    this.leave();
    this.draw();
  });
  this.canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return this.hover(at(event));
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = [at(event), at(event)];
  });
  this.canvas.addEventListener("pointerup", () => {
    if (!this.drag) return;
    const [from, to] = this.drag.sort((a, b) => a - b);
    const scale = this.scales();
    this.drag = null;
    if (to - from > 4) this.onRange([scale.back(from), scale.back(to)]); else this.draw();
  });
  this.canvas.addEventListener("pointercancel", () => { this.drag = null; this.draw(); });
  this.canvas.addEventListener("dblclick", () => this.onRange(null));
};

// What was pointed at is not, or no longer, there.
Chart.prototype.leave = function() {
  this.cursor = null;
  this.tip.hidden = true;
};

// Shows for each line the value nearest to the pointer.
Chart.prototype.hover = function(px) {
  const scale = this.scales(), x = scale.back(px);
  const dots = [];
  for (const line of this.shown()) {
    const series = this.seriesOf(line), xs = series[this.view.axis], values = this.valuesOf(line);
    let i = lowerBound(xs, x);
    if (i === xs.length || (i > 0 && x - xs[i - 1] < xs[i] - x)) --i;
    if (i < 0 || xs[i] < scale.x0 || xs[i] > scale.x1) continue;
    if (values[i] === null) continue;
    const {s, lo, hi} = series;
    const spread = lo && lo[i] !== hi[i] ? `, ${shortNumber(lo[i])} to ${shortNumber(hi[i])}` : "";
    dots.push({line, color: line.color, x: xs[i], value: values[i], step: s[i], spread});
  }
  this.cursor = {px, dots};
  this.tip.replaceChildren();
  this.tip.hidden = dots.length === 0;
  for (const dot of dots) {
    const row = document.createElement("div");
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = dot.color;
    const where = this.view.axis === "t" ? shortTime(dot.x) : "update " + dot.step;
    row.append(swatch, `${dot.line.label} ${+dot.value.toPrecision(6)} (${where}${dot.spread})`);
    if (dot.line.several) row.append(" " + dot.line.runName);
    this.tip.append(row);
  }
  // Beside the pointer, and within the chart.
  const {clientWidth} = this.canvas, {offsetWidth} = this.tip;
  const left = px < clientWidth / 2 ? px + 12 : px - 12 - offsetWidth;
  this.tip.style.left = Math.max(0, Math.min(left, clientWidth - offsetWidth)) + "px";
  this.tip.style.top = "10px";
  this.draw();
};
