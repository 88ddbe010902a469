// Draws the curve of a stream and redraws it with every event. No library, nothing from elsewhere.
"use strict";
(function () {
  const live = document.getElementById("live");
  const count = document.getElementById("count");
  const reports = document.getElementById("reports");
  const reach = document.getElementById("reach");
  const cut = document.getElementById("cut");
  const status = document.getElementById("status");
  const panels = document.getElementById("panels");
  const ns = "http://www.w3.org/2000/svg";
  // In CSS pixels, so that text stays readable on a phone.
  const height = 300, left = 58, right = 12, top = 12, bottom = 46;
  let last = null;

  function element(parent, name, attributes, text) {
    const e = document.createElementNS(ns, name);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    parent.appendChild(e);
    return e;
  }

  // ticks are round numbers from a to b.
  function ticks(a, b, about) {
    const raw = (b - a) / about;
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map(function (k) { return k * power; }).find(function (s) { return s >= raw; });
    const out = [];
    for (let k = Math.ceil(a / step); k * step <= b + 1e-9 * step; k++) out.push(k * step);
    return out;
  }

  function label(v) { return String(Number(v.toPrecision(6))); }

  // frameOf is what of y is shown: a band much wider than the curve would flatten it, so it is cut.
  function frameOf(panel) {
    const low = Math.min.apply(null, panel.value), high = Math.max.apply(null, panel.value);
    if (!panel.low) return { low: low, high: high, cut: false };
    const reach = Math.max(high - low, 1e-9 * Math.abs(high), 1e-12) * 1.5;
    const bottom = Math.min.apply(null, panel.low), top = Math.max.apply(null, panel.high);
    return { low: Math.max(low - reach, bottom), high: Math.min(high + reach, top), cut: bottom < low - reach || top > high + reach };
  }

  function beyond(panel) { return frameOf(panel).cut; }

  function draw(panel, index, many) {
    const width = Math.max(280, panels.clientWidth);
    const shown = frameOf(panel);
    let low = shown.low, high = shown.high;
    if (!(high > low)) { low -= 1; high += 1; }
    const pad = 0.05 * (high - low);
    low -= pad; high += pad;
    const a = panel.x[0], b = panel.x[panel.x.length - 1];
    const px = function (x) { return left + (x - a) / (b - a) * (width - left - right); };
    const py = function (y) { return top + (high - Math.min(high, Math.max(low, y))) / (high - low) * (height - top - bottom); };
    const path = function (ys) { return ys.map(function (y, i) { return (i ? "L" : "M") + px(panel.x[i]).toFixed(1) + " " + py(y).toFixed(1); }).join(""); };

    const svg = document.createElementNS(ns, "svg");
    svg.setAttribute("viewBox", "0 0 " + width + " " + height);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", "estimated curve");
    ticks(a, b, Math.max(2, width / 110)).forEach(function (t) {
      element(svg, "path", { class: "grid", d: "M" + px(t) + " " + top + "V" + (height - bottom) });
      element(svg, "text", { x: px(t), y: height - bottom + 18, "text-anchor": "middle" }, label(t));
    });
    ticks(low, high, 5).forEach(function (t) {
      element(svg, "path", { class: "grid", d: "M" + left + " " + py(t) + "H" + (width - right) });
      element(svg, "text", { x: left - 6, y: py(t) + 5, "text-anchor": "end" }, label(t));
    });
    if (panel.low) {
      const back = panel.low.map(function (y, i) { return "L" + px(panel.x[i]).toFixed(1) + " " + py(y).toFixed(1); }).reverse().join("");
      element(svg, "path", { class: "area", d: path(panel.high) + back + "Z" });
    }
    element(svg, "path", { class: "curve", d: path(panel.value) });
    const x = live.dataset.xLabel || "x";
    element(svg, "text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, many ? x + " " + (index + 1) : x);
    if (live.dataset.yLabel) element(svg, "text", { x: left + 4, y: top + 14 }, live.dataset.yLabel);
    return svg;
  }

  function show() {
    if (!last) return;
    const drawn = last.panels.map(function (p, i) { return draw(p, i, last.panels.length > 1); });
    panels.replaceChildren.apply(panels, drawn);
    cut.hidden = !last.panels.some(beyond);
    count.textContent = last.at;
    reports.textContent = last.at === 1 ? "report" : "reports";
    reach.textContent = String(Number(last.reach.toPrecision(2)));
  }

  let frame = 0;
  window.addEventListener("resize", function () { cancelAnimationFrame(frame); frame = requestAnimationFrame(show); });
  const source = new EventSource(live.dataset.events);
  source.addEventListener("curve", function (event) { last = JSON.parse(event.data); show(); });
  source.addEventListener("open", function () { status.textContent = "live"; });
  source.addEventListener("error", function () { status.textContent = "not connected, trying again"; });
})();
