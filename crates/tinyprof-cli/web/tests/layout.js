// What is wrong with the layout of a page as it is now: facts that are the same with the fonts of every machine.

/** Returns what is too wide, cut off, or printed over something else, each as a line. */
export function faults(page) {
  return page.evaluate(() => {
    const found = [];
    const words = (one) => `${one.tagName.toLowerCase()}.${one.className} "${one.textContent.trim().slice(0, 40)}"`;
    if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} wide on a screen of ${innerWidth}`);
    const isOutOfSight = (one) => one.closest(".unseen, .skip, [aria-hidden=true], .tooltip, noscript, select");
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const { parentElement: parent } = node;
      if (node.data.trim() === "" || isOutOfSight(parent) || parent.closest("script, style") || parent.getClientRects().length === 0) continue;
      texts.push({ node, parent });
    }
    for (const { parent } of texts) {
      const { overflowX, textOverflow } = getComputedStyle(parent);
      const isCut = overflowX === "hidden" && parent.scrollWidth > parent.clientWidth + 1;
      if (isCut && textOverflow !== "ellipsis") found.push(`${words(parent)} is cut off`);
      if (isCut && textOverflow === "ellipsis" && !parent.title && !parent.querySelector("[title]")) found.push(`${words(parent)} is shortened, and nothing has the rest`);
    }
    found.push(...overlaps(texts));
    return [...new Set(found)].slice(0, 20);

    /** The part of a text that is seen: what scrolls or sticks covers what is below it on purpose. */
    function boxesOf({ node, parent }) {
      if (parent.closest("thead, .bar")) return [];
      const range = document.createRange();
      range.selectNodeContents(node);
      let { left, top, right, bottom } = range.getBoundingClientRect();
      for (let at = parent; at && at !== document.body; at = at.parentElement) {
        if (getComputedStyle(at).overflowX === "visible") continue;
        const clip = at.getBoundingClientRect();
        [left, top, right, bottom] = [Math.max(left, clip.left), Math.max(top, clip.top), Math.min(right, clip.right), Math.min(bottom, clip.bottom)];
      }
      // Lines of a paragraph may touch.
      return right - left > 2 && bottom - top > 4 ? [{ left: left + 1, top: top + 3, right: right - 1, bottom: bottom - 3, parent }] : [];
    }

    function overlaps(all) {
      const boxes = all.flatMap(boxesOf).sort((a, b) => a.top - b.top);
      const pairs = [];
      boxes.forEach((one, at) => {
        for (let next = at + 1; next < boxes.length && boxes[next].top < one.bottom; next += 1) {
          const other = boxes[next];
          const isBeside = other.left >= one.right || other.right <= one.left;
          if (!isBeside && !one.parent.contains(other.parent) && !other.parent.contains(one.parent)) pairs.push(`${words(one.parent)} and ${words(other.parent)} overlap`);
        }
      });
      return pairs;
    }
  });
}
