// Dark and light: the system's theme until the button changes it. Canvases look up colours by their
// names in the style sheet.

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
const themeListeners = [];
let theme = null;

export function isDark() {
  return theme === null ? systemIsDark.matches : theme === "dark";
}

/** Returns a colour of the style sheet, such as `--ink`. */
export function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function onTheme(listener) {
  themeListeners.push(listener);
}

/** Returns true while the page is printed: everything is shown then. */
export function onPaper() {
  return document.documentElement.classList.contains("paper");
}

/** Sets the theme; null selects the system's. */
export function setTheme(wanted) {
  theme = wanted;
  if (wanted === null) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wanted;
  document.getElementById("theme").textContent = isDark() ? "Light" : "Dark";
  themeListeners.forEach((listener) => listener());
}

/** Returns the theme that was set; null for the system's. */
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
