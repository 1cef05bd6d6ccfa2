// The data of a profile in the page: base64 of deflated bytes, which are the length of a JSON text,
// the text, and columns.

const ABSENT = 0xffffff;

/** Returns the JSON text of a data element as a value, and its columns. */
export async function unpacked(element) {
  const packed = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return { head, bytes: bytes.subarray(4 + length) };
}

/** Returns the numbers of a column; NaN for absent ones. */
export function numbersOf(bytes, { at, count, min, step }) {
  const numbers = new Float64Array(count);
  for (let i = 0; i < count; i += 1) {
    const code = bytes[at + i] | (bytes[at + count + i] << 8) | (bytes[at + 2 * count + i] << 16);
    numbers[i] = code === ABSENT ? NaN : min + code * step;
  }
  return numbers;
}

/**
 * Returns the exact whole numbers of a column, each of 7 bits a byte, in `numbers`. `base` is where its columns begin.
 */
export function exactOf(bytes, { at, count }, base, numbers = new Float64Array(count)) {
  let from = base + at;
  for (let i = 0; i < count; i += 1) {
    let byte = bytes[from];
    let number = byte & 127;
    from += 1;
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = bytes[from];
      number += (byte & 127) * scale;
      from += 1;
    }
    numbers[i] = number;
  }
  return numbers;
}
