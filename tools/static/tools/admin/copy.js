// Buttons with data-copy put the text of the element they name on the clipboard.
// They are hidden until this script runs, so that none is shown that would do nothing.
(() => {
  const copy = async (element) => {
    if (navigator.clipboard && window.isSecureContext) {
      await navigator.clipboard.writeText(element.textContent);
      return;
    }
    // Without TLS browsers offer no clipboard: select the text and let the browser copy that.
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    document.execCommand("copy");
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("button[data-copy]")) {
      const label = button.querySelector("[data-label]");
      const before = label.textContent;
      button.hidden = false;
      button.addEventListener("click", async () => {
        await copy(document.getElementById(button.dataset.copy));
        label.textContent = "Copied";
        setTimeout(() => { label.textContent = before; }, 2000);
      });
    }
  });
})();
