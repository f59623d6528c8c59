// Many boxes at once: an element with data-choose names them, its buttons tick all or none, and it counts them.
(() => {
  const watch = (bar) => {
    const boxes = [...document.querySelectorAll(`input[name='${bar.dataset.choose}']`)].filter((box) => !box.disabled);
    const count = () => {
      const ticked = boxes.filter((box) => box.checked).length;
      bar.querySelector("[data-count]").textContent = `${ticked} of ${boxes.length} chosen`;
    };
    bar.addEventListener("click", (event) => {
      const take = event.target.dataset.take;
      if (take) {
        boxes.forEach((box) => { box.checked = take === "all"; });
        count();
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
