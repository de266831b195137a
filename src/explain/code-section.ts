import { getDiagnosticsPage } from './page-text.ts';

/** The section of docs/diagnostics.md on a code. */
export interface CodeSection {
  /** What is wrong, in one sentence: that of `DIAGNOSTIC_CODES`. */
  readonly sentence: string;
  /** Why the diagnostic matters, and what edgewise does. */
  readonly meaning: string;
  /** Markdown: one or more examples, each with files, their names, and a command with its output. */
  readonly example: string;
  readonly remedy: string;
}

const REMEDY = '**What to do:** ';

/** Finds the section on a code. Each has two paragraphs, examples, and a paragraph that starts with `REMEDY`. */
export function findCodeSection(code: string): CodeSection | undefined {
  const section = getDiagnosticsPage()
    .split(/^##+ /m)
    .find((text) => text.startsWith(`${code}\n`));
  if (section === undefined) return undefined;
  const [body = '', remedy = ''] = section.slice(code.length).trim().split(REMEDY);
  const [sentence = '', meaning = '', ...example] = body.trim().split('\n\n');
  return { sentence, meaning, example: example.join('\n\n'), remedy };
}

/** A part of an example: a line of text, or a code block in its language. */
export interface ExampleBlock {
  readonly text: string;
  /** Absent for a line of text. */
  readonly language?: string | undefined;
}

export function parseExample(example: string): readonly ExampleBlock[] {
  return Array.from(
    example.matchAll(/^```(\w+)\n([\s\S]*?)^```$|^.+$/gm),
    ([text, language, code]): ExampleBlock => (code === undefined ? { text } : { text: code, language }),
  );
}
