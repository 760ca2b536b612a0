// One chart: a canvas with the lines of several runs, hover and zoom.
"use strict";

const PAD = {left: 52, right: 14, top: 8, bottom: 22};

// An exponential mean without the pull towards 0 at its start.
function smoothed(values, weight) {
  if (weight === 0) return values;
  let mean = 0, total = 0;
  return values.map((value) => {
    if (value === null) return null;
    mean = weight * mean + (1 - weight) * value;
    total = weight * total + (1 - weight);
    return mean / total;
  });
}

// The first index whose x is at least `x`.
function lowerBound(xs, x) {
  let low = 0, high = xs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] < x) low = middle + 1; else high = middle;
  }
  return low;
}

class Chart {
  // `lines`: {run, name, color, dashed (0, 1, 2: dotted), label, series: {s, t, v, lo, hi}}.
  // `view` is shared by all charts: axis, smooth, log, range, hidden, fine.
  constructor(box, title, view, onRange) {
    this.view = view;
    this.onRange = onRange;
    this.lines = [];
    box.className = "chart";
    box.dataset.title = title;
    const heading = document.createElement("h3");
    heading.textContent = title;
    this.keys = document.createElement("span");
    this.keys.className = "keys";
    heading.append(this.keys);
    const plot = document.createElement("div");
    this.canvas = document.createElement("canvas");
    this.tip = document.createElement("div");
    this.tip.className = "tip";
    this.tip.hidden = true;
    plot.append(this.canvas, this.tip);
    box.append(heading, plot);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(plot);
  }

  setLines(lines) {
    this.lines = lines.sort((a, b) => a.dashed - b.dashed);
    this.keys.replaceChildren();
    const kinds = new Map(lines.map((line) => [line.label, line]));
    if (kinds.size > 1) {
      for (const [label, line] of kinds) {
        const key = document.createElement("b");
        key.className = ["", "dashed", "dotted"][line.dashed];
        // Of several runs the color tells the run.
        if (!line.several) key.style.color = line.color;
        this.keys.append(key, label);
      }
    }
    this.draw();
  }

  shown() {
    return this.lines.filter((line) => !this.view.hidden.has(line.run));
  }

  // What is seen of x and y: the zoomed range, or all there is.
  frame() {
    let [x0, x1] = this.view.range || [Infinity, -Infinity];
    let y0 = Infinity, y1 = -Infinity;
    const log = this.view.log;
    for (const line of this.shown()) {
      const xs = this.seriesOf(line)[this.view.axis];
      if (!this.view.range && xs.length) {
        x0 = Math.min(x0, xs[0]);
        x1 = Math.max(x1, xs[xs.length - 1]);
      }
    }
    for (const line of this.shown()) {
      const xs = this.seriesOf(line)[this.view.axis];
      const from = Math.max(0, lowerBound(xs, x0) - 1), to = Math.min(xs.length, lowerBound(xs, x1) + 2);
      const values = this.valuesOf(line);
      for (let i = from; i < to; ++i) {
        const value = values[i];
        if (value === null || (log && value <= 0)) continue;
        if (value < y0) y0 = value;
        if (value > y1) y1 = value;
      }
    }
    if (!(x0 <= x1)) [x0, x1] = [0, 1];
    if (!(y0 <= y1)) [y0, y1] = log ? [0.1, 1] : [0, 1];
    if (x0 === x1) [x0, x1] = [x0 - 0.5, x1 + 0.5];
    if (log) return {x0, x1, y0: Math.log10(y0) - 0.05, y1: Math.log10(y1) + 0.05};
    const room = (y1 - y0) * 0.06 || Math.abs(y1) * 0.1 || 0.5;
    return {x0, x1, y0: y0 - room, y1: y1 + room};
  }

  // The line's points: of a zoomed range finer ones, if there are.
  seriesOf(line) {
    const {range, axis} = this.view;
    const fine = range && line.series.lo ? this.view.fine.of(line.run, line.name) : null;
    if (!fine) return line.series;
    if (!line.cut || line.cut.fine !== fine || line.cut.range !== range || line.cut.axis !== axis) {
      line.cut = {fine, range, axis, series: cutOut(fine, line.series, axis, range)};
    }
    return line.cut.series;
  }

  valuesOf(line) {
    const {v} = this.seriesOf(line);
    if (line.smooth !== this.view.smooth || line.of !== v) {
      line.smooth = this.view.smooth;
      line.of = v;
      line.values = smoothed(v, line.smooth);
    }
    return line.values;
  }

  scales() {
    const f = this.frame();
    const w = this.canvas.clientWidth - PAD.left - PAD.right, h = this.canvas.clientHeight - PAD.top - PAD.bottom;
    const toY = (value) => this.view.log ? (value > 0 ? Math.log10(value) : NaN) : value;
    return {
      ...f, w, h,
      x: (value) => PAD.left + (value - f.x0) / (f.x1 - f.x0) * w,
      y: (value) => PAD.top + (f.y1 - toY(value)) / (f.y1 - f.y0) * h,
      back: (px) => f.x0 + (px - PAD.left) / w * (f.x1 - f.x0),
    };
  }

