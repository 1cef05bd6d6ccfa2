// Dark and light: as the system says until the button says otherwise. Canvases ask for colours by the names of the style.

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
const themeListeners = [];
let theme = null;

export function isDark() {
  return theme === null ? systemIsDark.matches : theme === "dark";
}

/** A colour of the style, such as `--ink`. */
export function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function onTheme(listener) {
  themeListeners.push(listener);
}

/** Sets the theme; null is the system's. */
export function setTheme(wanted) {
  theme = wanted;
  if (wanted === null) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wanted;
  document.getElementById("theme").textContent = isDark() ? "Light" : "Dark";
  themeListeners.forEach((listener) => listener());
}

/** The theme as it was set, null for the system's. */
export function currentTheme() {
  return theme;
}

export function startTheme() {
  const button = document.getElementById("theme");
  button.setAttribute("aria-label", "Change between dark and light");
  button.onclick = () => setTheme(isDark() ? "light" : "dark");
  systemIsDark.addEventListener("change", () => setTheme(theme));
  setTheme(null);
}
