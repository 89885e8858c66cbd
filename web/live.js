// Puts the pieces of a page that the server sends in the place of those there are.
"use strict";
for (const part of document.querySelectorAll("[data-live]")) {
  const events = new EventSource(part.dataset.live);
  events.addEventListener("piece", (e) => { part.innerHTML = e.data; });
  events.addEventListener("end", () => { events.close(); location.reload(); });
  const again = () => { events.close(); setTimeout(() => location.reload(), 5000 + 5000 * Math.random()); };
  events.addEventListener("problem", again);
  events.addEventListener("error", () => { if (events.readyState === EventSource.CLOSED) again(); });
}
