// The theme's boxes for choosing rows take the place of a select and lose its label. Programs that read pages
// aloud then have nothing to say; here they get the label's words.
(() => {
  const words = (select) => {
    const label = select.labels?.[0];
    return label ? label.textContent.replace(/[\s:*]+$/, "").trim() : select.name;
  };

  const name = (select) => {
    const box = select.nextElementSibling;
    if (!box?.classList.contains("select2")) {
      return;
    }
    const told = words(select);
    box.querySelectorAll(".select2-search__field, [role='combobox'], [role='textbox']").forEach((part) => {
      part.removeAttribute("aria-labelledby");
      part.setAttribute("aria-label", told);
    });
    // It holds more than entries, so that it is no list to those programs.
    box.querySelectorAll(".select2-selection__rendered, .select2-selection__rendered > li").forEach((part) => {
      if (part.tagName === "UL" || part.tagName === "LI") {
        part.setAttribute("role", "none");
      }
    });
  };

  // The boxes are made while the page loads, and anew for rows that are added later.
  const nameAll = () => document.querySelectorAll("select.select2-hidden-accessible").forEach(name);
  window.addEventListener("load", () => {
    nameAll();
    new MutationObserver(nameAll).observe(document.body, { childList: true, subtree: true });
  });
})();
