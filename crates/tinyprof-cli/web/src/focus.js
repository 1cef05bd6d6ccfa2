// The focus stays where it was when what has it is made anew: a reader with a keyboard would
// otherwise begin at the top of the page after each Enter.

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";

/** Keeps the focus in the page. `fallback` gets it if what had it is gone for good. */
export function keepFocus(fallback) {
  let last = null;
  document.addEventListener("focusin", ({ target }) => {
    if (target !== fallback) last = placeOfFocus(target);
  });
  // A click beside everything takes the focus away on purpose.
  document.addEventListener("pointerdown", () => (last = null));
  const observer = new MutationObserver(() => {
    if (last === null || document.activeElement !== document.body || isShown(last.element)) return;
    const again = sameAs(last) ?? fallback;
    last = null;
    again.focus({ preventScroll: true });
  });
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ["hidden"] });
}

function isShown(element) {
  return element.isConnected && element.getClientRects().length > 0;
}

/** Returns what an element is found again by: what is around it, and which of its kind it is. */
function placeOfFocus(element) {
  const around = [];
  for (let at = element.parentElement; at; at = at.parentElement) around.push({ box: at, number: alikeIn(at, element).indexOf(element) });
  return { element, around };
}

function alikeIn(box, element) {
  const nameOf = (one) => `${one.tagName} ${one.getAttribute("aria-label") ?? one.textContent}`;
  const name = nameOf(element);
  return [...box.querySelectorAll(FOCUSABLE)].filter((one) => nameOf(one) === name);
}

function sameAs({ element, around }) {
  const { box, number } = around.find(({ box: one }) => isShown(one)) ?? {};
  if (!box) return undefined;
  const alike = alikeIn(box, element).filter(isShown);
  return alike[Math.min(number, alike.length - 1)];
}
