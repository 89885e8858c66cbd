// Puts the pieces of a page that the server sends in the place of those there are.
"use strict";
for (const part of document.querySelectorAll("[data-live]")) {
  const events = new EventSource(part.dataset.live);
  events.addEventListener("piece", (e) => { part.innerHTML = e.data; });
  events.addEventListener("end", () => { events.close(); location.reload(); });
  events.addEventListener("problem", () => { events.close(); });
}
