import { isDeepStrictEqual } from 'node:util';
import { toDurationMs } from '../kinds/duration.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { isAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { assertDefined } from '../model/errors.ts';
import { isJsonArray, isJsonObject } from '../model/json.ts';
import { parseRateLimit } from '../model/rate-limit.ts';
import { findPrinter } from '../model/source-name.ts';
import {
  type LintSettings,
  NO_SINKS,
  type SinkSettings,
  type StackSettings,
  type TokenSettings,
  toTokenFolder,
} from '../model/stack.ts';
import { API_VERSION } from '../schemas/document.ts';
import { parseStackSpec, type StackSpec } from '../schemas/stack.ts';
import { toAddedTexts } from './added-texts.ts';
import { toNamePlace } from './claims.ts';
import { toManifestPath } from './field-files.ts';
import type { DocumentIndex, DocumentProblem, ManifestDocument } from './problem.ts';

/** The settings that a valid `Stack` document gives, its defaults filled in. Without a document: defaults, and no name. */
export function toStackSettings(document?: ManifestDocument): StackSettings {
  const { name = '', value, position } = document ?? {};
  const file = position?.source.file ?? '';
  const spec = value?.['spec'];
  const stated = parseStackSpec(spec !== undefined && isJsonObject(spec) ? spec : {});
  const { api, kinds, guard, tokens, lint, owner_label: ownerLabel, released, policies } = stated;
  return {
    name,
    api: {
      baseUrl: api.base_url,
      ...(api.key_env !== undefined && { keyEnv: api.key_env }),
      versionHeader: api.version_header,
      pageSize: api.page_size,
      concurrency: api.concurrency,
      rateLimit: toRateLimit(api.rate_limit),
      timeouts: {
        connectMs: toCheckedMs(api.timeouts.connect),
        headersMs: toCheckedMs(api.timeouts.headers),
        bodyMs: toCheckedMs(api.timeouts.body),
        requestMs: toCheckedMs(api.timeouts.request),
      },
      caFile: api.ca_file === undefined ? undefined : toManifestPath(file, api.ca_file),
    },
    ...(kinds !== undefined && { kinds }),
    ...(released !== undefined && { released }),
    guard: { maxDeletes: guard.max_deletes, maxDeleteShare: guard.max_delete_share },
    tokens: tokens === undefined ? NO_SINKS : toTokenSettings(tokens, name),
    lint: toLintSettings(lint),
    ...(ownerLabel !== undefined && { ownerLabel }),
    ...toAddedTexts(value ?? {}),
    policies: policies.map((path) => toManifestPath(file, path)),
  };
}

function toLintSettings({ max_validity, cel_variables, ...rules }: StackSpec['lint']): LintSettings {
  const stated = Object.entries(rules).filter(([, severity]) => severity !== undefined);
  return {
    severities: Object.fromEntries(stated),
    maxValidityMs: assertDefined(toDurationMs(max_validity), 'a checked duration'),
    celVariables: cel_variables,
  };
}

function toRateLimit(text: string | undefined): StackSettings['api']['rateLimit'] {
  return text === undefined || text === 'none' ? text : assertDefined(parseRateLimit(text), 'a checked rate limit');
}

function toCheckedMs(duration: string): number {
  return assertDefined(toDurationMs(duration), 'a checked duration');
}

type SinkSpec = NonNullable<NonNullable<StackSpec['tokens']>['default']>;

function toTokenSettings(tokens: NonNullable<StackSpec['tokens']>, stack: string): TokenSettings {
  const toSink = (sink: SinkSpec): SinkSettings => toSinkSettings(sink, stack);
  const credentials = Object.entries(tokens.credentials).map(([name, sink]) => [name, toSink(sink)] as const);
  return { default: tokens.default && toSink(tokens.default), credentials: Object.fromEntries(credentials) };
}

