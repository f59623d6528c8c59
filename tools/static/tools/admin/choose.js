// Many boxes at once: an element with data-choose names them, its buttons tick all or none of those that are shown, and it counts them.
(() => {
  const watch = (bar) => {
    const boxes = [...document.querySelectorAll(`input[name='${bar.dataset.choose}']`)].filter((box) => !box.disabled);
    const filter = bar.querySelector("[data-filter]");
    const rows = [...document.querySelectorAll("[data-row]")].map((row) => ({ row, words: row.textContent.toLowerCase() }));
    const hidden = (box) => box.closest("[data-row]")?.hidden === true;
    const count = () => {
      const ticked = boxes.filter((box) => box.checked).length;
      const away = boxes.filter((box) => box.checked && hidden(box)).length;
      bar.querySelector("[data-count]").textContent =
        `${ticked} of ${boxes.length} chosen${away ? `, ${away} of them not shown` : ""}`;
    };
    bar.addEventListener("click", (event) => {
      const take = event.target.dataset.take;
      if (take) {
        boxes.filter((box) => !hidden(box)).forEach((box) => { box.checked = take === "all"; });
        count();
      }
    });
    filter?.addEventListener("input", () => {
      const wanted = filter.value.toLowerCase().split(/\s+/);
      rows.forEach(({ row, words }) => { row.hidden = !wanted.every((word) => words.includes(word)); });
      bar.querySelectorAll("[data-take]").forEach((button) => {
        button.textContent = `Choose ${button.dataset.take}${filter.value.trim() ? " shown" : ""}`;
      });
      count();
    });
    // Enter looks; it does not save.
    filter?.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
      }
    });
    boxes.forEach((box) => box.addEventListener("change", count));
    bar.hidden = false;
    count();
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-choose]").forEach(watch);
  });
})();
