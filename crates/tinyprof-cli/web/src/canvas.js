// Canvases with the resolution of the screen.

/**
 * Sets the size of a canvas in CSS pixels and returns its context, scaled so that units are CSS
 * pixels.
 */
export function prepared(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return context;
}

/** Calls `draw` when the width of `box` differs from `drawnWidth()`, at most once per frame. */
export function onWidth(box, drawnWidth, draw) {
  let waiting = false;
  const isDrawn = () => box.clientWidth === 0 || box.clientWidth === drawnWidth();
  new ResizeObserver(() => {
    if (waiting || isDrawn()) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (!isDrawn()) draw();
    });
  }).observe(box);
}

/** Returns the height of letters in CSS pixels: as of the smallest words of the style sheet. */
export function letterHeight() {
  return Math.round(0.75 * parseFloat(getComputedStyle(document.documentElement).fontSize));
}

/** Returns the font of all canvases; `scale` is for those that are drawn in pixels of the screen. */
export function font(scale = 1) {
  return `${letterHeight() * scale}px system-ui, sans-serif`;
}

/** Measures the time of `draw`, for the browser's own performance tools. */
export function timed(name, draw) {
  performance.mark(`${name} begins`);
  draw();
  performance.measure(name, `${name} begins`);
}
