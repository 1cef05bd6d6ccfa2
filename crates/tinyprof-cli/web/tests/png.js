// Reads the pictures that Chromium takes: PNG with 8 bits a channel, without a palette, not interlaced.

import assert from "node:assert/strict";
import { inflateSync } from "node:zlib";

/** Returns width, height, and the bytes of all pixels with the number of channels of each. */
export function decoded(png) {
  const chunks = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push([png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + length)]);
    at += length + 12;
  }
  const of = (kind) => chunks.filter(([name]) => name === kind).map(([, bytes]) => bytes);
  const [header] = of("IHDR");
  const [width, height, bits, color, , , interlaced] = [header.readUInt32BE(0), header.readUInt32BE(4), ...header.subarray(8)];
  assert.ok(bits === 8 && (color === 2 || color === 6) && interlaced === 0, "a picture of Chromium has 8 bits of three or four channels");
  const channels = color === 2 ? 3 : 4;
  return { width, height, channels, pixels: unfiltered(inflateSync(Buffer.concat(of("IDAT"))), width * channels, height, channels) };
}

/** Undoes the filter of each line, which its first byte names. */
function unfiltered(bytes, line, height, channels) {
  const pixels = new Uint8Array(line * height);
  for (let y = 0; y < height; y += 1) {
    const [filter, from, to] = [bytes[y * (line + 1)], y * (line + 1) + 1, y * line];
    for (let x = 0; x < line; x += 1) {
      const left = x >= channels ? pixels[to + x - channels] : 0;
      const up = y > 0 ? pixels[to + x - line] : 0;
      let predicted = 0;
      if (filter === 1) predicted = left;
      else if (filter === 2) predicted = up;
      else if (filter === 3) predicted = (left + up) >> 1;
      else if (filter === 4) predicted = paeth(left, up, x >= channels && y > 0 ? pixels[to + x - line - channels] : 0);
      pixels[to + x] = bytes[from + x] + predicted;
    }
  }
  return pixels;
}

function paeth(left, up, corner) {
  const [byLeft, byUp, byCorner] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}
