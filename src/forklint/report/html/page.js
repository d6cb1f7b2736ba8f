"use strict";
// Filters findings by kind, rule and file. Without it the page shows everything.
(() => {
  const form = document.getElementById("filters");
  const findings = [...document.querySelectorAll(".finding")];
  const files = [...document.querySelectorAll("section.file")];
  const shown = document.getElementById("shown");

  function apply() {
    const kinds = new Set([...form.querySelectorAll("[name=kind]:checked")].map((box) => box.value));
    const code = form.elements.code.value;
    const part = form.elements.file.value.trim().toLowerCase();
    let count = 0;
    for (const finding of findings) {
      const file = finding.closest("[data-file]").dataset.file.toLowerCase();
      const fits = kinds.has(finding.dataset.kind) && (!code || finding.dataset.code === code) && file.includes(part);
      finding.hidden = !fits;
      count += fits;
    }
    for (const file of files) file.hidden = !file.querySelector(".finding:not([hidden])");
    shown.textContent = `${count} of ${findings.length} shown`;
  }

  // A link to a rule opens its page; one to a finding that is filtered out shows all again.
  function reveal() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (form && target.closest("[hidden]")) {
      form.reset();
      apply();
    }
    const details = target.closest("details");
    if (details) details.open = true;
    target.scrollIntoView();
  }

  if (form) {
    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => (one.open = true)));
  reveal();
})();
