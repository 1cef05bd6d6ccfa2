// What is narrower than a pixel: columns of all lanes in one image. A rectangle of its own for each
// of a hundred thousand columns takes a canvas most of a second.

/** Returns a colour of the style sheet as a pixel of an image. */
export function packed(color) {
  const { r, g, b } = d3.rgb(color);
  return (0xff000000 | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;
}

/** An image over a part of a canvas, transparent at first. Places are in pixels of the canvas. */
export class Overlay {
  constructor({ left, top, width, height }) {
    this.scale = window.devicePixelRatio || 1;
    [this.left, this.top] = [Math.floor(left * this.scale), Math.floor(top * this.scale)];
    this.width = Math.max(1, Math.ceil((left + width) * this.scale) - this.left);
    this.height = Math.max(1, Math.ceil((top + height) * this.scale) - this.top);
    this.pixels = new Uint32Array(this.width * this.height);
  }

  /** Fills a rectangle, at least a pixel wide and high, with a packed colour. */
  fill(x, y, wide, high, color) {
    const { scale, left, top, width, height, pixels } = this;
    const x0 = Math.max(0, Math.round(x * scale) - left);
    const y0 = Math.max(0, Math.round(y * scale) - top);
    const x1 = Math.min(width, Math.max(x0 + 1, Math.round((x + wide) * scale) - left));
    const y1 = Math.min(height, Math.max(y0 + 1, Math.round((y + high) * scale) - top));
    for (let row = y0 * width; row < y1 * width; row += width) {
      for (let at = row + x0; at < row + x1; at += 1) pixels[at] = color;
    }
  }

  drawOn(context) {
    const image = new OffscreenCanvas(this.width, this.height);
    image.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(this.pixels.buffer), this.width, this.height), 0, 0);
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(image, this.left, this.top);
    context.restore();
  }
}

/** The columns of a lane, by level: how much of a pixel's time visits take, and the colour of most of it. */
export class Columns {
  constructor(left, width) {
    this.first = Math.floor(left);
    this.count = Math.ceil(left + width) - this.first + 1;
    this.levels = [];
  }

  /** Adds a visit. Those of a level come from left to right. */
  add(level, x, wide, color) {
    const column = Math.floor(x) - this.first;
    const sums = (this.levels[level] ??= this.#empty());
    if (sums.column !== column) {
      sums.column = column;
      sums.most = 0;
      sums.used = 0;
    }
    // A pixel has a few colours: to look at each is faster than a map.
    let at = 0;
    while (at < sums.used && sums.of[at] !== color) at += 1;
    if (at === sums.used) {
      sums.used += 1;
      sums.of[at] = color;
      sums.wide[at] = 0;
    }
    sums.wide[at] += wide;
    sums.parts[column] += wide;
    if (sums.wide[at] <= sums.most) return;
    sums.most = sums.wide[at];
    sums.colors[column] = color;
  }

  /** Returns a level without visits; `of` and `wide` are the colours of the current column and their widths. */
  #empty() {
    return { parts: new Float32Array(this.count), colors: new Uint32Array(this.count), column: -1, of: [], wide: [], used: 0, most: 0 };
  }

  /** Draws the columns from the lower edge of their level's place up. */
  drawOn(overlay, placeOf) {
    this.levels.forEach(({ parts, colors }, level) => {
      const { y, height } = placeOf(level);
      for (let column = 0; column < this.count; column += 1) {
        if (colors[column] === 0) continue;
        const high = Math.max(2, Math.min(1, parts[column]) * height);
        overlay.fill(this.first + column, y + height - high, 1, high, colors[column]);
      }
    });
  }
}
