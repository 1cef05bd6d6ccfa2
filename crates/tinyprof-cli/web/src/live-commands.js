// Commands to a running job: buttons, conditions, and what came of them.

import { element } from "./elements.js";
import { time } from "./numbers.js";

const VERBS = [
  ["save", "Save", "A profile of the job as it is now"],
  ["record", "Record", "Keep every visit and message for some seconds"],
  ["hold", "Hold", "Ranks wait where a region or call of MPI ends"],
  ["release", "Release", "End a hold or a recording"],
];

export class LiveCommands {
  constructor() {
    this.seconds = element("input", { type: "number", min: 0.1, max: 60, step: "any", value: 5, className: "rank-field" });
    const buttons = VERBS.map(([verb, text, title]) =>
      element("button", { type: "button", textContent: text, title, onclick: () => this.give({ verb, seconds: Number(this.seconds.value) }) }),
    );
    const seconds = element("label", { className: "picker" }, element("span", {}, "Seconds"), this.seconds);
    this.condition = element("input", { type: "text", placeholder: "imbalance[\"solve\"] > 0.3", size: 28, "aria-label": "Condition" });
    this.action = element("select", { "aria-label": "What to do" }, ...["notify", "save", "record", "hold"].map((value) => element("option", { value, textContent: value })));
    const when = element(
      "form",
      { className: "controls" },
      element("label", { className: "picker" }, element("span", {}, "When"), this.condition),
      this.action,
      element("button", { type: "submit", textContent: "Wait for it" }),
    );
    when.onsubmit = (event) => {
      event.preventDefault();
      this.give({ verb: this.action.value, seconds: Number(this.seconds.value), when: this.condition.value });
    };
    this.said = element("p", { className: "note", role: "status" });
    this.list = element("ul", { className: "marks" });
    this.box = element("div", {}, element("div", { className: "controls" }, ...buttons, seconds), when, this.said, this.list);
  }

  async give(order) {
    const what = order.when ? `${order.verb} when ${order.when}` : order.verb;
    this.said.textContent = `${what} …`;
    try {
      const answer = await fetch("command", { method: "POST", body: JSON.stringify(order) });
      const { begun, why } = await answer.json();
      this.said.textContent = begun ? `${what}: ${order.when ? "is waited for" : "begun"}` : `${what}: ${why}`;
    } catch (error) {
      this.said.textContent = `${what}: tinyprof live does not answer (${error.message})`;
    }
  }

  /** Shows what came of commands, the newest first. */
  show(marks) {
    if (marks.length === this.count) return;
    this.count = marks.length;
    this.list.replaceChildren(
      ...[...marks].reverse().map((mark) => {
        const when = mark.elapsed_ns === null || mark.elapsed_ns === undefined ? "" : `${time(mark.elapsed_ns)}: `;
        const words = element("bdi", { className: mark.is_error ? "failure" : "" }, `${when}${mark.what}: ${mark.said}`);
        const open = mark.kept === null || mark.kept === undefined ? [] : [" ", element("a", { href: `kept/${mark.kept}`, target: "_blank", rel: "noopener", textContent: "open it" })];
        return element("li", {}, words, ...open);
      }),
    );
  }
}
