/**
 * What a page does besides being read: filtering, opening and closing, and light or dark. It holds nothing of a report, and puts nothing into
 * the page but numbers and words of its own. Controls are hidden until it runs.
 */
export const SCRIPT = `
'use strict';
const all = (selector) => Array.from(document.querySelectorAll(selector));
const items = all('.item').map((element) => ({ element, key: element.dataset.key, group: element.dataset.group, kind: element.dataset.kind, text: undefined }));
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
  const wanted = { group: new Set(), kind: new Set() };
  const total = new Set(items.map(({ key }) => key)).size;
  const count = (counts, word, key) => counts.set(word, (counts.get(word) ?? new Set()).add(key));
  const isWanted = (facet, item) => wanted[facet].size === 0 || wanted[facet].has(item[facet]);

  const update = () => {
    const words = input.value.toLowerCase().split(/\\s+/).filter((word) => word !== '');
    const counts = { group: new Map(), kind: new Map() };
    const shown = new Set();
    for (const item of items) {
      const hasWords = words.every((word) => textOf(item).includes(word));
      const has = { group: isWanted('group', item), kind: isWanted('kind', item) };
      if (hasWords && has.kind) count(counts.group, item.group, item.key);
      if (hasWords && has.group) count(counts.kind, item.kind, item.key);
      item.element.hidden = !(hasWords && has.group && has.kind);
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
    const isNarrowed = words.length > 0 || wanted.group.size > 0 || wanted.kind.size > 0;
    status.textContent = isNarrowed ? shown.size + ' of ' + total + ' shown' : total + ' in all';
    status.classList.toggle('narrowed', isNarrowed);
    clear.hidden = !isNarrowed;
  };

  const reset = () => {
    input.value = '';
    wanted.group.clear();
    wanted.kind.clear();
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

  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target === null) return;
    if (target.closest('[hidden]') !== null) reset();
    for (let outer = target.closest('details'); outer !== null; outer = outer.parentElement.closest('details')) outer.open = true;
    target.scrollIntoView();
  };
  addEventListener('hashchange', reveal);

  filter.hidden = false;
  update();
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
