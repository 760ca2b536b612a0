// Numbers as people read them: in tips, tables and on axes.
"use strict";

function niceStep(span, count) {
  const raw = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const first = [1, 2, 5, 10].find((m) => m * power >= raw) || 10;
  return first * power;
}

function shortNumber(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(1).replace("e+", "e").replace(".0e", "e");
  return String(+value.toPrecision(4));
}

function shortTime(seconds) {
  if (seconds < 90) return shortNumber(+seconds.toFixed(2)) + " s";
  if (seconds < 5400) return shortNumber(+(seconds / 60).toFixed(1)) + " min";
  return shortNumber(+(seconds / 3600).toFixed(2)) + " h";
}

// A number of an axis, with as many digits as tell it from the next one.
function axisNumber(value, step) {
  if (Math.abs(value) < step / 2) return "0";
  const power = (x) => Math.floor(Math.log10(x) + 1e-9);
  const digits = Math.min(15, Math.max(1, power(Math.abs(value)) - power(step) + 1));
  const rounded = +value.toPrecision(digits), size = Math.abs(rounded);
  return size >= 1e9 || size < 1e-3 ? rounded.toExponential().replace("e+", "e") : String(rounded);
}

// Whole numbers: 50, 200k, 1M.
function axisCount(value, step) {
  if (step >= 1e6 || (value !== 0 && value % 1e6 === 0)) return axisNumber(value / 1e6, step / 1e6) + (value === 0 ? "" : "M");
  return step >= 1000 ? axisNumber(value / 1000, step / 1000) + (value === 0 ? "" : "k") : String(value);
}

// Seconds, in what suits the span that is seen.
function axisTime(seconds, step, span) {
  const [unit, name] = span < 90 ? [1, " s"] : span < 5400 ? [60, " min"] : [3600, " h"];
  return axisNumber(seconds / unit, step / unit) + name;
}
