// Where the page is: a dashboard, values of its variables, a time within that of the page; all of it in the part of the
// address behind `#`, so that it can be sent, and that Back goes back.
const Address = (() => {
  // "#/d/uid?var-node=a&from=1&to=2" -> {uid, values: {node: "a"}, from, to} ; from and to are null without a zoom.
  const parse = (hash) => {
    const [path, query = ""] = hash.replace(/^#/, "").split("?");
    const found = path.match(/^\/d\/([\w-]+)$/);
    const values = {}, times = { from: null, to: null };
    for (const pair of query.split("&").filter(Boolean)) {
      const at = pair.indexOf("=");
      let name, value;
      try {
        name = decodeURIComponent(pair.slice(0, at));
        value = decodeURIComponent(pair.slice(at + 1));
      } catch {
        continue; // an address that was cut in the middle of a character
      }
      if (name.startsWith("var-")) values[name.slice(4)] = value;
      else if (name in times && /^\d+$/.test(value)) times[name] = Number(value);
    }
    const zoomed = times.from !== null && times.to !== null && times.from < times.to;
    return { uid: found ? found[1] : "", values, from: zoomed ? times.from : null, to: zoomed ? times.to : null };
  };

  const print = ({ uid, values = {}, from = null, to = null }) => {
    const pairs = Object.entries(values).filter(([, value]) => value !== null)
      .map(([name, value]) => `var-${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    if (from !== null && to !== null) pairs.push(`from=${from}`, `to=${to}`);
    return `#${uid ? `/d/${uid}` : "/"}${pairs.length ? `?${pairs.join("&")}` : ""}`;
  };

  // The choice of the page that has most of the wanted values. A choice is a value for each variable, null for all.
  // `must` is the number of a variable that has to be as wanted; null where there is no such choice.
  const nearest = (choices, wanted, must = -1) => {
    let best = null, most = -1;
    for (const choice of choices) {
      if (must >= 0 && choice[must] !== wanted[must]) continue;
      const same = choice.filter((value, index) => value === wanted[index]).length;
      if (same > most) [best, most] = [choice, same];
    }
    return best;
  };
  return { parse, print, nearest };
})();
