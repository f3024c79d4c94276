// Elements, texts and colours. Whatever came with the data becomes text, never markup.
const Elements = (() => {
  const element = (tag, names = "", text = null) => {
    const made = document.createElement(tag);
    if (names) made.className = names;
    if (text !== null) made.textContent = text;
    return made;
  };
  const add = (parent, ...children) => {
    parent.append(...children);
    return parent;
  };

  // Grafana's names of colours; a panel that is filled with one has white letters on it.
  const LINES = { green: "#56a64b", red: "#e02f44", orange: "#ff780a", yellow: "#d9a800", blue: "#3274d9", purple: "#a352cc" };
  const FILLS = { green: "#2f7a2a", red: "#b81428", orange: "#a84e00", yellow: "#846300", blue: "#1f60c4", purple: "#7d2eae" };
  const bare = (name) => name.replace(/^(super-light|light|semi-dark|dark)-/, "");
  const line = (name) => LINES[bare(name)] || "#8e8e8e";
  const fill = (name) => FILLS[bare(name)] || "#5a6472";
  // Neighbours that can be told apart, also by eyes that see red and green alike; bright enough for black and white.
  const PALETTE = ["#3f8ae0", "#e8833a", "#3fa66b", "#c55fc4", "#2fa8b5", "#e0526b", "#8d7ae6", "#94a02c", "#b0736a", "#7d8896"];
  const ofSeries = (index) => PALETTE[index % PALETTE.length];

  // The colour that a value has by the thresholds of its panel, or by what the value means.
  const step = (panel, value) => {
    const meant = meaning(panel, value);
    if (meant && meant.color) return meant.color;
    let name = "";
    for (const one of panel.steps) if (one.value === null || (value !== null && value >= one.value)) name = one.color;
    return name;
  };
  const meaning = (panel, value) => (value === null ? undefined : panel.meanings[String(value)]);
  const shown = (panel, value) => {
    const meant = meaning(panel, value);
    return meant ? meant.text : Units.text(value, panel.unit);
  };
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return { element, add, line, fill, ofSeries, step, shown, variable };
})();
