// The page: runs, tables, charts. Texts of runs only ever become text nodes.
"use strict";

const COLORS = ["#3b82c4", "#e0782f", "#2f9e57", "#b8489e", "#8a6fd1", "#c4453b", "#1f9aa8", "#a08a1c"];
const view = {axis: "s", smooth: 0, log: false, range: null, hidden: new Set(), fine: new FinePoints()};
const charts = new Map();
let runs = [];

const $ = (selector) => document.querySelector(selector);

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function redraw() {
  for (const chart of charts.values()) chart.draw();
}

function setRange(range) {
  view.range = range;
  for (const chart of charts.values()) chart.leave();
  redraw();
  if (range) view.fine.load().then(redraw);
}

// A table with a row per name and a column per run; rows that differ are marked.
function table(section, columns, {format = (value) => value, compare} = {}) {
  const target = $(section + " table");
  target.replaceChildren();
  const names = [...new Set(columns.flatMap((column) => Object.keys(column || {})))];
  if (compare) names.sort(compare);
  $(section).hidden = names.length === 0;
  if (runs.length > 1) {
    const head = target.insertRow();
    head.append(element("th", ""), ...runs.map((run) => element("th", run.name)));
  }
  for (const name of names) {
    const row = target.insertRow();
    row.append(element("th", name));
    const values = columns.map((column) => (column || {})[name]);
    if (values.some((value) => value !== values[0])) row.className = "differs";
    for (const value of values) {
      const number = typeof value === "number";
      row.append(element("td", value === undefined || value === null ? "" : String(format(value, name)), number ? "number" : ""));
    }
  }
}

function showRuns() {
  const nav = $("#runs");
  nav.replaceChildren();
  runs.forEach((run, index) => {
    const label = element("label");
    const box = element("input");
    box.type = "checkbox";
    box.checked = !view.hidden.has(index);
    box.addEventListener("change", () => {
      if (box.checked) view.hidden.delete(index); else view.hidden.add(index);
      redraw();
    });
    const swatch = element("span", undefined, "swatch");
    swatch.style.background = COLORS[index % COLORS.length];
    label.append(box, swatch, run.name);
    const notes = [...run.problems];
    if (run.info && run.info.started) notes.unshift(new Date(run.info.started * 1000).toLocaleString());
    if (run.info && run.info.resumed_at) notes.push("resumed at update " + run.info.resumed_at);
    label.append(element("span", notes.join(" · "), "note"));
    nav.append(label);
  });
  $("#title").textContent = runs.length === 1 ? runs[0].name : runs.length + " runs";
  document.title = $("#title").textContent + " – Trainyard";
}

// train_loss, eval_loss and that of other weights, ema_eval_loss, share a chart, "loss".
function chartOf(name) {
  const parts = /^(train|eval|[a-z]+_eval)_(.+)$/.exec(name);
  if (!parts) return {title: name, label: name, dashed: 0};
  const [, label, title] = parts;
  return {title, label, dashed: label === "train" ? 0 : label === "eval" ? 1 : 2};
}

// What people look for first comes first.
function rank(title) {
  const order = ["loss", "accuracy", "lr", "samples_per_second"];
  return order.includes(title) ? order.indexOf(title) : order.length;
}

// What is drawn apart, folded away: epochs' own numbers, and what only counts.
function isExtra(title) {
  return title.startsWith("epoch/") || title === "epoch" || title === "samples";
}

function showCharts() {
  const wanted = new Map();
  runs.forEach((run, index) => {
    for (const [name, series] of Object.entries(run.series)) {
      const {title, label, dashed} = chartOf(name);
      if (!wanted.has(title)) wanted.set(title, []);
      wanted.get(title).push({
        run: index, runName: run.name, several: runs.length > 1, name, label, dashed, series,
        color: runs.length > 1 ? COLORS[index % COLORS.length] : COLORS[dashed],
      });
    }
  });
  const titles = [...wanted.keys()].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  for (const title of titles) {
    if (!charts.has(title)) {
      const box = element("div");
      charts.set(title, new Chart(box, title, view, setRange));
      $(isExtra(title) ? "#more" : "#charts").append(box);
    }
    charts.get(title).setLines(wanted.get(title));
  }
  $("#curves details").hidden = !titles.some(isExtra);
  if (titles.length === 0 && !$("#charts .empty")) $("#charts").append(element("p", "Nothing has been measured yet.", "empty"));
  if (titles.length > 0) $("#charts .empty")?.remove();
}

function sum(series) {
  return series ? series.v.reduce((total, value) => total + (value || 0), 0) : 0;
}

