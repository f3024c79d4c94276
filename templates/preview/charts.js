// Lines over time, drawn by uPlot.
const Charts = (() => {
  const { element, add, line, ofSeries, shown, variable } = Elements;

  // Draw into `body`. `view` has the page's grid of moments, from and to, `zoom(from, to)` and `go(link)`.
  const draw = (body, panel, part, view) => {
    const frame = add(body, element("div", "chart")).lastChild;
    body.append(legend(panel, part, view));
    const { width, height } = frame.getBoundingClientRect();
    const data = [view.moments, ...part.rows.map((row) => row.values)];
    const plot = new uPlot(options(panel, part, view, Math.floor(width), Math.floor(height)), data, frame);
    return () => plot.destroy();
  };

  const options = (panel, part, view, width, height) => ({
    width, height,
    legend: { show: false },
    cursor: { sync: { key: "page" }, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
    scales: {
      x: { range: () => [view.from, view.to] },
      y: { range: (_, least, most) => bounds(panel, least, most) },
    },
    axes: [
      {
        stroke: variable("--faint"), grid: { stroke: variable("--grid"), width: 1 }, ticks: { stroke: variable("--grid") },
        font: FONT, size: 30, space: 90, values: (_, ticks) => ticks.map(view.clock),
      },
      {
        stroke: variable("--faint"), grid: { stroke: variable("--grid"), width: 1 }, ticks: { stroke: variable("--grid") },
        font: FONT, size: 74, values: (_, ticks) => ticks.map((tick) => shown(panel, tick)),
      },
    ],
    bands: band(panel, part),
    series: [{}, ...part.rows.map((row, index) => ({
      label: row.name, stroke: colorOf(panel, row, index), width: 1.5, dash: panel.band.includes(row.name) ? [8, 8] : undefined,
      fill: part.rows.length > 3 || panel.band.length ? undefined : ofSeries(index) + "14",
      points: { show: alone(row.values) ? true : undefined, size: 4 }, spanGaps: false,
    }))],
    hooks: {
      drawAxes: [(plot) => thresholds(plot, panel), (plot) => marks(plot, view)],
      setSelect: [(plot) => {
        const { left, width: wide } = plot.select;
        if (wide > 4) view.zoom(plot.posToVal(left, "x"), plot.posToVal(left + wide, "x"));
      }],
      ready: [(plot) => {
        plot.over.addEventListener("dblclick", () => view.zoom(null, null));
        plot.over.addEventListener("mouseleave", view.tip.hide);
        plot.over.addEventListener("mousemove", (event) => tip(plot, panel, part, view, event));
      }],
    },
  });
  const FONT = "11px system-ui, sans-serif";

  // The edges of what is usual have one colour, and what lies between them is filled: so what is measured stands out.
  const colorOf = (panel, row, index) => (panel.band.includes(row.name) ? line("blue") : ofSeries(index));
  const band = (panel, part) => {
    const [upper, lower] = panel.band.map((name) => part.rows.findIndex((row) => row.name === name) + 1);
    return upper && lower ? [{ series: [upper, lower], fill: line("blue") + "22" }] : [];
  };

  // A value that has no neighbour would be a line of no length.
  const alone = (values) => values.filter((value) => value !== null).length === 1;

  // What the axis shows: at least what the panel says, and never a range of nothing.
  const bounds = (panel, least, most) => {
    if (least === null || most === null) [least, most] = [0, 1];
    if (panel.min === null && least > 0 && least < most * 0.75) least = 0;
    if (least === most) [least, most] = least ? [least - Math.abs(least) * 0.1, most + Math.abs(most) * 0.1] : [0, 1];
    const low = panel.min === null ? least : Math.min(panel.min, least);
    return [low, panel.max === null ? most + (most - low) * 0.06 : Math.max(panel.max, most)];
  };

  // Lines at the values from which a panel has another colour.
  const thresholds = (plot, panel) => {
    if (!panel.lines) return;
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.setLineDash([6, 5]);
    ctx.lineWidth = 1.5 * devicePixelRatio;
    for (const one of panel.steps.filter((step) => step.value !== null)) {
      const y = plot.valToPos(one.value, "y", true);
      if (y < bbox.top || y > bbox.top + bbox.height) continue;
      ctx.strokeStyle = line(one.color);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  };

  // A thin line wherever something began that is marked on every graph of the dashboard.
  const marks = (plot, view) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = line("red");
    ctx.fillStyle = line("red");
    for (const [moment] of view.marks) {
      const x = Math.round(plot.valToPos(moment, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.globalAlpha = 0.55;
      ctx.fillRect(x, bbox.top, 1, bbox.height);
      ctx.globalAlpha = 1;
      ctx.fillRect(x - 2, bbox.top + bbox.height, 5, 5);
    }
    ctx.restore();
  };

  // What the lines are at the moment under the mouse, the largest first.
  const tip = (plot, panel, part, view, event) => {
    const at = plot.cursor.idx;
    if (at === null || at === undefined) return view.tip.hide();
    const rows = part.rows.map((row, index) => ({ name: row.name, value: row.values[at], color: colorOf(panel, row, index) }))
      .filter((row) => row.value !== null).sort((one, other) => other.value - one.value);
    if (!rows.length) return view.tip.hide();
    const lines = rows.slice(0, 12).map((row) => ({ ...row, text: shown(panel, row.value) }));
    const near = view.marks.filter(([moment]) => Math.abs(moment - view.moments[at]) <= view.step)
      .map(([, name]) => ({ name, text: "began", color: line("red") }));
    view.tip.show(event, view.time(view.moments[at]), [...lines, ...near], rows.length - lines.length);
  };

  const legend = (panel, part, view) => {
    const list = element("div", "legend");
    part.rows.forEach((row, index) => {
      const item = element("span", "item");
      const mark = element("i", "mark");
      mark.style.background = colorOf(panel, row, index);
      item.append(mark, ...view.named(row));
      list.append(item);
    });
    if (part.more) list.append(element("span", "item faint", `and ${part.more} more`));
    return list;
  };
  return { draw };
})();
