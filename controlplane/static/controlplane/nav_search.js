// The search of the side bar without a mouse: Enter opens the first that was found, the arrows walk through all.
// The theme's own handlers look for a list that its results are not.
"use strict";

document.addEventListener("keydown", (event) => {
  const field = document.getElementById("nav-filter");
  const found = [...document.querySelectorAll("#search-results a")];
  const place = found.indexOf(event.target);
  if (event.target !== field && place < 0) return;
  const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const opens = event.key === "Enter" && event.target === field;
  if (!way && !opens) return;
  event.preventDefault();
  event.stopPropagation();
  if (opens) found[0]?.click();
  else (found[place + way] ?? (place + way < 0 ? field : event.target)).focus();
}, true);
