// Puts the pieces of a page that the server sends in the place of those there are.
"use strict";
// replace keeps what a person has opened, scrolled to, focused or chosen in a piece, and leaves text alone that is
// selected.
function replace(part, html) {
  const chosen = getSelection();
  if (!chosen.isCollapsed && part.contains(chosen.anchorNode)) return;
  const kept = (of) => [...of.querySelectorAll("details, figure, pre, a, summary, input")];
  const name = (e) => e.getAttribute("href") ?? e.value;
  const boxes = new Set([...part.querySelectorAll("input:checked")].map(name));
  const old = kept(part).map((e) => ({ open: e.open, left: e.scrollLeft, top: e.scrollTop, focused: e === document.activeElement }));
  const focused = part.contains(document.activeElement) ? name(document.activeElement) : null;
  part.innerHTML = html;
  kept(part).forEach((e, i) => {
    if (e.type === "checkbox") e.checked = boxes.has(e.value);
    // A link or a box keeps the focus wherever it went; what has no name is known by its place.
    if (focused ? name(e) === focused : old[i]?.focused) e.focus({ preventScroll: true });
    if (i >= old.length) return;
    if (e.localName === "details" && old[i].open !== undefined) e.open = old[i].open;
    if (old[i].left || old[i].top) { e.scrollLeft = old[i].left; e.scrollTop = old[i].top; }
  });
}
for (const part of document.querySelectorAll("[data-live]")) {
  const events = new EventSource(part.dataset.live);
  // The first of several lines is the id of the element that the others are for.
  events.addEventListener("piece", (e) => {
    const cut = e.data.indexOf("\n");
    const to = cut < 0 ? part : document.getElementById(e.data.slice(0, cut));
    if (to) replace(to, e.data.slice(cut + 1));
  });
  events.addEventListener("more", (e) => {
    part.insertAdjacentHTML("beforeend", e.data);
    while (part.childElementCount > 2000) part.firstElementChild.remove();
  });
  const again = (least) => { events.close(); setTimeout(() => location.reload(), least + least * Math.random()); };
  events.addEventListener("end", () => { if (part.dataset.stay === undefined) again(500); else events.close(); });
  events.addEventListener("problem", () => again(5000));
  events.addEventListener("error", () => { if (events.readyState === EventSource.CLOSED) again(5000); });
}
