// The page: folders and dashboards at the side, one dashboard beside them.
(() => {
  const { element, add } = Elements;
  const data = JSON.parse(document.getElementById("data").textContent);
  const { about, period, boards, parts } = data;
  const moments = Array.from({ length: period.count }, (_, index) => period.start + index * period.step);
  const byUid = new Map(boards.map((board) => [board.uid, board]));
  const DRAW = {
    stat: Plain.stat, gauge: Plain.gauge, bargauge: Plain.bars, table: Plain.table, timeseries: Charts.draw,
    heatmap: Cells.draw, "status-history": Cells.draw, "state-timeline": Cells.draw,
  };
  let ends = []; // what takes the drawn panels down again

  // --- time ---
  const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  const clockOf = (long) => new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: long ? undefined : "2-digit", hourCycle: "h23" });
  const time = (moment) => day.format(moment * 1000);

  // --- the box beside the mouse ---
  const tip = (() => {
    const box = element("div", "tip");
    const hide = () => { box.style.display = "none"; };
    const show = (event, title, lines, more) => {
      box.replaceChildren(element("div", "faint", title));
      for (const { name, text, color } of lines) {
        const mark = element("i", "mark");
        mark.style.background = color;
        box.append(add(element("div", "line"), mark, element("span", "grow", name), element("b", "", text)));
      }
      if (more > 0) box.append(element("div", "faint", `and ${more} more`));
      box.style.display = "block";
      const { offsetWidth: wide, offsetHeight: high } = box;
      box.style.left = `${event.clientX + 16 + wide > innerWidth ? event.clientX - 16 - wide : event.clientX + 16}px`;
      box.style.top = `${Math.max(Math.min(event.clientY + 12, innerHeight - high - 8), 8)}px`;
    };
    hide();
    return { box, show, hide };
  })();

  // --- where the page is ---
  const here = () => Address.parse(location.hash);
  const valuesOf = (board, choice) => Object.fromEntries(board.variables.map((one, index) => [one.name, choice[index]]));
  const wantedOf = (board, values) => board.variables.map((one) => (one.name in values ? values[one.name] : null));
  const zoom = (from, to) => {
    const now = here();
    const [first, last] = from === null ? [null, null] : [Math.floor(from), Math.ceil(to)];
    location.hash = Address.print({ ...now, from: first, to: last });
  };

  const view = () => {
    const { from, to } = here();
    const shown = { moments, step: period.step, from: from ?? period.start, to: to ?? period.end, zoom, tip, time };
    const clock = clockOf(shown.to - shown.from > 1800);
    shown.clock = (moment) => clock.format(moment * 1000);
    shown.href = ([, uid, values]) => Address.print({ uid, values: Object.fromEntries(values), from, to });
    shown.arrow = (link) => {
      const made = element("a", "arrow", "↗");
      made.href = shown.href(link);
      made.title = link[0];
      return made;
    };
    shown.named = (row) => {
      if (!row.links.length) return [element("span", "", row.name)];
      const made = element("a", "", row.name);
      made.href = shown.href(row.links[0]);
      made.title = row.links[0][0];
      return [made, ...row.links.slice(1).map(shown.arrow)];
    };
    return shown;
  };

  // --- the side ---
  const folders = () => {
    const found = new Map();
    for (const board of boards) found.set(board.folder, [...(found.get(board.folder) || []), board]);
    return found;
  };
  const short = (board) => (board.title.startsWith(`${about.factory}: `) ? board.title.slice(about.factory.length + 2) : board.title);
  const side = (uid, from, to) => {
    const nav = element("nav");
    const home = element("a", uid ? "home" : "home here", about.factory);
    home.href = Address.print({ uid: "", from, to });
    nav.append(home);
    for (const [folder, inside] of folders()) {
      nav.append(element("div", "folder", folder));
      for (const board of inside) {
        const link = element("a", board.uid === uid ? "here" : "", short(board));
        link.href = Address.print({ uid: board.uid, from, to });
        nav.append(link);
      }
    }
    return nav;
  };

  // --- the start ---
  const start = (now) => {
    const main = element("main", "start");
    add(main, element("h1", "", about.factory), element("p", "", about.source), element("p", "faint", about.note));
    const cards = element("div", "cards");
    for (const board of boards) {
      const card = element("a", "card");
      card.href = Address.print({ uid: board.uid, from: now.from, to: now.to });
      const folder = element("span", "folder", board.folder);
      cards.append(add(card, folder, element("b", "", short(board)), element("span", "faint", board.description)));
    }
    return add(main, cards);
  };

  // --- a dashboard ---
  const selector = (board, index, choice, now) => {
    const { title, values, more } = board.variables[index];
    const known = board.choices.map(([values]) => values);
    const select = element("select");
    const all = [null, ...new Set([...values, ...known.map((one) => one[index]).filter((value) => value !== null)])];
    for (const value of all) {
      const option = element("option", "", value ?? "All");
      option.value = value === null ? "" : `=${value}`;
      const wanted = choice.map((one, at) => (at === index ? value : one));
      option.disabled = Address.nearest(known, wanted, index) === null;
      option.selected = value === choice[index];
      select.append(option);
    }
    if (more) {
      const others = element("option", "", `and ${more} more, which are not here`);
      others.disabled = true;
      select.append(others);
    }
    select.addEventListener("change", () => {
      const value = select.value ? select.value.slice(1) : null;
      const found = Address.nearest(known, choice.map((one, at) => (at === index ? value : one)), index);
      location.hash = Address.print({ uid: board.uid, values: valuesOf(board, found), from: now.from, to: now.to });
    });
    return add(element("label", "variable"), element("span", "", title), select);
  };

  const bar = (board, choice, now, seen) => {
    const made = element("header");
    made.append(add(element("div", "heading"), element("h1", "", board.title), element("span", "faint", board.description)));
    const tools = element("div", "tools");
    board.variables.forEach((_, index) => tools.append(selector(board, index, choice, now)));
    tools.append(element("span", "time", `${time(seen.from)} – ${time(seen.to)}`));
    if (now.from !== null) {
      const whole = element("button", "", "Whole time");
      whole.addEventListener("click", () => zoom(null, null));
      tools.append(whole);
    }
    for (const [title, url] of board.links) {
      if (!/^https?:\/\//.test(url)) continue; // an address that would run something is none
      const link = element("a", "out", title);
      link.href = url;
      link.rel = "noreferrer noopener";
      tools.append(link);
    }
    return add(made, tools);
  };

  const panelOf = (panel) => {
    const box = element("section", "panel");
    const { x, y, w, h } = panel.place;
    box.style.gridArea = `${y + 1} / ${x + 1} / span ${h} / span ${w}`;
    const title = element("h3", "", panel.title);
    const head = add(element("div", "head"), title);
    if (panel.description) {
      box.title = panel.description;
      head.append(element("span", "about", "i"));
    }
    return add(box, head, element("div", "body"));
  };

  const fillIn = (box, panel, part, seen) => {
    const body = box.lastChild;
    body.classList.add(panel.kind);
    if (part.error) return body.append(element("div", "empty", part.error));
    if (!part.rows.length || part.rows.every((row) => row.values && row.values.every((value) => value === null))) {
      return body.append(element("div", "empty", part.why || "No data"));
    }
    ends.push(DRAW[panel.kind](body, panel, part, seen));
  };

  const dashboard = (main, board, now, seen) => {
    const wanted = wantedOf(board, now.values);
    const known = board.choices.map(([values]) => values);
    const choice = Address.nearest(known, wanted);
    const lacking = wanted.some((value, index) => value !== choice[index]);
    main.append(bar(board, choice, now, seen));
    if (lacking) main.append(element("p", "warning", "The page has no data for just this choice; this is the nearest one."));
    const grid = element("div", "board");
    main.append(grid);
    const [, numbers] = board.choices[known.indexOf(choice)];
    const boxes = board.panels.map(panelOf);
    grid.append(...boxes);
    seen.marks = parts[numbers[board.panels.length]].marks; // behind the panels stands what is marked on all of them
    board.panels.forEach((panel, index) => fillIn(boxes[index], panel, parts[numbers[index]], seen));
  };

  // --- all of it ---
  const draw = () => {
    ends.splice(0).forEach((end) => end());
    tip.hide();
    const now = here(), board = byUid.get(now.uid);
    const banner = add(element("div", `banner ${about.kind}`), element("b", "", about.badge), element("span", "", about.source));
    const main = board ? element("main") : start(now);
    document.body.replaceChildren(banner, side(board ? board.uid : "", now.from, now.to), main, tip.box);
    document.title = board ? board.title : about.factory;
    if (board) dashboard(main, board, now, view());
    scrollTo(0, 0);
  };
  addEventListener("hashchange", draw);
  let later = 0;
  addEventListener("resize", () => { clearTimeout(later); later = setTimeout(draw, 150); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