function toSinkSettings(sink: SinkSpec, stack: string): SinkSettings {
  if ('directory' in sink) return { directory: toTokenFolder(sink.directory, stack) };
  const { command, test, timeout } = sink;
  return { command, timeoutMs: toCheckedMs(timeout), ...(test !== undefined && { test }) };
}

/** All `Stack` documents but the first, as problems. A tool may hand through the Stack that has it run: that is no second one. */
export function listSurplusStacks([first, ...others]: readonly ManifestDocument[]): readonly DocumentProblem[] {
  if (first === undefined) return [];
  return others
    .filter((document) => !isHandedThrough(document, first))
    .map((document) => ({
      document,
      problem: {
        code: 'several-stacks',
        ...(isPrinted(document) ? PRINTED_STACK : SECOND_STACK),
        path: ['metadata', 'name'],
        target: 'value',
        related: [{ message: 'the first Stack is here', place: toNamePlace(first) }],
      },
    }));
}

const SECOND_STACK = {
  message: 'a run has one Stack, but this is the second',
  remedy: 'Remove one of them, give the path of one stack only, or run every stack with -R (--recursive).',
};

const PRINTED_STACK = {
  message: 'the command of spec.render prints a Stack that differs from the one that has it run',
  remedy: 'Leave the Stack out of what the command prints, or hand it through unchanged: settings come from the file.',
};

/** Whether `spec.render` had a document printed. */
function isPrinted({ position }: ManifestDocument): boolean {
  return findPrinter(position.source.file) !== undefined;
}

function isHandedThrough(document: ManifestDocument, first: ManifestDocument): boolean {
  const isSame = document.name === first.name && isDeepStrictEqual(document.value['spec'], first.value['spec']);
  return isPrinted(document) && isSame;
}

/** Documents of kinds that the Stack does not use, as problems. */
export function listUnusedKinds(
  documents: readonly ManifestDocument[],
  stack: ManifestDocument | undefined,
): readonly DocumentProblem[] {
  const spec = stack?.value['spec'];
  const kinds = isJsonObject(spec) ? spec['kinds'] : undefined;
  if (stack === undefined || !isJsonArray(kinds)) return [];
  const place = { position: stack.position, path: ['spec', 'kinds'], target: 'value' } as const;
  return documents
    .filter(({ kind }) => findKind(kind) !== undefined && !kinds.includes(kind))
    .map((document) => ({
      document,
      problem: {
        code: 'unused-kind',
        message: `the Stack says that it does not use the kind ${document.kind}`,
        remedy: `Add ${document.kind} to spec.kinds of the Stack, or remove this document.`,
        path: ['kind'],
        target: 'value',
        related: [{ message: 'the kinds that it uses are here', place }],
      },
    }));
}

/** Addresses that a Stack releases and a document still describes, as problems. */
export function listDescribedReleases(
  index: DocumentIndex,
  stack: ManifestDocument | undefined,
): readonly DocumentProblem[] {
  const spec = stack?.value['spec'];
  const released = isJsonObject(spec) ? spec['released'] : undefined;
  if (stack === undefined || released === undefined || !isJsonArray(released)) return [];
  return released.flatMap((address, at): DocumentProblem[] => {
    const described = typeof address === 'string' && isAddress(address) ? index.get(address) : undefined;
    if (described === undefined) return [];
    const problem = {
      code: 'bad-value',
      message: `spec.released names ${described.address}, which a document still describes`,
      remedy: 'Remove the document, once another stack takes the resource over, or the line.',
      path: ['spec', 'released', at],
      target: 'value',
      related: [{ message: 'described here', place: toNamePlace(described) }],
    } as const;
    return [{ document: stack, problem }];
  });
}

/** Says which lines are missing. */
export const NO_STACK: Diagnostic = {
  code: 'no-stack',
  severity: 'error',
  message: 'no Stack document names these manifests',
  remedy: [
    'Add these lines to one of the files, with a unique name:',
    '---',
    `apiVersion: ${API_VERSION}`,
    'kind: Stack',
    'metadata:',
    '  name: production',
  ].join('\n'),
};
