// Switches in a list are sent without leaving it. Without this script the button sends the form.
(() => {
  const SHOWN = 6000;
  let timer;

  const tell = (text, wrong) => {
    const told = document.querySelector(".switch-told");
    told.textContent = text;
    told.classList.toggle("wrong", wrong);
    clearTimeout(timer);
    timer = setTimeout(() => { told.textContent = ""; }, SHOWN);
  };

  const set = (button, on) => {
    button.setAttribute("aria-checked", on ? "true" : "false");
    button.title = on ? "On: press to switch off" : "Off: press to switch on";
    button.value = on ? "no" : "yes";
  };

  const send = async (button) => {
    const before = button.getAttribute("aria-checked") === "true";
    button.setAttribute("aria-busy", "true");
    set(button, !before);
    try {
      const answer = await fetch(button.getAttribute("formaction"), {
        method: "POST",
        credentials: "same-origin",
        headers: {
          Accept: "application/json",
          "X-CSRFToken": button.form.querySelector("[name=csrfmiddlewaretoken]").value,
        },
        body: new URLSearchParams({ on: before ? "no" : "yes" }),
      });
      if (answer.redirected || !answer.ok) {
        throw new Error(answer.status === 403 ? "you may not, or were logged out" : "the service refused it");
      }
      const { on, told, cells = {} } = await answer.json();
      set(button, on);
      for (const [column, shown] of Object.entries(cells)) {
        const cell = button.closest("tr").querySelector(`.field-${column}`);
        if (cell) {
          cell.innerHTML = shown;
        }
      }
      tell(told, false);
    } catch (fault) {
      set(button, before);
      const why = fault instanceof TypeError ? "the service cannot be reached" : fault.message;
      tell(`Not switched: ${why}. Reload the page.`, true);
    } finally {
      button.removeAttribute("aria-busy");
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    const told = document.createElement("div");
    told.className = "switch-told";
    told.setAttribute("role", "status");
    document.body.append(told);
    document.addEventListener("click", (event) => {
      const button = event.target.closest("button.row-switch");
      if (button) {
        event.preventDefault();
        if (!button.hasAttribute("aria-busy")) {
          send(button);
        }
      }
    });
  });
})();
