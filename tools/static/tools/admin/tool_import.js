// A file that the service would refuse for its size is told before it is sent.
(() => {
  const form = document.querySelector("form[data-largest]");
  if (!form) {
    return;
  }
  const note = form.querySelector("[data-note]");
  form.addEventListener("submit", (event) => {
    const [file] = form.querySelector("input[type='file']").files;
    if (file && file.size > Number(form.dataset.largest)) {
      event.preventDefault();
      note.textContent = "The file is larger than 2 MB. Export fewer tools at once.";
      note.scrollIntoView({ block: "center" });
    }
  });
})();
