"use strict";
// Goes through the counterexample: which step is looked at, and what everything that ever changes is there.
(() => {
  let gone = () => {};

  function begin() {
    const held = document.getElementById("way-data");
    if (!held || held.begun) return;
    held.begun = true;
    gone();
    const { changing, steps, folds } = JSON.parse(held.textContent);
    const rows = [...document.querySelectorAll("#steps tr")];
    const drawn = new Map([...document.querySelectorAll("svg.sequence .step")].map((it) => [it.dataset.step, it]));
    const aside = document.getElementById("values");
    const find = document.getElementById("find");
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
      const [, changed, wrong] = steps[at];
      const now = new Set(changed.map(([number]) => number));
      const fails = wrong.map((text) => {
        const line = document.createElement("p");
        line.className = "wrong";
        line.textContent = text;
        return line;
      });
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
      aside.replaceChildren(...fails, table);
    }

    // The next row that is not hidden, in steps of one or minus one.
    function seen(from, by) {
      let next = from + by;
      while (rows[next]?.hidden) next += by;
      return rows[next] ? next : from;
    }

    // Steps that come again and again are hidden until somebody asks for them.
    const folded = new Set();
    function hide() {
      const wanted = find.value.toLowerCase();
      for (const row of rows) {
        row.hidden = wanted ? !row.textContent.toLowerCase().includes(wanted) : folded.has(row);
      }
      for (const row of document.querySelectorAll("#steps tr.again")) row.hidden = wanted !== "";
    }
    const numbers = new Map(rows.map((row) => [Number(row.dataset.step), row]));
    for (const [from, until, says] of folds) {
      const inside = [];
      for (let number = from; number <= until; number += 1) if (numbers.has(number)) inside.push(numbers.get(number));
      if (inside.length === 0) continue;
      const again = document.createElement("tr");
      again.className = "again";
      again.insertCell().textContent = "…";
      const cell = again.insertCell();
      cell.colSpan = 3;
      cell.textContent = says;
      again.addEventListener("click", () => {
        inside.forEach((it) => folded.delete(it));
        again.remove();
        hide();
      });
      inside[0].before(again);
      inside.forEach((it) => folded.add(it));
    }
    hide();

    function key(event) {
      if (event.target instanceof HTMLInputElement || event.ctrlKey || event.altKey || event.metaKey) return;
      const next = {
        ArrowRight: () => seen(at, 1), ArrowDown: () => seen(at, 1), ArrowLeft: () => seen(at, -1), ArrowUp: () => seen(at, -1),
        Home: () => seen(-1, 1), End: () => seen(rows.length, -1),
      }[event.key];
      if (!next) return;
      event.preventDefault();
      show(next(), true);
    }
    document.addEventListener("keydown", key);
    gone = () => document.removeEventListener("keydown", key);
    rows.forEach((row, number) => row.addEventListener("click", () => show(number, false)));
    find.addEventListener("input", hide);
    // It is the last step that fails; the page stays at its top.
    show(rows.length - 1, false);
    const box = document.querySelector("#way .steps");
    box.scrollTop = box.scrollHeight;
  }

  begin();
  // A page that is shown while its search runs comes to its counterexample later.
  window.addEventListener("replaced", begin);
})();
