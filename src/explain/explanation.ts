import type { JsonObject } from '../model/json.ts';

/** The explanation of a diagnostic code. */
export interface Explanation {
  /** More than the one sentence of the code: why it matters, and what edgewise does about it. */
  readonly meaning: string;
  readonly remedy: string;
  /** An example that yields the code. */
  readonly bad: Example;
  /** The parts that differ in the corrected example. */
  readonly good: Fix;
}

/** The parts that differ in a corrected example. `null`: removed. */
interface Fix {
  readonly command?: string;
  readonly files?: Readonly<Record<string, string | null>>;
  readonly live?: LiveResources;
  readonly faults?: null;
  readonly meanwhile?: null;
}

/** A command line, with its own folder and its own service. */
export interface Example {
  /** Without the program's name. */
  readonly command: string;
  readonly files: Readonly<Record<string, FileText>>;
  /** What the service holds, by kind: the `resources` of a seed of the bundled server. */
  readonly live?: LiveResources;
  /** Faults of the service, as a faults file of the bundled server. */
  readonly faults?: string;
  /** A concurrent request of another client. */
  readonly meanwhile?: ConcurrentRequest;
}

/** Resources by kind, as a seed has them. */
export type LiveResources = Readonly<Record<string, readonly JsonObject[]>>;

/** The text of a file; with `latin1`, in that encoding instead of UTF-8. */
type FileText = string | { readonly latin1: string };

/** One request of another client, right before the first request of the command that matches `before`. */
export interface ConcurrentRequest {
  /** Method and path. */
  readonly before: string;
  readonly request: string;
  readonly body: string;
}

/** The text of a file, as it is shown. */
export function renderFileText(file: FileText): string {
  return typeof file === 'string' ? file : file.latin1;
}

/** The seed that makes a bundled server hold what an example says is live. */
export function formatSeed(live: LiveResources): string {
  return `${JSON.stringify({ resources: live }, null, 2)}\n`;
}

/** The metadata of a resource with a mark of this stack and name; `more`: further members of the mark. */
export function formatMarkedMetadata(stack: string, name: string, more: JsonObject = {}): string {
  return JSON.stringify({ edgewise: { stack, name, ...more } });
}

/** The corrected example of a code. */
export function toFixedExample({ bad, good }: Explanation): Example {
  const { files = {}, command = bad.command, live = bad.live, meanwhile = bad.meanwhile, faults = bad.faults } = good;
  const mended = Object.entries({ ...bad.files, ...files }).flatMap(([name, text]) =>
    text === null ? [] : [[name, text] as const],
  );
  return {
    command,
    files: Object.fromEntries(mended),
    ...(live !== undefined && { live }),
    ...(faults && { faults }),
    ...(meanwhile && { meanwhile }),
  };
}

/** A document of a manifest: its kind, its name, and its other lines. */
export function formatDocument(kind: string, name: string, ...lines: readonly string[]): string {
  return ['apiVersion: edgewise/v1', `kind: ${kind}`, 'metadata:', `  name: ${name}`, ...lines, ''].join('\n');
}

/** Several documents in one file. */
export function joinDocuments(...documents: readonly string[]): string {
  return documents.join('---\n');
}
