// Why a run takes as long as it does: the findings, and the waiting by cause.

import { element, sentence } from "./elements.js";

/** Returns the verdict, the other findings, and the waiting by cause. */
export function whyList(why) {
  const items = why.findings.map(({ line, advice }) =>
    element(
      "li",
      { className: "why" },
      element("bdi", {}, line),
      ...(advice ? [element("p", { className: "hint-evidence" }, ...sentence(advice))] : []),
    ),
  );
  const waiting = why.waiting ? [element("p", { className: "hint-evidence", textContent: why.waiting })] : [];
  const list = items.length === 0 ? element("p", { className: "why" }, element("bdi", {}, why.verdict)) : element("ol", {}, ...items);
  return element("div", { className: "why-list" }, list, ...waiting);
}
