// The theme shows a page when its scripts have run, too late for the browser: a field that is to be typed in at once
// (autofocus) cannot be focused while it is hidden. So it is focused when the page is shown.
(() => {
  document.addEventListener("alpine:initialized", () => {
    // After the theme's own step that shows the page, which waits in the same queue.
    queueMicrotask(() => {
      if (document.activeElement === document.body) {
        document.querySelector("[autofocus]")?.focus();
      }
    });
  });
})();
