// Parts of a page that renew themselves while something is under way: an element with data-follow holds
// the address of its content, and content with data-busy="yes" is not the last. They do it every data-every
// milliseconds, and with data-idle every so many of them when nothing is under way, too; not while nobody looks,
// and at once when they are sent a "renew" event. A part that could not be renewed is marked with data-stale, and
// a note before it says since when and why.
//
// Who has the focus keeps it: on the link of the same address or, where addresses move with the time, in what
// has the same data-keep. What has data-still stays as it is while it has the focus, and a part while something
// in it is pressed: nothing comes of a click if what it began on is gone before it ends.
(() => {
  const PAUSE = 1500;
  const LONGEST_PAUSE = 15000;
  // An answer that takes longer counts as none.
  const PATIENCE = 20000;
  const HELD = ":active, [data-still]:focus";
  const TELLING = ["id", "href", "name", "value", "aria-label", "aria-labelledby"];

  const having = (name, value) => `[${name}="${CSS.escape(value)}"]`;

  // How an element is found again in content that takes the place of its own.
  const placeOf = (part, one) => {
    const keeper = one.closest("[data-keep]");
    let selector = one.localName;
    if (keeper && part.contains(keeper)) {
      const kept = having("data-keep", keeper.dataset.keep);
      selector = keeper === one ? kept : `${kept} ${selector}`;
    } else {
      const form = one.closest("form[action]");
      const within = form ? `form${having("action", form.getAttribute("action"))} ` : "";
      const told = TELLING.filter((name) => one.hasAttribute(name));
      selector = within + selector + told.map((name) => having(name, one.getAttribute(name))).join("");
    }
    return { selector, number: [...part.querySelectorAll(selector)].indexOf(one) };
  };

  const foundAt = (part, { selector, number }) => part.querySelectorAll(selector)[number];

  const focusAgain = (part, place) => {
    const again = foundAt(part, place);
    if (again) {
      again.focus({ preventScroll: true });
    }
    if (!again || document.activeElement !== again) {
      // What had it is gone; the next step by keyboard starts here, not at the top of the page.
      part.tabIndex = -1;
      part.focus({ preventScroll: true });
    }
  };

  const replace = (part, content) => {
    const active = document.activeElement;
    const focused = part !== active && part.contains(active) ? placeOf(part, active) : null;
    const unfolded = [...part.querySelectorAll("details")].map((one) => [placeOf(part, one), one.open]);
    const scrolled = [...part.querySelectorAll("[tabindex='0']")].map(
      (one) => [placeOf(part, one), one.scrollLeft, one.scrollTop],
    );
    part.innerHTML = content;
    for (const [place, open] of unfolded) {
      const one = foundAt(part, place);
      if (one) {
        one.open = open;
      }
    }
    for (const [place, left, top] of scrolled) {
      foundAt(part, place)?.scrollTo({ left, top, behavior: "instant" });
    }
    if (focused) {
      focusAgain(part, focused);
    }
  };

  // Why there is no content: in words, and a link that helps.
  const reasonOf = (answer) => {
    if (answer === null) {
      return ["the control plane does not answer."];
    }
    // Whoever was logged out is sent to another page; that must not end up in this one.
    const there = new URL(answer.url);
    if (answer.redirected && there.pathname.endsWith("/login/")) {
      const link = document.createElement("a");
      there.searchParams.set("next", window.location.pathname + window.location.search);
      link.href = there.href;
      link.textContent = "Log in again";
      link.style.textDecoration = "underline";
      return ["you are logged out.", " ", link];
    }
    if (answer.redirected || answer.status === 404) {
      return ["what is shown here is not there any more."];
    }
    return answer.status === 403
      ? ["you may not look at this any more."]
      : [`the control plane answers with ${answer.status}.`];
  };

  // Says before a part that it is not of now. Empty it takes no room, but is there to be read out when it changes.
  const noteOn = (part) => {
    const note = document.createElement("p");
    const show = (...words) => {
      note.replaceChildren(...words);
      note.style.position = words.length ? "" : "absolute";
    };
    let renewed = new Date();
    note.setAttribute("role", "status");
    note.className = "text-red-700 dark:text-red-400";
    show();
    part.before(note);
    return {
      clear() {
        renewed = new Date();
        delete part.dataset.stale;
        show();
      },
      tell(reason) {
        const words = [`Not renewed since ${renewed.toISOString().slice(11, 19)} UTC: `, ...reason];
        part.dataset.stale = "yes";
        // Once is enough for who hears it.
        if (note.textContent !== words.map((one) => one.textContent ?? one).join("")) {
          show(...words);
        }
      },
    };
  };

  const follow = (part) => {
    const every = Number(part.dataset.every) || PAUSE;
    const idle = Number(part.dataset.idle) || 0;
    const note = noteOn(part);
    const busy = () => part.querySelector("[data-busy='yes']") !== null;
    const usual = () => (idle && !busy() ? idle : every);
    let pause = usual();
    let timer = 0;
    let shown = null;
    const later = () => {
      clearTimeout(timer);
      timer = setTimeout(renew, pause);
    };
    const ask = async () => {
      const answer = await fetch(part.dataset.follow, {
        credentials: "same-origin",
        signal: AbortSignal.timeout(PATIENCE),
      });
      if (!answer.ok || answer.redirected) {
        return [answer, null];
      }
      return [answer, await answer.text()];
    };
    const renew = async () => {
      if (document.hidden) {
        document.addEventListener("visibilitychange", renew, { once: true });
        return;
      }
      const [answer, content] = await ask().catch(() => [null, null]);
      const held = part.querySelector(HELD) !== null;
      if (content === null) {
        note.tell(reasonOf(answer));
        pause = Math.min(2 * pause, LONGEST_PAUSE);
      } else {
        // The same again is not read out again either.
        if (content !== shown && !held) {
          replace(part, content);
          shown = content;
        }
        note.clear();
        pause = usual();
      }
      // What came while it was held is not shown yet.
      if (busy() || idle || held) {
        later();
      }
    };
    part.addEventListener("renew", () => {
      clearTimeout(timer);
      renew();
    });
    if (busy() || idle) {
      later();
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-follow]").forEach(follow);
  });
})();
