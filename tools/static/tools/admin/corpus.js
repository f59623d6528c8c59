// The page of a corpus: the index's progress renews itself while a version is built, and an upload that
// the service would refuse for its size is told before it is sent.
(() => {
  const PAUSE = 1500;
  const LONGEST_PAUSE = 15000;

  const follow = (part) => {
    let pause = PAUSE;
    const busy = () => part.querySelector("[data-busy='yes']") !== null;
    const renew = async () => {
      try {
        const answer = await fetch(part.dataset.address, { credentials: "same-origin" });
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

  const watch = (form) => {
    const note = form.querySelector("[data-upload-note]");
    // The theme's script follows every file input and fails on one that is not its own.
    form.addEventListener("change", (event) => event.stopPropagation(), { capture: true });
    form.addEventListener("submit", (event) => {
      const files = [...form.querySelector("input[type='file']").files];
      const size = files.reduce((sum, file) => sum + file.size, 0);
      if (size > Number(form.dataset.upload)) {
        event.preventDefault();
        note.textContent = "Too much at once: choose fewer files.";
        return;
      }
      note.textContent = "Uploading…";
      form.querySelector("button").disabled = true;
    });
  };

  document.addEventListener("DOMContentLoaded", () => {
    const part = document.getElementById("corpus-versions");
    if (part) {
      follow(part);
    }
    document.querySelectorAll("form[data-upload]").forEach(watch);
  });
})();