  draw() {
    const ratio = window.devicePixelRatio || 1;
    const {clientWidth, clientHeight} = this.canvas;
    if (clientWidth === 0) return;
    this.canvas.width = clientWidth * ratio;
    this.canvas.height = clientHeight * ratio;
    const g = this.canvas.getContext("2d");
    g.scale(ratio, ratio);
    const scale = this.scales();
    this.drawGrid(g, scale);
    g.save();
    g.beginPath();
    g.rect(PAD.left, 0, scale.w, PAD.top + scale.h);
    g.clip();
    for (const line of this.shown()) this.drawLine(g, scale, line);
    if (this.drag) {
      g.fillStyle = "rgb(59 130 196 / 18%)";
      g.fillRect(Math.min(...this.drag), PAD.top, Math.abs(this.drag[1] - this.drag[0]), scale.h);
    }
    if (this.cursor) this.drawCursor(g, scale);
    g.restore();
  }

  drawGrid(g, scale) {
    const style = getComputedStyle(document.documentElement);
    g.font = "11px system-ui, sans-serif";
    g.strokeStyle = style.getPropertyValue("--line");
    g.fillStyle = style.getPropertyValue("--soft");
    g.lineWidth = 1;
    const row = (y, text) => {
      g.beginPath();
      g.moveTo(PAD.left, Math.round(y) + 0.5);
      g.lineTo(PAD.left + scale.w, Math.round(y) + 0.5);
      g.stroke();
      g.textAlign = "right";
      g.fillText(text, PAD.left - 6, y + 4);
    };
    const step = niceStep(scale.y1 - scale.y0, scale.h / 45);
    for (let y = Math.ceil(scale.y0 / step) * step; y <= scale.y1; y += step) {
      const value = this.view.log ? 10 ** y : y;
      row(PAD.top + (scale.y1 - y) / (scale.y1 - scale.y0) * scale.h,
        this.view.log ? shortNumber(+value.toPrecision(6)) : axisNumber(value, step));
    }
    g.textAlign = "center";
    const time = this.view.axis === "t";
    let stepX = niceStep(scale.x1 - scale.x0, scale.w / 80);
    if (!time) stepX = Math.max(1, stepX);
    for (let x = Math.ceil(scale.x0 / stepX) * stepX; x <= scale.x1; x += stepX) {
      const text = time ? axisTime(x, stepX, scale.x1 - scale.x0) : axisCount(Math.round(x), stepX);
      // A label at the right edge stays within it.
      const half = g.measureText(text).width / 2;
      g.fillText(text, Math.min(scale.x(x), PAD.left + scale.w + PAD.right - half), PAD.top + scale.h + 16);
    }
  }

  drawLine(g, scale, line) {
    const series = this.seriesOf(line), {lo, hi} = series, xs = series[this.view.axis];
    const values = this.valuesOf(line);
    const from = Math.max(0, lowerBound(xs, scale.x0) - 1), to = Math.min(xs.length, lowerBound(xs, scale.x1) + 2);
    if (lo && this.view.smooth === 0) {
      g.fillStyle = line.color;
      g.globalAlpha = 0.25;
      for (let i = from; i < to; ++i) {
        if (lo[i] === null) continue;
        const top = scale.y(hi[i]), bottom = scale.y(lo[i]);
        if (bottom >= top) g.fillRect(scale.x(xs[i]) - 0.5, top, 1, Math.max(1, bottom - top));
      }
      g.globalAlpha = 1;
    }
    g.strokeStyle = line.color;
    g.fillStyle = line.color;
    g.lineWidth = 1.6;
    g.setLineDash([[], [5, 4], [2, 3]][line.dashed]);
    g.beginPath();
    let open = false;
    for (let i = from; i < to; ++i) {
      const y = values[i] === null ? NaN : scale.y(values[i]);
      if (Number.isNaN(y)) { open = false; continue; }
      if (open) g.lineTo(scale.x(xs[i]), y); else g.moveTo(scale.x(xs[i]), y);
      open = true;
    }
    g.stroke();
    g.setLineDash([]);
    if (to - from > 40) return;
    for (let i = from; i < to; ++i) {
      if (values[i] === null) continue;
      g.beginPath();
      g.arc(scale.x(xs[i]), scale.y(values[i]), 2.4, 0, 7);
      g.fill();
    }
  }

  drawCursor(g, scale) {
    g.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--soft");
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(this.cursor.px, PAD.top);
    g.lineTo(this.cursor.px, PAD.top + scale.h);
    g.stroke();
    for (const dot of this.cursor.dots) {
      g.fillStyle = dot.color;
      g.beginPath();
      g.arc(scale.x(dot.x), scale.y(dot.value), 3.5, 0, 7);
      g.fill();
    }
  }
}
