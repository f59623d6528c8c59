// Parts of a page that renew themselves while something is under way: an element with data-follow holds
// the address of its content, and content with data-busy="yes" is not the last. They do it every data-every
// milliseconds, not while nobody looks, and at once when they are sent a "renew" event.
(() => {
  const PAUSE = 1500;
  const LONGEST_PAUSE = 15000;

  const follow = (part) => {
    const usual = Number(part.dataset.every) || PAUSE;
    let pause = usual;
    let timer = 0;
    const busy = () => part.querySelector("[data-busy='yes']") !== null;
    const later = () => {
      clearTimeout(timer);
      timer = setTimeout(renew, pause);
    };
    const renew = async () => {
      if (document.hidden) {
        document.addEventListener("visibilitychange", renew, { once: true });
        return;
      }
      try {
        const answer = await fetch(part.dataset.follow, { credentials: "same-origin" });
        // Whoever was logged out is sent to another page; that must not end up in this one.
        if (answer.ok && !answer.redirected) {
          const content = await answer.text();
          // A link that somebody has reached by keyboard stays under their hands.
          if (!part.contains(document.activeElement)) {
            part.innerHTML = content;
          }
          pause = usual;
        } else {
          pause = Math.min(2 * pause, LONGEST_PAUSE);
        }
      } catch {
        pause = Math.min(2 * pause, LONGEST_PAUSE);
      }
      if (busy()) {
        later();
      }
    };
    part.addEventListener("renew", () => {
      clearTimeout(timer);
      renew();
    });
    if (busy()) {
      later();
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-follow]").forEach(follow);
  });
})();
