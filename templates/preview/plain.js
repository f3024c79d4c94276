// Panels without a time axis: single values, gauges, bars and tables.
const Plain = (() => {
  const { element, add, fill, step, shown, variable } = Elements;

  const stat = (body, panel, part, view) => {
    const tiles = element("div", "tiles");
    for (const row of part.rows) {
      const tile = element(row.links.length ? "a" : "div", "tile");
      if (row.links.length) tile.href = view.href(row.links[0]);
      tile.style.background = fill(step(panel, row.value));
      tile.append(element("div", "value", shown(panel, row.value)));
      if (row.name) tile.append(element("div", "of", row.name));
      tiles.append(tile);
    }
    body.append(tiles);
    return () => {};
  };

  // Where a value lies between the least and the most that the panel shows, from 0 to 1.
  const share = (panel, value, rows) => {
    const least = panel.min ?? 0;
    const most = panel.max ?? Math.max(...rows.map((row) => row.value ?? 0), ...panel.steps.map((one) => one.value ?? 0));
    return most > least ? Math.min(Math.max((value - least) / (most - least), 0), 1) : 0;
  };

  const bars = (body, panel, part, view) => {
    const list = element("div", "bars");
    for (const row of part.rows) {
      const track = element("div", "track"), bar = element("div", "bar");
      bar.style.width = `${share(panel, row.value, part.rows) * 100}%`;
      bar.style.background = fill(step(panel, row.value));
      list.append(add(element("div", "name"), ...view.named(row)), add(track, bar), element("b", "", shown(panel, row.value)));
    }
    if (part.more) list.append(element("span", "faint", `and ${part.more} more`));
    body.append(list);
    return () => {};
  };

  const gauge = (body, panel, part, view) => {
    const all = element("div", "gauges");
    for (const row of part.rows) {
      const one = element(row.links.length ? "a" : "div", "gauge-one");
      if (row.links.length) one.href = view.href(row.links[0]);
      one.append(dial(panel, row, part.rows), element("div", "value", shown(panel, row.value)));
      if (row.name) one.append(element("div", "of", row.name));
      all.append(one);
    }
    body.append(all);
    return () => {};
  };

  // Half a circle that is filled as far as the value goes; outside of it, from where on it has which colour.
  const dial = (panel, row, rows) => {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 200 106");
    svg.append(arc(0, 1, 74, 22, variable("--edge")));
    if (row.value !== null) svg.append(arc(0, share(panel, row.value, rows), 74, 22, fill(step(panel, row.value))));
    panel.steps.forEach((one, index) => {
      const until = panel.steps[index + 1];
      const from = one.value === null ? 0 : share(panel, one.value, rows);
      svg.append(arc(from, until ? share(panel, until.value, rows) : 1, 92, 5, fill(one.color)));
    });
    return svg;
  };
  const SVG = "http://www.w3.org/2000/svg";
  const arc = (from, to, radius, width, color) => {
    const at = (part) => [100 - radius * Math.cos(Math.PI * part), 100 - radius * Math.sin(Math.PI * part)].map((one) => one.toFixed(2));
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", to > from ? `M ${at(from).join(" ")} A ${radius} ${radius} 0 0 1 ${at(to).join(" ")}` : "");
    path.setAttribute("stroke", color);
    path.setAttribute("stroke-width", width);
    path.setAttribute("fill", "none");
    return path;
  };

  const table = (body, panel, part, view) => {
    const made = element("table"), head = element("tr");
    for (const title of part.columns) head.append(element("th", "", title));
    add(made, add(element("thead"), head), element("tbody"));
    for (const row of part.rows) made.lastChild.append(line(panel, row, view));
    body.append(add(element("div", "scroll"), made));
    if (part.more) body.append(element("div", "faint note", `and ${part.more} more rows`));
    return () => {};
  };

  // A row leads where its links lead: each cell by the first, and those beside it stand in the first cell.
  const line = (panel, row, view) => {
    const made = element("tr");
    row.cells.forEach((cell, index) => {
      const number = typeof cell === "number";
      const text = cell === null ? "" : number ? shown(panel, cell) : cell;
      const box = element("td", number ? "number" : cell === "page" ? "page" : "");
      if (row.links.length && text) {
        const link = element("a", "", text);
        link.href = view.href(row.links[0]);
        link.title = row.links[0][0];
        box.append(link);
      } else box.textContent = text;
      if (index === 0) box.append(...row.links.slice(1).map(view.arrow));
      made.append(box);
    });
    return made;
  };
  return { stat, gauge, bars, table };
})();
