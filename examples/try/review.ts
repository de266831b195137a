import { ADVICE, adviseInPlaceOf, explain, keepFollowable } from './advice.ts';
import { get, make } from './elements.ts';

/** Shows the review page of a report in a frame: a sandbox without scripts. */

type OnPlace = (place: { readonly file: string; readonly line: number; readonly column: number }) => void;

const frame = () => get<HTMLIFrameElement>('review');

/** Shows a page, and returns its headline, which this page says itself. */
export function showReview(html: string, onPlace: OnPlace): string {
  const page = new DOMParser().parseFromString(html, 'text/html');
  const headline = page.querySelector('.conclusion:has(strong)');
  const said = headline?.textContent ?? '';
  // Its last note is when the report was made: here that is always now, or when this page was built.
  const unneeded = page.querySelectorAll('script, .brand, h1, .counts, main > .note:last-child');
  for (const element of [headline, ...unneeded]) element?.remove();
  for (const message of page.querySelectorAll('.message')) adviseHere(message);
  for (const note of page.querySelectorAll('.note, .body > p')) reword(note);
  const finish = (): void => {
    const { body } = frame().contentDocument ?? {};
    if (body !== undefined) linkPlaces(body, onPlace);
    settle();
  };
  const inside = frame().contentDocument;
  frame().onload = finish;
  // Only its body is replaced, so that its scroll position stays.
  if (inside?.querySelector('main') == null) frame().srcdoc = `<!doctype html>${page.documentElement.outerHTML}`;
  else {
    inside.body.replaceWith(inside.importNode(page.body, true));
    finish();
  }
  return said;
}

/** Replaces advice that needs a command line, and adds the meaning of the code. */
function adviseHere(message: Element): void {
  const code = message.querySelector('.where code')?.textContent ?? '';
  const remedy = message.querySelector('.remedy');
  if (remedy !== null) {
    const advice = ADVICE[code];
    if (advice !== undefined) remedy.replaceChildren(advice);
    else if (keepFollowable(remedy.textContent ?? '') !== remedy.textContent) reword(remedy);
    if (remedy.textContent === '') remedy.remove();
  }
  const meaning = explain(code);
  if (meaning !== undefined) message.append(meaning);
}

function reword(element: Element): void {
  const followable = adviseInPlaceOf(element.textContent ?? '');
  if (followable !== element.textContent) element.replaceChildren(make('span', followable));
}

/** Positions in the report open their file. */
function linkPlaces(body: HTMLElement, onPlace: OnPlace): void {
  for (const code of body.querySelectorAll('code')) {
    const [, file = '', line, column = '1'] =
      /^([^\s:]+\.(?:ya?ml|json)):(\d+)(?::(\d+))?$/.exec(code.textContent ?? '') ?? [];
    if (file === '' || code.closest('a, pre') !== null) continue;
    const link = make('a', code.textContent ?? '');
    link.href = '#';
    link.addEventListener('click', (event) => {
      event.preventDefault();
      onPlace({ file, line: Number(line), column: Number(column) });
    });
    code.replaceChildren(link);
  }
}

const sizes = new ResizeObserver(([size]) => {
  frame().style.setProperty('--tall', `${Math.ceil(size?.target.scrollHeight ?? 0)}px`);
});

/** The frame has the theme of the page, and no margins of a whole window. */
export function settle(): void {
  const inside = frame().contentDocument;
  if (inside === null) return;
  const { theme } = document.documentElement.dataset;
  if (theme !== undefined) inside.documentElement.dataset['theme'] = theme;
  Object.assign(inside.body.style, { maxWidth: 'none', padding: '0 1rem 1.5rem' });
  const first = inside.querySelector<HTMLElement>('main > :first-child');
  if (first !== null) first.style.marginTop = '1rem';
  sizes.disconnect();
  sizes.observe(inside.body);
}
