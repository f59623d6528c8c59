// Parts of a page that renew themselves while something is under way: an element with data-follow holds
// the address of its content, and content with data-busy="yes" is not the last.
(() => {
  const PAUSE = 1500;
  const LONGEST_PAUSE = 15000;

  const follow = (part) => {
    let pause = PAUSE;
    const busy = () => part.querySelector("[data-busy='yes']") !== null;
    const renew = async () => {
      try {
        const answer = await fetch(part.dataset.follow, { credentials: "same-origin" });
        // Whoever was logged out is sent to another page; that must not end up in this one.
        if (answer.ok && !answer.redirected) {
          part.innerHTML = await answer.text();
          pause = PAUSE;
        } else {
          pause = Math.min(2 * pause, LONGEST_PAUSE);
        }
      } catch {
        pause = Math.min(2 * pause, LONGEST_PAUSE);
      }
      if (busy()) {
        setTimeout(renew, pause);
      }
    };
    if (busy()) {
      setTimeout(renew, pause);
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-follow]").forEach(follow);
  });
})();
