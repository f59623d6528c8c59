// The form with which a tool is called: rows of lists come and go without asking the service, tools that may
// destroy something ask first, and the page is loaded anew when the call it shows is over, or can be seen again.
(() => {
  const addRow = (list) => {
    const rows = list.querySelector(":scope > [data-rows]");
    const blank = list.querySelector(":scope > template");
    const known = [...rows.querySelectorAll(":scope > [data-row] > input[type='hidden']")];
    const number = Math.max(Number(list.dataset.next) || 0, ...known.map((one) => Number(one.value) + 1));
    list.dataset.next = number + 1;
    rows.insertAdjacentHTML("beforeend", blank.innerHTML.replaceAll(blank.dataset.token, String(number)));
    const added = rows.lastElementChild.querySelector("input:not([type='hidden']), select, textarea");
    if (added) {
      added.focus();
    }
  };

  const removeRow = (row) => {
    const list = row.closest("[data-list]");
    row.remove();
    list.querySelector(":scope > [data-add]").focus();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-add], [data-remove]");
    if (!button) {
      return;
    }
    event.preventDefault();
    if (button.matches("[data-add]")) {
      addRow(button.closest("[data-list]"));
    } else {
      removeRow(button.closest("[data-row]"));
    }
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    const asked = event.submitter && event.submitter.name === "_run" && form.dataset.question;
    if (asked && !window.confirm(form.dataset.question)) {
      event.preventDefault();
      return;
    }
    // Once is enough; later than the browser has read which button it was.
    setTimeout(() => form.querySelectorAll("button").forEach((one) => { one.disabled = true; }), 0);
  });

  // Whoever comes back to the page finds it as it was.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) {
      document.querySelectorAll("[data-try] button").forEach((one) => { one.disabled = false; });
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    for (const part of document.querySelectorAll("[data-until-over], [data-until-back]")) {
      // A trial that can be seen again may still run: with the page come the buttons for it.
      const waits = part.matches("[data-until-back]") ? "[data-away]" : "[data-busy='yes']";
      const watch = new MutationObserver(() => {
        if (!part.querySelector(waits)) {
          watch.disconnect();
          window.location.reload();
        }
      });
      watch.observe(part, { childList: true });
    }
  });
})();
