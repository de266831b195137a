import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { type ValidateOptions, validateManifests } from '../../src/manifest/validate.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';

/** Manifest files by name. A text alone is one file called `m.yaml`. */
export type Files = string | Readonly<Record<string, string>>;

/** Lists the diagnostics of manifests: position, text above the caret, code, message, then the remedy with the corrected line, and related places. */
export function explain(files: Files, options: Partial<ValidateOptions> = {}): readonly string[] {
  const { diagnostics } = validate(files, options);
  return diagnostics.flatMap(({ code, message, place, remedy, corrected, related = [] }) => [
    `${toPlaceText(place)} ${code}: ${message}`,
    ...(remedy === undefined ? [] : [`  ${remedy.replaceAll('\n', '\n  ')}`]),
    ...(corrected === undefined ? [] : [`  ${corrected}`]),
    ...related.map((other) => `  ${toPlaceText(other.place)} ${other.message}`),
  ]);
}

/** Validates texts. By default, no Stack is required and no variable is set. */
export function validate(files: Files, options: Partial<ValidateOptions> = {}) {
  const named = typeof files === 'string' ? { 'm.yaml': files } : files;
  const sources = Object.entries(named).map(([file, text]) => ({ file, text }));
  return validateManifests(sources, { env: NO_ENVIRONMENT, requireStack: false, ...options });
}

function toPlaceText(place: Diagnostic['place']): string {
  if (place === undefined) return '-';
  const file = place.file === 'm.yaml' ? '' : `${place.file}:`;
  return `${file}${place.line}:${place.column} [${toMarked(place.excerpt)}]`;
}

/** Returns the text above the caret of an excerpt. */
export function toMarked(excerpt: string): string {
  const lines = excerpt.split('\n');
  const caret = lines.findIndex((line) => /^ *\| *\^+$/.test(line));
  const line = lines[caret] ?? '';
  return (lines[caret - 1] ?? '').slice(line.indexOf('^'), line.length);
}
