// Why a run takes as long as it does: the findings, and the waiting by cause.

import { element, sentence } from "./elements.js";

/** Returns the verdict, the other findings, and the waiting by cause. */
export function whyList(why) {
  const lines = why.findings.length === 0 ? [{ line: why.verdict, advice: "" }] : why.findings;
  const items = lines.map(({ line, advice }) =>
    element(
      "li",
      { className: "why" },
      element("bdi", {}, line),
      ...(advice ? [element("p", { className: "hint-evidence" }, ...sentence(advice))] : []),
    ),
  );
  const waiting = why.waiting ? [element("p", { className: "hint-evidence", textContent: why.waiting })] : [];
  return element("div", { className: "why-list" }, element("ol", {}, ...items), ...waiting);
}