function mean(series) {
  return series && series.v.length ? sum(series) / series.v.length : 0;
}

// From what Track and Throughput measure in each epoch.
function showTime() {
  const box = $("#time .bars");
  box.replaceChildren();
  for (const run of runs) {
    const all = sum(run.series["epoch/seconds"]);
    if (all === 0) continue;
    const evaluation = sum(run.series["epoch/eval_seconds"]);
    const waiting = (all - evaluation) * mean(run.series["epoch/data_wait"]);
    const parts = [["training", all - evaluation - waiting], ["waiting for data", waiting], ["evaluation", evaluation]];
    const entry = element("div");
    entry.append(element("h3", run.name));
    const bar = element("div", undefined, "bar");
    const key = element("div", undefined, "keys");
    parts.filter(([, seconds]) => seconds > 0).forEach(([name, seconds], i) => {
      const piece = element("span");
      piece.style.cssText = `flex: ${seconds}; background: ${COLORS[i]}`;
      piece.title = name;
      bar.append(piece);
      const mark = element("b");
      mark.style.borderTop = "6px solid " + COLORS[i];
      key.append(mark, `${name} ${shortTime(seconds)} (${Math.round(100 * seconds / all)} %)`);
    });
    entry.append(bar, key);
    box.append(entry);
  }
  $("#time").hidden = box.children.length === 0;
}

// Lines of "| a | b |" become rows.
function showHooks() {
  const section = $("#hooks");
  section.querySelectorAll("h3, .scroll").forEach((old) => old.remove());
  const seen = new Set();
  for (const run of runs) {
    const lines = ((run.info || {}).hooks || "").split("\n")
      .filter((line) => /^\|/.test(line) && !/^\|[\s:|-]+$/.test(line) && !line.includes("(none)"));
    // Runs that were compared often have the same.
    if (lines.length === 0 || seen.has(lines.join())) continue;
    seen.add(lines.join());
    if (runs.length > 1) section.append(element("h3", run.name));
    const made = element("table");
    lines.forEach((line, i) => {
      const row = made.insertRow();
      for (const cell of line.replace(/^\||\|\s*$/g, "").split("|")) row.append(element(i === 0 ? "th" : "td", cell.trim().replace(/^`|`$/g, "")));
    });
    const scroll = element("div", undefined, "scroll");
    scroll.append(made);
    section.append(scroll);
  }
  section.hidden = seen.size === 0;
}

function readable(value, name) {
  // A checksum: equal or not is all that matters, and tools print it so.
  if (name === "state_crc32c") return value.toString(16).padStart(8, "0");
  return typeof value === "number" && !Number.isInteger(value) ? +value.toPrecision(6) : value;
}

function readableBytes(bytes) {
  return bytes < 1e6 ? (bytes / 1e3).toFixed(1) + " kB" : (bytes / 1e6).toFixed(1) + " MB";
}

function show(data) {
  runs = data.runs;
  showRuns();
  $("#final h2").textContent = runs.every((run) => run.summary) ? "Final numbers" : "Latest numbers";
  table("#final", runs.map((run) => run.summary || run.latest), {format: readable});
  showCharts();
  showTime();
  const info = (key) => runs.map((run) => (run.info || {})[key]);
  const command = info("command");
  table("#config", info("config").map((config, i) => command[i] ? {...config, command: command[i]} : config));
  table("#environment", info("environment"));
  table("#checkpoints", runs.map((run) => Object.fromEntries(run.checkpoints.map((one) => [one.name, readableBytes(one.bytes)]))),
    {compare: (a, b) => a.length - b.length || a.localeCompare(b)});
  showHooks();
}

// Asks the server again and again; a lost server is said, and tried again.
async function follow() {
  const mark = $("#live");
  mark.hidden = false;
  for (;;) {
    await new Promise((wake) => setTimeout(wake, 1000));
    if (document.hidden) continue;
    try {
      const answer = await fetch("data.json", {cache: "no-store"});
      show(await answer.json());
      mark.className = "";
      mark.textContent = "live";
    } catch (error) {
      mark.className = "lost";
      mark.textContent = "not live: no answer";
    }
  }
}

$("#axis").addEventListener("change", (event) => { view.axis = event.target.value; setRange(null); });
$("#smooth").addEventListener("input", (event) => { view.smooth = +event.target.value; redraw(); });
$("#log").addEventListener("change", (event) => { view.log = event.target.checked; redraw(); });
$("#reset").addEventListener("click", () => setRange(null));
$("#theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

const data = JSON.parse($("#data").textContent);
show(data);
if (data.live) follow();
