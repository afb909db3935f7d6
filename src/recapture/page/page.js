"use strict";
// What a page does beyond being read: tables are sorted and copied, the map answers. No library, no request.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const status = document.getElementById("status");
  const say = (words) => { status.textContent = words; };
  const make = (name, words, className) => {
    const made = document.createElement(name);
    if (words !== undefined) made.textContent = words; // never as markup
    if (className) made.className = className;
    return made;
  };
  document.documentElement.classList.add("scripted");

  // Tables.
  const NUMBER = /^[<>≤≥~]?\s*([-+−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)/i;
  const key = (cell) => {
    const words = cell.textContent.trim();
    const found = NUMBER.exec(words);
    return found ? { number: parseFloat(found[1].replace("−", "-").replace(/,/g, "")), words } : { words };
  };
  const before = (a, b) => {
    const one = a.number !== undefined, other = b.number !== undefined;
    if (one && other) return a.number - b.number;
    if (one !== other) return one ? -1 : 1; // words stand below numbers
    return a.words.localeCompare(b.words);
  };
  for (const table of document.querySelectorAll("table")) {
    const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const words = head.textContent.trim();
      if (head.querySelector(".unseen")) return; // arrows need no order
      const button = make("button", words);
      button.type = "button";
      head.textContent = "";
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
        for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", next);
        const sign = next === "descending" ? -1 : 1;
        const keyed = rows.map((row, place) => ({ row, place, by: key(row.cells[column]) }));
        if (next !== "none") keyed.sort((a, b) => sign * before(a.by, b.by) || a.place - b.place);
        body.append(...keyed.map((each) => each.row));
        say(next === "none" ? "rows in their first order" : `sorted by ${words}, ${next}`);
      });
    });
  }
  const copied = (words) => {
    const area = make("textarea", words, "unseen");
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const words = data.tables[Number(button.dataset.copy)][button.dataset.form];
      let done = false;
      try { await navigator.clipboard.writeText(words); done = true; } catch { done = copied(words); }
      const label = button.textContent;
      button.textContent = done ? "Copied" : "Not copied";
      say(done ? `copied as ${label}` : "the browser did not allow copying");
      setTimeout(() => { button.textContent = label; }, 1200);
    });
  }

  // The map.
  if (!data.map) return;
  const map = data.map, count = map.x.length;
  const points = document.getElementById("map-points"), over = document.getElementById("map-over");
  const told = document.getElementById("map-told"), list = document.getElementById("map-list");
  const search = document.getElementById("map-search"), chooser = document.getElementById("map-colour");
  const legend = document.getElementById("map-legend");
  const COLOURS = 8, SHAPES = 5, REACH = 14, LISTED = 100;
  const shown = map.sides.map(() => true);
  let view = null, wide = 0, tall = 0, scale = 1, current = -1, corner = -1, drag = null;
  let matched = null, chosen = null, grid = new Map();
  const whole = () => ({ left: -map.grid * 0.02, top: -map.grid * 0.03, wide: map.grid * 1.04, tall: map.grid * 1.06 });
  const across = (place) => (map.x[place] - view.left) / view.wide * wide;
  const down = (place) => (map.y[place] - view.top) / view.tall * tall;
  const tone = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // What a text is coloured by: its side, or what else the page knows. Kinds: [name, colour, shape].
  const kinds = () => {
    const by = chooser && map.colours[chooser.value];
    if (!by) return map.sides.map((name, at) => [name, at ? tone(`--c${(at - 1) % COLOURS}`) : tone("--people"), at ? (at - 1) % SHAPES : -1]);
    let named = -1;
    return by.names.map((name) => {
      if (!name) return ["none", tone("--band-edge"), 0];
      named += 1;
      return [name, tone(`--c${named % COLOURS}`), named % SHAPES];
    });
  };
  const kindOf = (place) => {
    const by = chooser && map.colours[chooser.value];
    return by ? by.of[place] : map.side[place];
  };
  const outline = (pen, shape, x, y, size) => {
    pen.beginPath();
    if (shape <= 0) pen.arc(x, y, size, 0, 2 * Math.PI);
    else if (shape === 1) pen.rect(x - 0.9 * size, y - 0.9 * size, 1.8 * size, 1.8 * size);
    else {
      const corners = shape === 2 ? [[0, -1.25], [1.15, 0.85], [-1.15, 0.85]]
        : shape === 3 ? [[0, -1.35], [1.35, 0], [0, 1.35], [-1.35, 0]] : [[0, 1.25], [1.15, -0.85], [-1.15, -0.85]];
      corners.forEach(([a, b], at) => pen[at ? "lineTo" : "moveTo"](x + a * size, y + b * size));
      pen.closePath();
    }
  };
  const stamp = (colour, shape, size) => { // drawn once, stamped thousands of times
    const made = document.createElement("canvas"), edge = Math.ceil(4 * size * scale);
    made.width = made.height = edge;
    const pen = made.getContext("2d");
    pen.scale(scale, scale);
    outline(pen, shape, edge / scale / 2, edge / scale / 2, size);
    if (shape < 0) { pen.lineWidth = 1.3; pen.strokeStyle = colour; pen.stroke(); } else { pen.fillStyle = colour; pen.fill(); }
    return made;
  };
  const seen = (place) => shown[map.side[place]];
  const picked = (place) => (!matched || matched.has(place)) && (!chosen || chosen.has(place));
  // Texts of one side at one place are drawn as one, the larger the more there are.
  let grown = null;
  const gather = () => {
    const many = new Map(), keyOf = (place) => (map.x[place] * (map.grid + 1) + map.y[place]) * 64 + map.side[place];
    for (let place = 0; place < count; place += 1) many.set(keyOf(place), (many.get(keyOf(place)) || 0) + 1);
    grown = Uint8Array.from({ length: count }, (_, place) => Math.min(3, Math.floor(Math.log2(many.get(keyOf(place))) / 1.5)));
  };
  gather();
  // In mixed order, so that no side lies on top of the others.
  const mixed = (place) => Math.imul(place + 1, 2654435761) >>> 0;
  const order = Array.from({ length: count }, (_, place) => place).sort((a, b) => mixed(a) - mixed(b));
  const draw = () => {
    const pen = points.getContext("2d"), size = count > 6000 ? 2 : count > 1500 ? 2.6 : 3.4;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, points.width, points.height);
    const stamps = kinds().map(([, colour, shape]) => [1, 1.5, 2.1, 2.8].map((times) => stamp(colour, shape, times * size)));
    grid = new Map();
    const by = chooser && map.colours[chooser.value], none = by ? by.names.indexOf("") : -1; // texts with no flag lie below
    const drawn = none < 0 ? order : [...order.filter((at) => by.of[at] === none), ...order.filter((at) => by.of[at] !== none)];
    for (const strong of [false, true]) {
      pen.globalAlpha = strong ? (count > 6000 ? 0.65 : 0.8) : 0.1;
      for (const place of drawn) {
        if (!seen(place) || picked(place) !== strong) continue;
        const x = across(place), y = down(place);
        if (x < -9 || y < -9 || x > wide + 9 || y > tall + 9) continue;
        const sign = stamps[kindOf(place)][grown[place]];
        pen.drawImage(sign, Math.round(x * scale - sign.width / 2), Math.round(y * scale - sign.height / 2));
        if (!strong) continue;
        const cell = `${Math.floor(x / REACH)},${Math.floor(y / REACH)}`;
        if (grid.has(cell)) grid.get(cell).push(place); else grid.set(cell, [place]);
      }
    }
    drawOver();
  };
  const drawOver = () => {
    const pen = over.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, wide, tall);
    const ink = tone("--ink");
    if (current >= 0) {
      const near = map.near[current], x = across(current), y = down(current);
      pen.strokeStyle = pen.fillStyle = ink;
      if (near >= 0) {
        pen.lineWidth = 1.5;
        pen.setLineDash([4, 3]);
        pen.beginPath(); pen.moveTo(x, y); pen.lineTo(across(near), down(near)); pen.stroke();
        pen.setLineDash([]);
        pen.lineWidth = 2;
        outline(pen, 0, across(near), down(near), 6); pen.stroke();
      }
      pen.lineWidth = 3;
      outline(pen, 0, x, y, 7); pen.stroke();
    }
    const frame = drag || (corner >= 0 && current >= 0 ? [across(corner), down(corner), across(current), down(current)] : null);
    if (frame) {
      const [a, b, c, d] = frame;
      pen.fillStyle = tone("--focus"); pen.globalAlpha = 0.15; pen.fillRect(a, b, c - a, d - b);
      pen.globalAlpha = 1; pen.strokeStyle = tone("--focus"); pen.lineWidth = 1.5; pen.strokeRect(a, b, c - a, d - b);
    }
  };
  const fit = () => {
    const box = over.getBoundingClientRect();
    if (!box.width || !box.height) return;
    wide = box.width; tall = box.height; scale = Math.min(3, window.devicePixelRatio || 1);
    for (const canvas of [points, over]) { canvas.width = Math.round(wide * scale); canvas.height = Math.round(tall * scale); }
    draw();
  };
  const closest = (x, y) => {
    let best = -1, least = REACH * REACH;
    const column = Math.floor(x / REACH), row = Math.floor(y / REACH);
    for (let a = column - 1; a <= column + 1; a += 1) {
      for (let b = row - 1; b <= row + 1; b += 1) {
        for (const place of grid.get(`${a},${b}`) || []) {
          const gap = (across(place) - x) ** 2 + (down(place) - y) ** 2;
          if (gap < least) { least = gap; best = place; }
        }
      }
    }
    return best;
  };
  const paragraph = (who, place) => {
    const made = make("p"), text = make("bdi", map.texts[place]);
    text.dir = "auto";
    made.append(make("span", `${who} `, "who"), text);
    return made;
  };
  const tell = (place) => {
    if (place === current) return;
    current = place;
    drawOver();
    if (place < 0) return told.replaceChildren(make("p", "No text is chosen.", "quiet"));
    const near = map.near[place], parts = [paragraph(map.sides[map.side[place]], place)];
    if (near >= 0) parts.push(paragraph(`nearest on the other side, ${map.sides[map.side[near]]}, distance ${map.far[place]}`, near));
    for (const [name, by] of Object.entries(map.colours)) {
      if (name === "side") continue; // said already
      const words = by.names[by.of[place]];
      if (words) parts.push(make("p", `${name}: ${words}`, "who"));
    }
    return told.replaceChildren(...parts);
  };
  const summary = (places, words) => {
    if (!places) return list.replaceChildren();
    const counts = map.sides.map((name, side) => [name, places.filter((place) => map.side[place] === side).length]);
    const head = `${places.length} ${words}: ${counts.filter(([, each]) => each).map(([name, each]) => `${name} ${each}`).join(", ")}`;
    const rows = make("ol");
    for (const place of places.slice(0, LISTED)) {
      const row = make("li"), text = make("bdi", map.texts[place]);
      text.dir = "auto";
      row.append(make("span", `${map.sides[map.side[place]]} `, "who"), text);
      rows.append(row);
    }
    const more = places.length > LISTED ? [make("p", `The first ${LISTED} are listed.`, "quiet")] : [];
    return list.replaceChildren(make("p", places.length ? head : `0 ${words}`), rows, ...more);
  };
  const refresh = () => {
    draw();
    if (!matched && !chosen) return summary(null);
    const places = [];
    for (let place = 0; place < count; place += 1) if (seen(place) && picked(place)) places.push(place);
    return summary(places, chosen ? "selected" : "found");
  };
  const select = (a, b, c, d) => {
    const [left, right] = a < c ? [a, c] : [c, a], [top, bottom] = b < d ? [b, d] : [d, b];
    chosen = new Set();
    for (let place = 0; place < count; place += 1) {
      const x = across(place), y = down(place);
      if (seen(place) && x >= left && x <= right && y >= top && y <= bottom && (!matched || matched.has(place))) chosen.add(place);
    }
    refresh();
  };
  const clear = () => { chosen = null; matched = null; corner = -1; drag = null; search.value = ""; tell(-1); refresh(); };

  over.addEventListener("pointermove", (event) => {
    const box = over.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    if (drag) { drag[2] = x; drag[3] = y; drawOver(); return; }
    const place = closest(x, y);
    if (place >= 0) tell(place);
  });
  over.addEventListener("pointerdown", (event) => {
    const box = over.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const place = closest(x, y);
    if (place >= 0) tell(place);
    if (event.pointerType === "touch" || event.button !== 0) return; // a finger scrolls
    drag = [x, y, x, y];
    over.setPointerCapture(event.pointerId);
  });
  const release = () => {
    if (!drag) return;
    const [a, b, c, d] = drag;
    drag = null;
    if (Math.abs(a - c) > 5 && Math.abs(b - d) > 5) select(a, b, c, d); else drawOver();
  };
  over.addEventListener("pointerup", release);
  over.addEventListener("pointercancel", () => { drag = null; drawOver(); });

  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const towards = ([a, b]) => { // the next text in a direction: near, and not far aside
    if (current < 0) return closestToMiddle();
    const x = across(current), y = down(current);
    let best = current, least = Infinity;
    for (let place = 0; place < count; place += 1) {
      if (place === current || !seen(place) || !picked(place)) continue;
      const p = across(place), q = down(place);
      if (p < 0 || q < 0 || p > wide || q > tall) continue;
      const ahead = (p - x) * a + (q - y) * b, aside = Math.abs((p - x) * b) + Math.abs((q - y) * a);
      if (ahead <= 0.5 || aside > 2 * ahead + 4) continue;
      const cost = ahead + 2 * aside;
      if (cost < least) { least = cost; best = place; }
    }
    return best;
  };
  const closestToMiddle = () => {
    let best = -1, least = Infinity;
    for (let place = 0; place < count; place += 1) {
      if (!seen(place) || !picked(place)) continue;
      const gap = (across(place) - wide / 2) ** 2 + (down(place) - tall / 2) ** 2;
      if (gap < least) { least = gap; best = place; }
    }
    return best;
  };
  over.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (STEPS[event.key]) tell(towards(STEPS[event.key]));
    else if (event.key === "n" || event.key === "N") { if (current >= 0 && map.near[current] >= 0) tell(map.near[current]); }
    else if (event.key === " ") {
      if (corner < 0) { corner = current < 0 ? closestToMiddle() : current; tell(corner); say("selection begun"); }
      else { const from = corner; corner = -1; select(across(from), down(from), across(current), down(current)); say("selection ended"); }
    } else if (event.key === "Escape") clear();
    else return;
    event.preventDefault();
    drawOver();
  });

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const wanted = search.value.trim().toLowerCase();
      matched = null;
      if (wanted) {
        matched = new Set();
        map.texts.forEach((text, place) => { if (text.toLowerCase().includes(wanted)) matched.add(place); });
      }
      refresh();
    }, 120);
  });
  search.addEventListener("keydown", (event) => { if (event.key === "Escape") { search.value = ""; search.dispatchEvent(new Event("input")); } });
  document.getElementById("map-clear").addEventListener("click", () => { clear(); });
  document.getElementById("map-whole").addEventListener("click", () => { view = whole(); draw(); });
  document.getElementById("map-zoom").addEventListener("click", () => {
    const places = [];
    for (let place = 0; place < count; place += 1) if (seen(place) && picked(place)) places.push(place);
    if (!places.length || (!chosen && !matched)) return say("nothing is selected");
    const xs = places.map((place) => map.x[place]), ys = places.map((place) => map.y[place]);
    const ends = (numbers) => numbers.reduce(([low, high], each) => [Math.min(low, each), Math.max(high, each)], [Infinity, -Infinity]);
    const [left, right] = ends(xs), [top, bottom] = ends(ys), room = Math.max(20, 0.06 * Math.max(right - left, bottom - top));
    view = { left: left - room, top: top - room, wide: right - left + 2 * room, tall: bottom - top + 2 * room };
    return draw();
  });
  const keyed = () => {
    const by = chooser && map.colours[chooser.value], parts = [];
    kinds().forEach(([name, colour, shape], at) => {
      const sign = document.createElement("canvas"), pen = sign.getContext("2d");
      sign.width = sign.height = 32; sign.className = "sign";
      pen.scale(2, 2);
      outline(pen, shape, 8, 8, 4.5);
      if (shape < 0) { pen.strokeStyle = colour; pen.lineWidth = 2; pen.stroke(); } else { pen.fillStyle = colour; pen.fill(); }
      if (by) { const row = make("span"); row.append(sign, make("bdi", name)); row.className = "entry"; parts.push(row); return; }
      const row = make("label"), tick = make("input");
      tick.type = "checkbox"; tick.checked = shown[at];
      tick.addEventListener("change", () => { shown[at] = tick.checked; refresh(); });
      row.append(tick, sign, make("bdi", name));
      parts.push(row);
    });
    legend.replaceChildren(...parts);
  };
  const layout = document.getElementById("map-layout"), first = [map.x, map.y];
  if (layout) layout.addEventListener("change", () => {
    [map.x, map.y] = layout.value ? map.layouts[layout.value] : first;
    view = whole();
    gather();
    draw();
    say(`layout: ${layout.selectedOptions[0].textContent}`);
  });
  if (chooser) chooser.addEventListener("change", () => { keyed(); draw(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { keyed(); draw(); });
  document.querySelector(".map").classList.add("map-on");
  view = whole();
  keyed();
  fit();
  new ResizeObserver(fit).observe(over);
  document.documentElement.dataset.ready = "yes";
})();
