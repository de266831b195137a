import { hashSha256 } from '../../model/json.ts';
import { MARK_URL } from './face.ts';
import { html } from './node.ts';
import { STYLE } from './style.ts';

/**
 * The script of a page: filters, opening and closing of entries, and the light or dark theme. The script contains no
 * text from a report and adds only numbers and fixed words to the page. Controls are hidden until the script runs.
 */
export const SCRIPT = `
'use strict';
const all = (selector) => Array.from(document.querySelectorAll(selector));
const stackOf = (element) => element.closest('[data-stack]')?.dataset.stack ?? '';
const items = all('.item').map((element) => ({ element, key: stackOf(element) + ' ' + element.dataset.key, text: undefined }));
const theme = document.querySelector('.theme');
const filter = document.querySelector('.filter');

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (document.documentElement.dataset.theme ?? (systemIsDark.matches ? 'dark' : 'light')) === 'dark';
const showTheme = () => theme.setAttribute('aria-pressed', String(isDark()));
theme.addEventListener('click', () => {
  document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
  showTheme();
});
systemIsDark.addEventListener('change', showTheme);
theme.hidden = false;
showTheme();

function textOf(item) {
  item.text ??= item.element.textContent.toLowerCase();
  return item.text;
}

if (filter !== null) {
  const input = filter.querySelector('input');
  const status = filter.querySelector('.status');
  const clear = filter.querySelector('[data-act="clear"]');
  const buttons = all('.filter [data-facet] button');
  const sections = all('.part');
  const stacks = all('.stack');
  const facets = all('.filter [data-facet]').map(({ dataset }) => dataset.facet);
  const wanted = Object.fromEntries(facets.map((facet) => [facet, new Set()]));
  const valuesOf = ({ element }, facet) => {
    const value = facet === 'stack' ? stackOf(element) : element.dataset[facet];
    return value === undefined ? [] : facet === 'danger' ? value.split(' ') : [value];
  };
  const total = new Set(items.map(({ key }) => key)).size;
  const count = (counts, word, key) => counts.set(word, (counts.get(word) ?? new Set()).add(key));
  const isWanted = (facet, item) => wanted[facet].size === 0 || valuesOf(item, facet).some((value) => wanted[facet].has(value));

  const update = () => {
    const words = input.value.toLowerCase().split(/\\s+/).filter((word) => word !== '');
    const counts = Object.fromEntries(facets.map((facet) => [facet, new Map()]));
    const shown = new Set();
    for (const item of items) {
      const hasWords = words.every((word) => textOf(item).includes(word));
      const missed = facets.filter((facet) => !isWanted(facet, item));
      for (const facet of facets) {
        const isCounted = hasWords && missed.every((other) => other === facet);
        if (isCounted) for (const value of valuesOf(item, facet)) count(counts[facet], value, item.key);
      }
      item.element.hidden = !hasWords || missed.length > 0;
      if (!item.element.hidden) shown.add(item.key);
    }
    for (const button of buttons) {
      const facet = button.closest('[data-facet]').dataset.facet;
      const number = counts[facet].get(button.dataset.value)?.size ?? 0;
      button.querySelector('.count').textContent = String(number);
      button.classList.toggle('none', number === 0);
      button.setAttribute('aria-pressed', String(wanted[facet].has(button.dataset.value)));
    }
    for (const section of sections) section.hidden = section.querySelector('.item:not([hidden])') === null;
    const isNarrowed = words.length > 0 || facets.some((facet) => wanted[facet].size > 0);
    for (const stack of stacks) stack.hidden = isNarrowed && stack.querySelector('.item:not([hidden])') === null;
    status.textContent = isNarrowed ? shown.size + ' of ' + total + ' shown' : total + ' in all';
    status.classList.toggle('narrowed', isNarrowed);
    clear.hidden = !isNarrowed;
  };

  const reset = () => {
    input.value = '';
    for (const facet of facets) wanted[facet].clear();
    update();
  };

  const setOpen = (isOpen) => {
    for (const { element } of items) if (element.localName === 'details' && !element.hidden) element.open = isOpen;
  };

  filter.addEventListener('click', ({ target }) => {
    const button = target.closest('button');
    if (button === null) return;
    const { act, value } = button.dataset;
    if (act === 'expand') setOpen(true);
    else if (act === 'collapse') setOpen(false);
    else if (act === 'clear') {
      reset();
      input.focus();
    } else {
      const chosen = wanted[button.closest('[data-facet]').dataset.facet];
      if (!chosen.delete(value)) chosen.add(value);
      update();
    }
  });
  input.addEventListener('input', update);
  input.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') reset();
  });

  // Links end below the bar, whatever its height. Where it does not stick, the padding of the style holds.
  const root = document.documentElement;
  const makeRoom = () => {
    const isSticky = getComputedStyle(filter).position === 'sticky';
    root.style.scrollPaddingTop = isSticky ? 'calc(' + filter.offsetHeight + 'px + 0.5rem)' : '';
  };

  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target === null) return;
    if (target.closest('[hidden]') !== null) reset();
    for (let outer = target.closest('details'); outer !== null; outer = outer.parentElement.closest('details')) outer.open = true;
    makeRoom();
    target.scrollIntoView();
  };
  addEventListener('hashchange', reveal);

  filter.hidden = false;
  update();
  new ResizeObserver(makeRoom).observe(filter, { box: 'border-box' });
  reveal();
}

let closed = [];
addEventListener('beforeprint', () => {
  closed = all('details:not([open])');
  for (const details of closed) details.open = true;
});
addEventListener('afterprint', () => {
  for (const details of closed) details.open = false;
});
`;

/**
 * The start of a self-contained page. Its content security policy allows only its own style and script, by their
 * digests, so that injected code cannot run. The content is readable without the script.
 */
export function renderPageStart(heading: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${heading}</title>
<link rel="icon" href="${MARK_URL}">
<style>${{ source: STYLE }}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
`.source;
}

/** `img-src data:` allows the mark, which is also the icon. Without an icon, browsers would request one from the server. */
const POLICY = [
  "default-src 'none'",
  `style-src ${computeDigest(STYLE)}`,
  `script-src ${computeDigest(SCRIPT)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

function computeDigest(source: string): string {
  return `'sha256-${hashSha256(source, 'base64')}'`;
}

export const PAGE_END = html`</main>
<script>${{ source: SCRIPT }}</script>
</body>
</html>
`.source;
