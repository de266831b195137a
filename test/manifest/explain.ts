import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { type ValidateOptions, validateManifests } from '../../src/manifest/validate.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import { createQuotedTexts, type Excerpts } from '../../src/model/excerpts.ts';

/** Manifest files by name. A text alone is one file called `m.yaml`. */
export type Files = string | Readonly<Record<string, string>>;

/** Lists the diagnostics of manifests: position, text above the caret, code, message, then the remedy with the corrected line, and related places. */
export function explain(files: Files, options: Partial<ValidateOptions> = {}): readonly string[] {
  const { diagnostics, quoted } = validate(files, options);
  const format = (place: Diagnostic['place']) => formatPlace(place, quoted.stderr);
  return diagnostics.flatMap(({ code, message, place, remedy, related = [] }) => [
    `${format(place)} ${code}: ${message}`,
    ...(remedy === undefined ? [] : [`  ${remedy.replaceAll('\n', '\n  ')}`]),
    ...(place === undefined ? [] : [quoted.stderr.renderCorrected(place)].filter(Boolean).map((line) => `  ${line}`)),
    ...related.map((other) => `  ${format(other.place)} ${other.message}`),
  ]);
}

/** Validates texts. By default, no Stack is required and no variable is set. */
export function validate(files: Files, options: Partial<ValidateOptions> = {}) {
  const named = typeof files === 'string' ? { 'm.yaml': files } : files;
  const sources = Object.entries(named).map(([file, text]) => ({ file, text }));
  const quoted = createQuotedTexts();
  return { ...validateManifests(sources, { env: NO_ENVIRONMENT, requireStack: false, quoted, ...options }), quoted };
}

function formatPlace(place: Diagnostic['place'], { render }: Excerpts): string {
  if (place === undefined) return '-';
  const file = place.file === 'm.yaml' ? '' : `${place.file}:`;
  return `${file}${place.line}:${place.column} [${toMarked(render(place))}]`;
}

/** Returns the text above the caret of an excerpt. */
export function toMarked(excerpt: string): string {
  const lines = excerpt.split('\n');
  const caret = lines.findIndex((line) => /^ *\| *\^+$/.test(line));
  const line = lines[caret] ?? '';
  return (lines[caret - 1] ?? '').slice(line.indexOf('^'), line.length);
}
