// Puts the pieces of a page that the server sends in the place of those there are.
"use strict";
for (const part of document.querySelectorAll("[data-live]")) {
  const events = new EventSource(part.dataset.live);
  events.addEventListener("piece", (e) => { put(part, e.data); });
  events.addEventListener("end", () => { events.close(); location.reload(); });
  const again = () => { events.close(); setTimeout(() => location.reload(), 5000 + 5000 * Math.random()); };
  events.addEventListener("problem", again);
  events.addEventListener("error", () => { if (events.readyState === EventSource.CLOSED) again(); });
}
// Keeps for the one who looks the link that has the focus, and the place that a wide table is scrolled to.
function put(part, html) {
  const focus = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const scrolled = [...part.querySelectorAll("figure")].map((f) => f.scrollLeft);
  part.innerHTML = html;
  part.querySelectorAll("figure").forEach((f, i) => { f.scrollLeft = scrolled[i] || 0; });
  if (focus !== null) [...part.querySelectorAll("a")].find((a) => a.getAttribute("href") === focus)?.focus({ preventScroll: true });
}
