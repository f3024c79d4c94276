// Rows of cells over time: heatmaps, histories of a status, states. One canvas a panel: thousands of elements would be slow.
const Cells = (() => {
  const { element, add, fill, step, shown, variable } = Elements;
  const LEAST = 16; // pixels of a row whose name is to be read

  const draw = (body, panel, part, view) => {
    const heat = panel.kind === "heatmap";
    const rows = heat ? part.rows.slice().reverse() : part.rows; // the least is at the bottom
    const box = element("div", "cells");
    const names = element("div", "names"), canvas = element("canvas", "grid");
    const ticks = axis(view);
    body.append(add(box, names, canvas, ticks));
    const room = box.clientHeight - ticks.offsetHeight;
    const height = Math.max(Math.floor(room / Math.max(rows.length, 1)), LEAST);
    for (const row of rows) {
      const name = element("div", "name");
      name.style.height = `${height}px`;
      name.append(...(row.bound === undefined ? view.named(row) : [`≤ ${Units.text(row.bound, panel.unit).replace("–", "∞")}`]));
      names.append(name);
    }
    paint(canvas, rows, height, panel, view);
    canvas.addEventListener("mouseleave", view.tip.hide);
    canvas.addEventListener("mousemove", (event) => tip(event, canvas, rows, height, panel, view));
    if (part.more) body.append(element("div", "faint note", `and ${part.more} more`));
    return () => {};
  };

  const paint = (canvas, rows, height, panel, view) => {
    const width = canvas.clientWidth, high = height * rows.length, ratio = devicePixelRatio || 1;
    canvas.style.height = `${high}px`;
    canvas.width = Math.max(Math.floor(width * ratio), 1);
    canvas.height = Math.max(Math.floor(high * ratio), 1);
    const ctx = canvas.getContext("2d");
    ctx.scale(ratio, ratio);
    const most = Math.max(...rows.flatMap((row) => row.values.map((value) => value || 0)), 0);
    const gap = panel.kind === "state-timeline" ? 0 : 1;
    rows.forEach((row, index) => {
      row.values.forEach((value, at) => {
        const [left, right] = place(at, width, view);
        if (value === null || right <= 0 || left >= width) return;
        const color = panel.kind === "heatmap" ? heatOf(value, most) : fill(step(panel, value));
        if (!color) return;
        ctx.fillStyle = color;
        const from = Math.floor(left), apart = gap && right - left > 8;
        const wide = Math.max(apart ? Math.floor(right) - from - gap : Math.ceil(right) - from, 1);
        ctx.fillRect(from, index * height + 1, wide, height - 2);
      });
      if (panel.kind === "state-timeline") labels(ctx, row, index * height, height, width, panel, view);
    });
  };

  // The left and right edge of the moment's cell.
  const place = (at, wide, view) => {
    const scale = wide / (view.to - view.from + view.step);
    return [(view.moments[at] - view.from) * scale, (view.moments[at] - view.from + view.step) * scale];
  };

  // More of the colour where there is more, by the square root: a few are seen beside many, as in Grafana's exponent 0.5.
  const heatOf = (value, most) => {
    if (!value || !most) return "";
    const share = Math.sqrt(value / most);
    return `rgba(232, 105, 20, ${(0.12 + 0.88 * share).toFixed(3)})`;
  };

  // The name of each state where it begins, if there is room for it.
  const labels = (ctx, row, top, height, wide, panel, view) => {
    ctx.font = "11px system-ui, sans-serif";
    ctx.fillStyle = "#fff";
    ctx.textBaseline = "middle";
    let begin = 0;
    row.values.forEach((value, at) => {
      if (at + 1 < row.values.length && row.values[at + 1] === value) return;
      const left = Math.max(place(begin, wide, view)[0], 0), right = Math.min(place(at, wide, view)[1], wide);
      const text = shown(panel, value);
      if (value !== null && ctx.measureText(text).width + 12 < right - left) ctx.fillText(text, left + 6, top + height / 2);
      begin = at + 1;
    });
  };

  const tip = (event, canvas, rows, height, panel, view) => {
    const box = canvas.getBoundingClientRect();
    const row = rows[Math.floor((event.clientY - box.top) / height)];
    const at = view.moments.findIndex((_, index) => {
      const [left, right] = place(index, box.width, view);
      return event.clientX - box.left >= left && event.clientX - box.left < right;
    });
    if (!row || at < 0 || row.values[at] === null) return view.tip.hide();
    const value = row.values[at];
    const text = panel.kind === "heatmap" ? Units.text(value, row.bound === undefined ? panel.unit : "short") : shown(panel, value);
    const name = row.bound === undefined ? row.name : `≤ ${Units.text(row.bound, panel.unit).replace("–", "∞")}`;
    view.tip.show(event, view.time(view.moments[at]), [{ name, text, color: fill(step(panel, value)) }], 0);
  };

  // Five moments below the cells.
  const axis = (view) => {
    const moments = [0, 1, 2, 3, 4].map((at) => view.from + ((view.to - view.from) * at) / 4);
    return add(element("div", "ticks"), ...moments.map((moment) => element("span", "", view.clock(moment))));
  };
  return { draw };
})();
