"use strict";
// Goes through the counterexample: which step is looked at, and what everything that ever changes is there.
(() => {
  const held = document.getElementById("way-data");
  if (!held) return;
  const { changing, steps } = JSON.parse(held.textContent);
  const rows = [...document.querySelectorAll("#steps tr")];
  const drawn = new Map([...document.querySelectorAll("svg.sequence .step")].map((it) => [it.dataset.step, it]));
  const aside = document.getElementById("values");
  let at = 0;

  function values(until) {
    const told = changing.map(([, first]) => first);
    for (const [, changed] of steps.slice(0, until + 1)) for (const [number, value] of changed) told[number] = value;
    return told;
  }

  function show(next, scrolls) {
    rows[at]?.classList.remove("now");
    drawn.get(rows[at]?.dataset.step)?.classList.remove("now");
    at = Math.max(0, Math.min(rows.length - 1, next));
    rows[at].classList.add("now");
    drawn.get(rows[at].dataset.step)?.classList.add("now");
    if (scrolls) rows[at].scrollIntoView({ block: "nearest" });
    const told = values(at);
    const now = new Set(steps[at][1].map(([number]) => number));
    const table = document.createElement("table");
    const head = table.insertRow();
    head.insertCell().textContent = "step " + rows[at].dataset.step;
    head.insertCell();
    changing.forEach(([name], number) => {
      const row = table.insertRow();
      row.insertCell().textContent = name;
      row.insertCell().textContent = told[number];
      row.classList.toggle("now", now.has(number));
    });
    aside.replaceChildren(table);
  }

  // The next row that is not hidden, in steps of one or minus one.
  function seen(from, by) {
    let next = from + by;
    while (rows[next]?.hidden) next += by;
    return rows[next] ? next : from;
  }

  document.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLInputElement || event.ctrlKey || event.altKey || event.metaKey) return;
    const next = {
      ArrowRight: () => seen(at, 1), ArrowDown: () => seen(at, 1), ArrowLeft: () => seen(at, -1), ArrowUp: () => seen(at, -1),
      Home: () => seen(-1, 1), End: () => seen(rows.length, -1),
    }[event.key];
    if (!next) return;
    event.preventDefault();
    show(next(), true);
  });
  rows.forEach((row, number) => row.addEventListener("click", () => show(number, false)));
  document.getElementById("find").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
  show(0, false);
})();
