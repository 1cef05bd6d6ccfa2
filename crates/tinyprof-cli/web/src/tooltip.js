// A description of the cell under the pointer or the keyboard cursor: shown beside it, and for
// screen readers.

const MARGIN = 12;

/** Shows these lines at a position in the window. */
export function tell(lines, x, y) {
  const box = document.getElementById("tooltip");
  box.replaceChildren(
    ...lines.filter(Boolean).map((line, at) => {
      const row = document.createElement(at === 0 ? "strong" : "span");
      row.textContent = line;
      return row;
    }),
  );
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(x + MARGIN, innerWidth - width - 4))}px`;
  box.style.top = `${y + MARGIN + height > innerHeight ? Math.max(4, y - height - MARGIN) : y + MARGIN}px`;
}

/** Reports these lines to screen readers only. */
export function say(lines) {
  document.getElementById("live").textContent = lines.filter(Boolean).join(", ");
}

export function hush() {
  document.getElementById("tooltip").hidden = true;
}
