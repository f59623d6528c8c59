// The page of a corpus: an upload that the service would refuse for its size is told before it is sent.
(() => {
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
    document.querySelectorAll("form[data-upload]").forEach(watch);
  });
})();
