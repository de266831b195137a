import type { JsonObject } from '../model/json.ts';

/** Why edgewise reports a diagnostic code, with an example and its correction. */
export interface Explanation {
  /** Why the diagnostic matters, and what edgewise does. Shown after the sentence in `DIAGNOSTIC_CODES`. */
  readonly meaning: string;
  readonly remedy: string;
  /** An example in which edgewise reports the code. */
  readonly bad: RunnableExample;
  readonly good: Fix;
}

/** The parts of an example that its correction changes. A file with the value `null` is removed. */
interface Fix {
  readonly command?: string;
  readonly files?: Readonly<Record<string, string | null>>;
  readonly live?: ExampleLiveResources;
  readonly faults?: null;
  readonly concurrentRequest?: null;
}

/** A command, with its own folder of files and its own service. */
export interface RunnableExample {
  /** The command line without the name of the program. */
  readonly command: string;
  readonly files: Readonly<Record<string, FileText>>;
  /** The live resources before the command runs. */
  readonly live?: ExampleLiveResources;
  /** Text of a faults file of the bundled server. */
  readonly faults?: string;
  readonly concurrentRequest?: ConcurrentRequest;
}

/** Resources by kind, as in `resources` of a seed of the bundled server. */
export type ExampleLiveResources = Readonly<Record<string, readonly JsonObject[]>>;

/** The text of a file. `latin1`: the file is in that encoding instead of UTF-8. */
type FileText = string | { readonly latin1: string };

/** One request by another client, sent right before the command's first request that matches `before`. */
export interface ConcurrentRequest {
  /** Method and path, such as `PATCH /edges/tcp/{id}`. */
  readonly before: string;
  readonly request: string;
  readonly body: string;
}

export function getExampleFileText(file: FileText): string {
  return typeof file === 'string' ? file : file.latin1;
}

/** Formats a seed file. A bundled server that loads it starts with these live resources. */
export function renderExampleSeedFile(live: ExampleLiveResources): string {
  return `${JSON.stringify({ resources: live }, null, 2)}\n`;
}

/** Formats the metadata of a resource with a mark of this stack and name. `more`: other members of the mark. */
export function renderMarkedMetadata(stack: string, name: string, more: JsonObject = {}): string {
  return JSON.stringify({ edgewise: { stack, name, ...more } });
}

export function createCorrectedExample({ bad, good }: Explanation): RunnableExample {
  const {
    files = {},
    command = bad.command,
    live = bad.live,
    concurrentRequest = bad.concurrentRequest,
    faults = bad.faults,
  } = good;
  const fixed = Object.entries({ ...bad.files, ...files }).flatMap(([name, text]) =>
    text === null ? [] : [[name, text] as const],
  );
  return {
    command,
    files: Object.fromEntries(fixed),
    ...(live !== undefined && { live }),
    ...(faults && { faults }),
    ...(concurrentRequest && { concurrentRequest }),
  };
}

/** Formats a manifest document. `lines` follow its metadata. */
export function formatManifestWithLines(kind: string, name: string, ...lines: readonly string[]): string {
  return ['apiVersion: edgewise/v1', `kind: ${kind}`, 'metadata:', `  name: ${name}`, ...lines, ''].join('\n');
}

export function joinDocuments(...documents: readonly string[]): string {
  return documents.join('---\n');
}
