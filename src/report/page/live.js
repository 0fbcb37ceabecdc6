"use strict";
// Asks again for what is new, for as long as somebody answers.
(() => {
  const parts = ["header", "#live", "#way", "#result", "#search", "#states", "#model", "#again"];
  const live = () => document.getElementById("live");
  const several = document.getElementById("searches") !== null;
  let whole = Date.now();

  async function text(path) {
    const answer = await fetch(path, { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.statusText);
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }

  // What is open stays open, and what is gone through stays where it is, unless it is another.
  function replace(page) {
    for (const part of several ? ["#searches"] : parts) {
      const [old, next] = [document, page].map((it) => it.querySelector(part));
      if (part === "#way" && old && next) continue;
      const open = old ? [...old.querySelectorAll("details")].map((it) => it.open) : [];
      if (old && next) {
        next.querySelectorAll("details").forEach((it, number) => { it.open = open[number] ?? it.open; });
        old.replaceWith(next);
      } else if (next) {
        document.querySelector("#result")?.before(next);
        const nav = page.querySelector("nav");
        if (nav) document.querySelector("nav")?.replaceWith(nav);
      }
    }
    document.title = page.title;
    window.dispatchEvent(new Event("replaced"));
  }

  async function look() {
    try {
      if (several) {
        replace(await text("/"));
      } else {
        const next = (await text(location.pathname + "/live")).getElementById("live");
        const isNew = next.dataset.stamp !== live().dataset.stamp;
        const isOver = !next.classList.contains("running") && live().classList.contains("running");
        if (isOver || (isNew && Date.now() - whole > 5000)) {
          replace(await text(location.pathname));
          whole = Date.now();
        } else {
          // The stamp of what is shown beside it.
          if (isNew) next.dataset.stamp = live().dataset.stamp;
          live().replaceWith(next);
        }
      }
      document.getElementById("gone")?.remove();
    } catch {
      if (!document.getElementById("gone")) {
        const gone = document.createElement("p");
        gone.id = "gone";
        gone.className = "note";
        gone.textContent = "Nobody answers any more; this is how it was at " + new Date().toLocaleTimeString() + ".";
        document.body.prepend(gone);
      }
    }
    setTimeout(look, 1000);
  }
  setTimeout(look, 1000);
})();
