/** Where a `Stack` says which command prints its manifests. */
export interface Printer {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** Characters of a command that a name shows. */
const MAX_SHOWN = 60;

/** The name, in messages, of what a command printed: `kustomize build . (web/edgewise.yaml:7)`. */
export function toOutputName(words: readonly string[], { file, line }: Printer): string {
  return `${toCommandName(words)} (${file}:${line})`;
}

/** A command on one line that is not too long. */
export function toCommandName(words: readonly string[]): string {
  const text = words.join(' ').replace(/\s+/g, ' ').trim();
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** Where the command stands that printed what has this name; `undefined`: it is no output of a command. */
export function findPrinter(name: string): Printer | undefined {
  if (!name.endsWith(')')) return undefined;
  const [, file, line] = /^.* \((.+):(\d+)\)$/s.exec(name) ?? [];
  return file === undefined ? undefined : { file, line: Number(line) };
}
