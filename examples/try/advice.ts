import diagnostics from '../../docs/diagnostics.md?raw';
import { make, toProse } from './elements.ts';

/** What the page says about a diagnostic: only what can be followed here, and the meaning of its code. */

const OF_THE_COMMAND_LINE = /(?:^|[\s`(])--[a-z]|\bedgewise [a-z]|EDGEWISE_/;

/** Advice without the sentences and clauses that only a command line can follow. */
export function keepFollowable(advice: string): string {
  const parts = (advice.split('\n')[0] ?? '').split(/(?<=[.;!?])\s+/);
  return parts
    .filter((part) => !OF_THE_COMMAND_LINE.test(part))
    .join(' ')
    .replace(/;$/, '.');
}

const CONSENT = 'If that is intended, tick “Allow these deletes” beside Apply.';

/** What to do here about a safety rule that a flag of the command line would override. */
export const ADVICE: Readonly<Record<string, string>> = {
  'delete-share': CONSENT,
  'nothing-described': CONSENT,
  protect: 'To allow the delete, remove lifecycle.protect from its manifest, and apply that first.',
};

/** What to do here in place of a note with a command. Other notes lose what only a command line can follow. */
export function adviseInPlaceOf(note: string): string {
  return note.startsWith('To keep a change')
    ? 'To keep a change, write its value into the manifest.'
    : keepFollowable(note);
}

/** The meaning of a code, closed, from docs/diagnostics.md. Undefined: the page has no section on it. */
export function explain(code: string): HTMLElement | undefined {
  const section = diagnostics.split(/^##+ /m).find((text) => text.startsWith(`${code}\n`));
  if (section === undefined) return undefined;
  const [body = '', remedy = ''] = section.slice(code.length).trim().split('**What to do:** ');
  const [sentence = '', meaning = ''] = body.trim().split('\n\n');
  const followable = keepFollowable(remedy.trim().replaceAll('\n', ' '));
  const paragraphs = [
    sentence,
    keepFollowable(meaning.replaceAll('\n', ' ')),
    ...(followable === '' ? [] : [`What to do: ${followable}`]),
  ];
  const summary = make('summary', ['What ', make('code', code), ' means']);
  return make('details', [summary, ...paragraphs.map((text) => make('p', toProse(dropLinks(text))))]);
}

/** The pages that a link leads to are not here. */
function dropLinks(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('**', '');
}
