/** The sections of pages that promise something. Of a table, the second column promises. */
export const PROMISING_SECTIONS = [
  { page: 'docs/explanation/reliability.md', heading: 'Promises' },
  { page: 'docs/explanation/reliability.md', heading: 'When a write fails' },
  { page: 'docs/explanation/reliability.md', heading: 'Where the promises end' },
  { page: 'docs/explanation/reliability.md', heading: 'What stands in for a service' },
  { page: 'README.md', heading: 'What it does' },
  { page: 'README.md', heading: 'Compared' },
] as const;

/**
 * Lists the sentences of a section of a page, without Markdown. In a table, each sentence of the second column follows the
 * first cell of its row.
 */
export function listSentences(page: string, heading: string): readonly string[] {
  const [, rest = ''] = page.split(`\n## ${heading}\n`);
  const [section = ''] = rest.split('\n## ');
  const lines = section.split('\n');
  return lines.flatMap((line, index) => {
    const isOfTableHead = line.startsWith('| --') || lines[index + 1]?.startsWith('| --') === true;
    if (line === '' || isOfTableHead) return [];
    const text = line.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('**', '');
    return text.startsWith('|') ? listSentencesOfRow(text) : splitSentences(text.replace(/^(?:\d+\.|-) /, ''));
  });
}

function listSentencesOfRow(row: string): readonly string[] {
  const [, first = '', second = ''] = row.split('|').map((cell) => cell.trim());
  return splitSentences(second).map((sentence) => `${first}: ${sentence}`);
}

/** Splits after each dot, parenthesis or colon that a capital letter follows. */
function splitSentences(text: string): readonly string[] {
  return text.split(/(?<=[.):]) (?=[A-Z])/);
}
