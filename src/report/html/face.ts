/**
 * The face of every page of edgewise, the review page and the page to try: its mark, colours, typefaces and spacing. A page adds only where
 * things are. No typeface is shipped: each is one that its system has.
 */

/** The mark as SVG, for icons and documents: a connection that comes in through the edge of an account. */
export const MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Edgewise</title><rect width="32" height="32" rx="7" fill="#0b6573"/><g fill="none" stroke-linecap="round" stroke-linejoin="round" stroke-width="3.5"><path d="M25 7.5H12.5v17H25" stroke="#fff"/><path d="M4.5 16h16" stroke="#0b6573" stroke-width="7.5"/><path d="M4.5 16h17" stroke="#7fe3ef"/></g></svg>`;

/** The mark as a URL that needs no request. */
export const MARK_URL = `data:image/svg+xml,${encodeURIComponent(MARK)}`;

/**
 * The tokens that all pages share. Each colour is defined once, for light and dark; `--accent` marks what can be pressed or is selected, and the
 * other colours say what happens to a resource. Spacing is in steps of a quarter rem, with a half step for what is on a line of text.
 */
export const FACE = `
:root {
  color-scheme: light dark;
  --page: light-dark(#fafaf8, #131518);
  --sheet: light-dark(#ffffff, #1a1d21);
  --raised: light-dark(#f1f2ef, #22262b);
  --ink: light-dark(#1b2126, #e6e8eb);
  --soft: light-dark(#535c66, #a4adb7);
  --line: light-dark(#dfe1dd, #30353b);
  --edge: light-dark(#83898f, #767f89);
  --accent: light-dark(#0b6573, #63cedb);
  --accent-strong: light-dark(#084e59, #8be2ec);
  --accent-wash: light-dark(#e2f2f4, #12303a);
  --on-accent: light-dark(#ffffff, #06242b);
  --red: light-dark(#a8201a, #ff9a92);
  --red-wash: light-dark(#fdeeec, #3a1e1e);
  --green: light-dark(#0d6537, #7fd9a2);
  --green-wash: light-dark(#e8f5ec, #16301f);
  --amber: light-dark(#7a4d00, #f0c36a);
  --amber-wash: light-dark(#fdf3dc, #352a13);
  --violet: light-dark(#742b8c, #dca8f0);
  --violet-wash: light-dark(#f7ecfb, #32213a);
  --blue: light-dark(#0a55b5, #8dbbff);
  --blue-wash: light-dark(#e9f1fc, #18273d);
  --mark: url("${MARK_URL}");
  --sans: "Avenir Next", "Segoe UI Variable Text", "Segoe UI", Ubuntu, Cantarell, Roboto, "Noto Sans", "DejaVu Sans Condensed", "DejaVu Sans", system-ui, sans-serif;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "Cascadia Mono", "DejaVu Sans Mono", "Liberation Mono", monospace;
  --small: 0.8125rem;
  --round: 8px;
  --round-small: 5px;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }

* { box-sizing: border-box; }
[hidden] { display: none !important; }
.brand { display: flex; align-items: center; gap: 0.5rem; font: 700 1rem/1.5 var(--sans); letter-spacing: -0.015em; color: var(--ink); }
.brand::before { content: ""; flex: none; width: 1.5rem; height: 1.5rem; background: var(--mark) center / contain no-repeat; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: var(--round-small); }
@media (prefers-contrast: more) { :root { --soft: var(--ink); --line: var(--edge); } }
`;
