// Numbers as people read them, by the ids of Grafana's units: https://github.com/grafana/grafana/blob/main/packages/grafana-data/src/valueFormats
const Units = (() => {
  const ladder = (base, names, suffix) => names.map((name, power) => [base ** power, " " + name + suffix]);
  const decimal = (suffix) => ladder(1000, ["", "k", "M", "G", "T", "P"], suffix);
  const binary = [[1, " B"], ...["KiB", "MiB", "GiB", "TiB", "PiB"].map((name, power) => [1024 ** (power + 1), " " + name])];
  const seconds = [
    [1e-9, " ns"], [1e-6, " µs"], [1e-3, " ms"], [1, " s"], [60, " min"], [3600, " h"], [86400, " d"], [7 * 86400, " weeks"],
  ];
  // From small to large: how much one is of it, and how it is written.
  const LADDERS = {
    none: [[1, ""]],
    short: [[1, ""], [1e3, " K"], [1e6, " Mil"], [1e9, " Bil"], [1e12, " Tri"]],
    percent: [[1, "%"]],
    percentunit: [[0.01, "%"]],
    celsius: [[1, " °C"]],
    watt: decimal("W"),
    mwatt: decimal("W").map(([size, name]) => [size * 1000, name]),
    joule: decimal("J"),
    hertz: decimal("Hz"),
    volt: decimal("V"),
    amp: decimal("A"),
    rotrpm: [[1, " rpm"]],
    bytes: binary,
    kbytes: binary.map(([size, name]) => [size / 1024, name]),
    mbytes: binary.map(([size, name]) => [size / 1024 ** 2, name]),
    decbytes: decimal("B"),
    Bps: decimal("B/s"),
    MBs: decimal("B/s").map(([size, name]) => [size / 1e6, name]),
    GBs: decimal("B/s").map(([size, name]) => [size / 1e9, name]),
    flowlpm: [[1, " L/min"]],
    bps: decimal("b/s"),
    cps: decimal("c/s"),
    ops: decimal("ops/s"),
    reqps: decimal("req/s"),
    s: seconds,
    ms: seconds.map(([size, name]) => [size * 1000, name]),
    "µs": seconds.map(([size, name]) => [size * 1e6, name]),
    ns: seconds.map(([size, name]) => [size * 1e9, name]),
  };

  // Three significant digits, and no more zeros than that.
  const digits = (value) => {
    const size = Math.abs(value);
    if (size >= 1e6) return value.toPrecision(3);
    return String(Number(size >= 1 ? value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2) : value.toPrecision(3)));
  };

  // The value with its unit; a unit that is not known stands behind the number as it is called.
  const text = (value, unit) => {
    if (value === null || value === undefined) return "–";
    const steps = LADDERS[unit] || [[1, " " + unit]];
    const size = Math.abs(value);
    let rung = steps.findLast(([least]) => size >= least) || steps[0];
    if (size === 0) rung = steps.find(([least]) => least >= 1) || steps[0];
    return digits(value / rung[0]) + rung[1].replace(/ $/, "");
  };
  return { text };
})();
