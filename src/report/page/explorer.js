"use strict";
// Keys for the links of the page, and the current line of the model in view.
(() => {
  const choices = new Map([...document.querySelectorAll("#actions a.take")].map((it) => [it.dataset.choice, it]));
  let typed = "";

  function take(number) {
    typed = "";
    choices.get(number)?.click();
  }

  // A number is taken at once, unless it begins another one.
  function type(digit) {
    typed += digit;
    const all = [...choices.keys()].filter((it) => it.startsWith(typed));
    if (all.length === 0) typed = "";
    if (all.length === 1 && all[0] === typed) take(typed);
  }

  document.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLInputElement || event.ctrlKey || event.altKey || event.metaKey) return;
    if (/^[0-9]$/.test(event.key)) return type(event.key);
    if (event.key === "Enter" && typed !== "") {
      event.preventDefault();
      return take(typed);
    }
    if (event.key === "/") {
      event.preventDefault();
      return document.getElementById("until")?.focus();
    }
    document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`)?.click();
  });

  // Only the boxes scroll, and not the page.
  for (const box of document.querySelectorAll(".scrolling")) {
    const row = box.querySelector("tr:target") ?? box.querySelector("tr.now, tr.here, tr.enabled, tr.last");
    if (row) box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }
})();
