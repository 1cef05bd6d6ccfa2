// The views as tabs. A view is created when it is first opened, so that the first paint waits only
// for the first view.

import { element } from "./elements.js";
import { hush } from "./tooltip.js";

export class Tabs {
  /** `makers` are [key, title, make]: `make()` returns a view with `panel` and `draw()`. */
  constructor(makers) {
    this.tabs = makers.map(([key, title, make], at) => {
      const button = element("button", {
        type: "button", role: "tab", id: `tab-${key}`, textContent: title, "aria-controls": `view-${key}`, "aria-selected": "false", tabIndex: -1,
      });
      button.onclick = () => this.show(key);
      button.onkeydown = (event) => this.#key(event, at);
      const panel = element("section", { role: "tabpanel", id: `view-${key}`, "aria-labelledby": `tab-${key}`, className: "view", hidden: true });
      panel.append(element("h2", { className: "print-title", textContent: title }));
      return { key, make, button, panel, view: null };
    });
    document.getElementById("tabs").replaceChildren(...this.tabs.map(({ button }) => button));
    // On a narrow screen the tabs scroll, and the current one stays in sight.
    addEventListener("resize", () => this.#toCurrent());
    document.getElementById("views").replaceChildren(...this.tabs.map(({ panel }) => panel));
  }

  has(key) {
    return this.tabs.some((tab) => tab.key === key);
  }

  /** Shows a view, calls `onShow`, and `then(view)`. */
  show(key, then) {
    hush();
    this.current = key;
    this.onShow?.();
    for (const tab of this.tabs) {
      const isCurrent = tab.key === key;
      tab.button.setAttribute("aria-selected", String(isCurrent));
      tab.button.tabIndex = isCurrent ? 0 : -1;
      tab.panel.hidden = !isCurrent;
      if (!isCurrent) continue;
      this.#drawn(tab);
      then?.(tab.view);
    }
    this.#toCurrent();
  }

  #toCurrent() {
    this.tabs.find(({ key }) => key === this.current)?.button.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #drawn(tab) {
    if (tab.view === null) {
      tab.view = tab.make();
      tab.panel.append(tab.view.panel);
    }
    tab.view.draw();
  }

  /** Draws the open view, or all views for printing. */
  redraw(all = false) {
    for (const tab of this.tabs) {
      if (all) tab.panel.hidden = false;
      if (all || tab.key === this.current) this.#drawn(tab);
    }
  }

  #key(event, at) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = this.tabs[(at + step + this.tabs.length) % this.tabs.length];
    this.show(next.key);
    next.button.focus();
  }
}
