// A heat map on a canvas: rows x columns of numbers, with a cursor for pointer and keys. If there
// are more columns or rows than pixels, a pixel shows the most prominent of its values, so that no
// single rank is hidden.

import { cssColor } from "./colors.js";
import { font, letterHeight, onWidth, prepared } from "./canvas.js";
import { fitted } from "./names.js";
import { hush, say, tell } from "./tooltip.js";
import { token } from "./theme.js";

export class Grid {
  /**
   * `options.label`: the description for screen readers. `options.left`: pixels for the names of
   * rows. `options.rowHeight`: in pixels, more where few rows are on a tall screen; or
   * `options.height()` of all rows. `options.onRange()`: called when other columns are shown.
   * `options.tell(row, column)`: returns lines about a cell.
   * `options.pick(row, column)`: called when a cell is chosen.
   */
  constructor(options) {
    this.options = options;
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${options.label}. Arrow keys move the cursor, Enter selects, plus and minus zoom.`);
    this.box = document.createElement("div");
    this.box.className = "grid";
    this.box.append(this.canvas);
    this.cursor = null;
    this.#listen();
    onWidth(this.box, () => this.drawnWidth, () => this.draw());
  }

  /**
   * Sets the content. `numbers(row)`: the row's numbers. `color(number, row)`: packed; the greatest
   * of the numbers that share a pixel is shown, or with `isMean` their mean. `order`: the column at each position, or null.
   * `marks(row)`: a column to ring, or null. `selectedColumn`: the position of the selected column,
   * or null. A newly selected column comes into view. Cells without a number are hatched, unless
   * `gapsAreZero`.
   */
  show(content) {
    const sameColumns = this.content?.columns === content.columns;
    const selected = content.selectedColumn ?? null;
    const isNew = selected !== null && selected !== (this.content?.selectedColumn ?? null);
    this.content = content;
    if (!sameColumns) this.range = [0, content.columns];
    if (isNew) this.#bringIntoView(selected);
    this.cursor = null;
    this.draw();
  }

  get #plot() {
    // On a phone, the names get less room.
    const left = Math.min(this.options.left, this.box.clientWidth * 0.34);
    const right = Math.min(this.options.right ?? 0, this.box.clientWidth * 0.19);
    const { rowHeight } = this.options;
    const tall = Math.min(1.75 * rowHeight, (innerHeight * 0.6) / this.content.rows);
    const height = this.options.height?.() ?? Math.round(this.content.rows * Math.max(rowHeight, tall));
    return { left, top: letterHeight() + 6, width: Math.max(20, this.box.clientWidth - left - right), height };
  }

  draw() {
    if (!this.content || this.box.clientWidth === 0) return;
    this.drawnWidth = this.box.clientWidth;
    const { left, top, width, height } = this.#plot;
    const context = prepared(this.canvas, this.box.clientWidth, top + height + 2);
    context.font = font();
    this.#drawCells(context, left, top, width, height);
    this.#drawWords(context, left, top, width, height);
    this.#drawSelected(context, left, top, width, height);
    if (this.cursor) this.#drawCursor(context);
  }

  #bringIntoView(column) {
    const [first, end] = this.range;
    if (column >= first && column < end) return;
    const start = Math.max(0, Math.min(this.content.columns - (end - first), column - Math.floor((end - first) / 2)));
    this.range = [start, start + end - first];
  }

  /** Frames the selected row and the selected column. */
  #drawSelected(context, left, top, width, height) {
    const { rows, isSelected, selectedColumn = null } = this.content;
    const [first, end] = this.range;
    const frames = [];
    for (let row = 0; row < rows; row += 1) {
      if (isSelected?.(row)) frames.push([left, top + (row / rows) * height, width, height / rows]);
    }
    if (selectedColumn !== null && selectedColumn >= first && selectedColumn < end) {
      const across = width / (end - first);
      frames.push([left + (selectedColumn - first) * across, top, across, height]);
    }
    for (const [x, y, w, h] of frames) {
      for (const [color, line] of [[token("--paper"), 4], [token("--accent"), 2]]) {
        context.strokeStyle = color;
        context.lineWidth = line;
        // The frame of a narrow column keeps away from it, so that its colours stay visible.
        const [across, down] = [w, h].map((size) => (size < 6 ? 3 : 1));
        context.strokeRect(x - across, y - down, w + 2 * across, h + 2 * down);
      }
    }
  }

  #drawCells(context, left, top, width, height) {
    const { rows, numbers, color, order, isMean = false } = this.content;
    const [first, end] = this.range;
    const across = Math.max(1, Math.min(end - first, Math.round(width)));
    const down = Math.max(1, Math.min(rows, Math.round(height)));
    context.fillStyle = this.content.gapsAreZero ? token("--absent") : hatched(context);
    context.fillRect(left, top, width, height);
    const image = new ImageData(across, down);
    const pixels = new Uint32Array(image.data.buffer);
    const chosen = new Float64Array(across);
    const counts = new Float64Array(across);
    const place = Uint32Array.from({ length: end - first }, (_, at) => Math.floor((at * across) / (end - first)));
    let row = 0;
    for (let y = 0; y < down; y += 1) {
      chosen.fill(NaN);
      counts.fill(0);
      for (const until = Math.max(row + 1, Math.floor(((y + 1) * rows) / down)); row < until && row < rows; row += 1) {
        const values = numbers(row);
        for (let column = first; column < end; column += 1) {
          const value = values[order ? order[column] : column];
          const x = place[column - first];
          // NaN is not greater than any number, nor less.
          if (isMean && value === value) chosen[x] = counts[x] > 0 ? chosen[x] + value : value;
          else if (value === value && !(value <= chosen[x])) chosen[x] = value;
          counts[x] += value === value ? 1 : 0;
        }
      }
      for (let x = 0; x < across; x += 1) {
        const shared = isMean ? counts[x] : 1;
        pixels[y * across + x] = chosen[x] === chosen[x] ? color(chosen[x] / shared, row - 1) : 0;
      }
    }
    const cells = new OffscreenCanvas(across, down);
    cells.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(cells, left, top, width, height);
  }

  #drawWords(context, left, top, width, height) {
    const { rows, rowText, rightText, marks, axis, isSelected } = this.content;
    const rowHeight = height / rows;
    context.fillStyle = token("--muted");
    context.textBaseline = "middle";
    for (const [part, align] of [[0, "left"], [0.5, "center"], [1, "right"]]) {
      const column = Math.min(this.range[1] - 1, Math.floor(this.range[0] + part * (this.range[1] - this.range[0])));
      if (part === 0.5 && (this.range[1] - this.range[0] < 8 || width < 320)) continue;
      context.textAlign = align;
      if (column >= 0) context.fillText(axis(column), left + part * width, letterHeight() / 2 + 2);
    }
    const step = Math.max(1, Math.ceil((letterHeight() + 2) / rowHeight));
    const selected = Array.from({ length: rows }, (_, row) => row).find((row) => isSelected?.(row));
    const isNamed = (row) => row === selected || (row % step === 0 && (selected === undefined || Math.abs(row - selected) >= step));
    for (let row = 0; row < rows; row += 1) {
      if (!isNamed(row)) continue;
      const y = top + (row + 0.5) * rowHeight;
      context.fillStyle = isSelected?.(row) ? token("--accent") : token("--ink");
      context.textAlign = "right";
      context.fillText(fitted(context, `${isSelected?.(row) ? "▸ " : ""}${rowText(row)}`, left - 8), left - 6, y);
      if (rightText) {
        context.fillStyle = token("--muted");
        context.textAlign = "left";
        // The ring of the last rank is beyond the edge by its radius.
        context.fillText(rightText(row), left + width + 10, y);
      }
    }
    if (!marks) return;
    for (let row = 0; row < rows; row += 1) {
      const column = marks(row);
      if (column === null || column < this.range[0] || column >= this.range[1]) continue;
      const x = left + ((column + 0.5 - this.range[0]) / (this.range[1] - this.range[0])) * width;
      for (const [color, line] of [["#fff", 3], ["#000", 1.2]]) {
        context.strokeStyle = color;
        context.lineWidth = line;
        context.beginPath();
        context.arc(x, top + (row + 0.5) * rowHeight, Math.min(4, rowHeight / 2.5), 0, 2 * Math.PI);
        context.stroke();
      }
    }
  }

  /** The number of columns that share a pixel. */
  get columnsPerPixel() {
    return (this.range[1] - this.range[0]) / this.#plot.width;
  }

  #place() {
    const { left, top, width, height } = this.#plot;
    const columns = this.range[1] - this.range[0];
    const x = left + ((this.cursor.column - this.range[0]) / columns) * width;
    const y = top + (this.cursor.row / this.content.rows) * height;
    return { x, y, width: Math.max(3, width / columns), height: Math.max(3, height / this.content.rows) };
  }

  #drawCursor(context) {
    const { x, y, width, height } = this.#place();
    for (const [color, line] of [["#000", 3], ["#fff", 1.5]]) {
      context.strokeStyle = color;
      context.lineWidth = line;
      context.strokeRect(x, y, width, height);
    }
  }

  #cellAt(event) {
    if (!this.content || this.content.rows === 0) return null;
    const { left, top, width, height } = this.#plot;
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top - top) / height) * this.content.rows);
    const part = (event.clientX - box.left - left) / width;
    const column = Math.floor(this.range[0] + part * (this.range[1] - this.range[0]));
    if (row < 0 || row >= this.content.rows || part >= 1) return null;
    return { row, column: part < 0 ? null : column };
  }

  /** Shows fewer or more columns around `column`: the selected one, else the middle. */
  zoom(factor, column = this.content.selectedColumn ?? (this.range[0] + this.range[1]) / 2) {
    const columns = this.content.columns;
    const wanted = Math.max(Math.min(8, columns), Math.min(columns, (this.range[1] - this.range[0]) * factor));
    const part = (column - this.range[0]) / (this.range[1] - this.range[0]);
    const first = Math.round(Math.max(0, Math.min(columns - wanted, column - part * wanted)));
    this.range = [first, Math.min(columns, first + Math.round(wanted))];
    this.options.onRange?.();
    this.draw();
  }

  #listen() {
    this.canvas.addEventListener("pointermove", (event) => {
      const cell = this.#cellAt(event);
      if (cell === null || cell.column === null) hush();
      else tell(this.options.tell(cell.row, this.#source(cell.column)), event.clientX, event.clientY);
    });
    this.canvas.addEventListener("pointerleave", hush);
    this.canvas.addEventListener("click", (event) => {
      const cell = this.#cellAt(event);
      if (cell) this.options.pick?.(cell.row, cell.column === null ? null : this.#source(cell.column));
    });
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        const cell = this.#cellAt(event);
        if (!event.ctrlKey || cell === null || cell.column === null) return;
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, cell.column);
      },
      { passive: false },
    );
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    this.canvas.addEventListener("blur", () => {
      this.cursor = null;
      hush();
      this.draw();
    });
  }

  #source(column) {
    return this.content.order ? this.content.order[column] : column;
  }

  #key(event) {
    if (!this.content || this.content.rows === 0 || this.content.columns === 0) return;
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity], End: [0, Infinity] };
    const cursor = this.cursor ?? { row: 0, column: this.range[0] - 1 };
    if (moves[event.key]) {
      const [down, right] = moves[event.key];
      const row = Math.max(0, Math.min(this.content.rows - 1, cursor.row + down));
      const column = Math.max(this.range[0], Math.min(this.range[1] - 1, cursor.column + right));
      this.cursor = { row, column };
    } else if (event.key === "+" || event.key === "-") {
      this.zoom(event.key === "-" ? 2 : 0.5, this.cursor ? cursor.column : undefined);
    } else if (event.key === "Enter" && this.cursor) {
      this.options.pick?.(cursor.row, this.#source(cursor.column));
    } else return;
    event.preventDefault();
    this.draw();
    if (!this.cursor) return;
    const lines = this.options.tell(this.cursor.row, this.#source(this.cursor.column));
    const box = this.canvas.getBoundingClientRect();
    const { x, y, height } = this.#place();
    tell(lines, box.left + x, box.top + y + height);
    say(lines);
  }
}

/** Returns the pattern of cells without a value. */
export function hatched(context) {
  const tile = new OffscreenCanvas(6, 6);
  const drawn = tile.getContext("2d");
  drawn.fillStyle = token("--absent");
  drawn.fillRect(0, 0, 6, 6);
  drawn.strokeStyle = token("--hatch");
  for (const offset of [-6, 0, 6]) {
    drawn.moveTo(offset, 6);
    drawn.lineTo(offset + 6, 0);
  }
  drawn.stroke();
  return context.createPattern(tile, "repeat");
}

/** The stop of a legend for cells without a value. */
export const NEVER = ["never visited", null];

/**
 * Returns a scale in words and colours: `stops` are pairs of text and packed colour, or null for
 * the pattern of cells without a value.
 */
export function legend(title, stops) {
  const box = document.createElement("div");
  box.className = "legend";
  const words = document.createElement("span");
  words.textContent = title;
  box.append(words);
  for (const [text, packed] of stops) {
    const item = document.createElement("span");
    const swatch = document.createElement("i");
    if (packed === null) swatch.className = "hatched";
    else swatch.style.background = typeof packed === "string" ? packed : cssColor(packed);
    item.append(swatch, text);
    box.append(item);
  }
  return box;
}
