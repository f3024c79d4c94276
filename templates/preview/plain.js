// Panels without a time axis: single values and tables.
const Plain = (() => {
  const { element, add, fill, step, shown } = Elements;

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
  return { stat, table };
})();
