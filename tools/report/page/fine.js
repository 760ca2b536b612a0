// What a zoomed chart shows: more points than the whole run's picture has.
"use strict";

const MOST_POINTS = 4096;

function unpack(text, Type) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return new Type(bytes.buffer);
}

// As tools/report/fine_points.h packs a line.
function unpackLine({n, s0, ds, s, every, t, v, lo, hi}) {
  const line = {s: new Float64Array(n), t: new Float64Array(n), v: unpack(v, Float32Array)};
  const steps = s ? unpack(s, Uint32Array) : null, times = unpack(t, Float32Array);
  for (let i = 0; i < n; ++i) {
    line.s[i] = steps ? steps[i] : s0 + i * ds;
    const at = Math.floor(i / every), begin = at * every, end = Math.min(begin + every, n - 1);
    const part = end > begin ? (i - begin) / (end - begin) : 0;
    line.t[i] = times[at] + part * (times[at + 1] - times[at]);
  }
  if (lo) Object.assign(line, {lo: unpack(lo, Float32Array), hi: unpack(hi, Float32Array)});
  return line;
}

// The points of a range and some before it, which smoothing needs; merged where there are too many to draw.
function cutOut(fine, whole, axis, [x0, x1]) {
  const xs = fine[axis], last = xs[xs.length - 1];
  // While a run trains, the finer points may be older.
  if (last < whole[axis][whole[axis].length - 1] && last < x1) return whole;
  const from = Math.max(0, lowerBound(xs, x0 - (x1 - x0) / 2) - 1);
  const to = Math.min(xs.length, lowerBound(xs, x1) + 2);
  const group = Math.ceil((to - from) / MOST_POINTS), merged = group > 1 || fine.lo !== undefined;
  const cut = {s: [], t: [], v: [], ...(merged && {lo: [], hi: []})};
  for (let begin = from; begin < to; begin += group) {
    const end = Math.min(begin + group, to);
    let sum = 0, count = 0, low = Infinity, high = -Infinity;
    for (let i = begin; i < end; ++i) {
      if (Number.isNaN(fine.v[i])) continue;
      sum += fine.v[i];
      ++count;
      low = Math.min(low, fine.lo ? fine.lo[i] : fine.v[i]);
      high = Math.max(high, fine.hi ? fine.hi[i] : fine.v[i]);
    }
    cut.s.push(fine.s[end - 1]);
    cut.t.push(fine.t[end - 1]);
    cut.v.push(count ? sum / count : null);
    if (!merged) continue;
    cut.lo.push(count ? low : null);
    cut.hi.push(count ? high : null);
  }
  return cut;
}

// The finer points of all runs: in the page, or the server's. Unpacked when they are asked for.
class FinePoints {
  constructor() {
    this.packed = null;
    this.lines = new Map();
  }

  async load() {
    const own = document.querySelector("#fine").textContent;
    if (own !== "null" && this.packed) return;
    try {
      this.packed = own !== "null" ? JSON.parse(own) : await (await fetch("fine.json", {cache: "no-store"})).json();
      this.lines.clear();
    } catch (error) {
      console.warn("no finer points:", error);
    }
  }

  of(run, name) {
    const packed = this.packed?.[run]?.[name];
    if (!packed) return null;
    const key = run + "/" + name;
    if (!this.lines.has(key)) this.lines.set(key, unpackLine(packed));
    return this.lines.get(key);
  }
}
