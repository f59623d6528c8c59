// A search of the request log that was given up goes on by itself, step after step, until a page is full, all was
// looked through or somebody stops it. An element with data-search holds the address of the next step, data-looked
// how many calls were looked through so far, and data-most how many are a page.
//
// While nothing was found the address of the page moves along: who comes back to it does not begin anew.
(() => {
  const PAUSE = 100;
  // An answer that takes longer counts as none.
  const PATIENCE = 20000;
  // How often it is read out how far the search has come, to whoever does not see it.
  const TELL_EVERY = 10000;

  const counted = (number) => number.toLocaleString("en-US");
  const plural = (number, more) => `${counted(number)}${more ? "+" : ""} ${number === 1 && !more ? "call" : "calls"}`;

  const reasonOf = (answer) => {
    if (answer === null) {
      return "the control plane does not answer.";
    }
    return answer.redirected ? "you are logged out." : `the control plane answers with ${answer.status}.`;
  };

  const searchOn = (note) => {
    const list = document.getElementById("log-found");
    const told = note.querySelector(".log-told");
    const aloud = note.querySelector("[role=status]");
    const button = document.createElement("button");
    let next = note.dataset.search;
    let looked = Number(note.dataset.looked);
    let backTo = "";
    let spokenAt = Date.now();
    let stopping = null;

    const rows = () => list.querySelectorAll("#result_list tbody tr").length;

    const tell = (words, spoken) => {
      told.textContent = words;
      if (spoken || Date.now() - spokenAt > TELL_EVERY) {
        spokenAt = Date.now();
        aloud.textContent = words;
      }
    };

    const progress = () => `${counted(looked)} calls were looked through${backTo && `, back to ${backTo}`}.`;

    const add = (found) => {
      const lines = found.querySelectorAll("#result_list tbody tr");
      const there = list.querySelector("#result_list tbody");
      if (there) {
        there.append(...lines);
      } else if (lines.length) {
        list.replaceChildren(found.querySelector(".log-list"));
      }
      return lines.length;
    };

    // Every way to older calls begins where the search has come to.
    const lead = (older) => {
      for (const link of document.querySelectorAll("a[rel=next]")) {
        if (older) {
          link.href = older;
        } else if (!note.contains(link)) {
          link.remove();
        }
      }
    };

    const count = (more) => {
      const place = document.querySelector("#log-counted strong");
      if (place) {
        place.textContent = rows() || !more ? plural(rows(), more) : "No call yet";
      }
    };

    const finish = (older) => {
      const words = older
        ? `${plural(rows(), false)} found here; there may be older ones.`
        : `The search is done: ${plural(rows(), false)} found here.`;
      if (button === document.activeElement) {
        // The next step by keyboard starts here, not at the top of the page.
        note.tabIndex = -1;
        note.focus({ preventScroll: true });
      }
      note.replaceChildren(told, aloud);
      tell(words, true);
      if (!rows()) {
        list.querySelector("p").firstChild.data = "No call matches. ";
      }
      if (older) {
        document.querySelectorAll(".log-pager a[rel=next]").forEach((link) => { link.textContent = "Older"; });
      }
    };

    const halt = (words) => {
      stopping = null;
      button.textContent = "Go on";
      tell(words, true);
    };

    const step = async (signal) => {
      const answer = await fetch(next, { credentials: "same-origin", signal });
      return [answer, answer.ok && !answer.redirected ? await answer.text() : null];
    };

    // So that a reload goes on from here. Browsers allow it so often in a while.
    const remember = (address) => {
      try {
        history.replaceState(history.state, "", address);
      } catch {
        // The address stays that of an earlier step.
      }
    };

    // Whether there is more to search.
    const take = (content) => {
      const page = new DOMParser().parseFromString(content, "text/html");
      const found = page.querySelector("[data-next]");
      const { next: after, older, looked: more, backTo: reached } = found.dataset;
      looked += Number(more);
      backTo = reached || backTo;
      const before = rows();
      add(found);
      lead(older);
      count(Boolean(older));
      if (!rows() && older) {
        remember(older);
      }
      next = after;
      if (!next || rows() >= Number(note.dataset.most)) {
        finish(older);
        return false;
      }
      tell(progress(), rows() > before);
      return true;
    };

    const run = async () => {
      const mine = new AbortController();
      stopping = mine;
      button.textContent = "Stop";
      for (;;) {
        const late = setTimeout(() => mine.abort(), PATIENCE);
        const [answer, content] = await step(mine.signal).catch(() => [null, null]);
        clearTimeout(late);
        if (stopping !== mine) {
          return;
        }
        if (content === null) {
          halt(`${progress()} The search stopped: ${reasonOf(answer)}`);
          return;
        }
        try {
          if (!take(content)) {
            return;
          }
        } catch {
          halt(`${progress()} The search stopped: the answer cannot be read. Reload the page.`);
          return;
        }
        await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
        if (stopping !== mine) {
          return;
        }
      }
    };

    button.type = "button";
    button.className = "log-button";
    button.addEventListener("click", () => {
      if (stopping) {
        stopping.abort();
        halt(`${progress()} The search was stopped.`);
      } else {
        tell(`${progress()} Searching on.`, true);
        run();
      }
    });
    note.append(button);
    tell(`${told.textContent} Searching on.`, true);
    run();
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-search]").forEach(searchOn);
  });
})();
