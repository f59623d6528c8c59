// Logs that renew themselves (data-tail) stay where their reader scrolled to; who is at the end stays there.
(() => {
  const NEAR = 8;
  const places = new Map();

  const settle = (log) => {
    const place = places.get(log.dataset.tail);
    log.scrollTop = place === undefined ? log.scrollHeight : place;
  };

  document.addEventListener("scroll", (event) => {
    const log = event.target;
    if (!(log instanceof HTMLElement) || log.dataset.tail === undefined) {
      return;
    }
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR;
    if (atEnd) {
      places.delete(log.dataset.tail);
    } else {
      places.set(log.dataset.tail, log.scrollTop);
    }
  }, { capture: true });

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-tail]").forEach(settle);
    for (const part of document.querySelectorAll("[data-follow]")) {
      new MutationObserver(() => {
        part.querySelectorAll("[data-tail]").forEach(settle);
      }).observe(part, { childList: true });
    }
  });
})();
