// Buttons with data-copy put the text of the element they name on the clipboard.
// They are hidden until this script runs, so that none is shown that would do nothing.
(() => {
  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };

  // Says whether the text is on the clipboard; it is left selected when it is not.
  const copy = async (element) => {
    if (navigator.clipboard && window.isSecureContext) {
      try {
        await navigator.clipboard.writeText(element.textContent);
        return true;
      } catch {
        // Not allowed here, or the page is not in front: the way below may still work.
      }
    }
    // Without TLS browsers offer no clipboard: select the text and let the browser copy that.
    select(element);
    try {
      return document.execCommand("copy");
    } catch {
      return false;
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("button[data-copy]")) {
      const label = button.querySelector("[data-label]");
      const before = label.textContent;
      button.hidden = false;
      let reset;
      button.addEventListener("click", async () => {
        const copied = await copy(document.getElementById(button.dataset.copy));
        label.textContent = copied ? "Copied" : "Press Ctrl-C";
        clearTimeout(reset);
        reset = setTimeout(() => { label.textContent = before; }, copied ? 2000 : 10000);
      });
    }
  });
})();
