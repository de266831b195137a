import type { FieldType } from '../../kinds/field.ts';
import { type Kind, toObjectTypeOfKind } from '../../kinds/kind.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { findMemberType } from '../../kinds/walk.ts';
import { getAddressName } from '../../model/address.ts';
import type { OwnedResource, StackInventory } from '../../model/drift.ts';
import { assertDefined } from '../../model/errors.ts';
import { formatPath } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson, toCanonicalJson } from '../../model/json.ts';
import type { PolicyTestResults } from '../../model/policy.ts';
import { toPrintable } from '../../model/printable.ts';
import type { StackFolder, StackListing } from '../../model/stack-tree.ts';
import type { FieldPath } from '../../model/state.ts';
import type { FormatOptions, StackReportPart, StacksRunReport } from '../report.ts';
import { countDangersInReports } from '../view/danger-view.ts';
import { toPrintablePlace } from '../view/diagnostic-view.ts';
import { quoteText } from '../view/escape.ts';
import { formatAddressWithDuplicateId } from '../view/inventory-view.ts';
import { redactInventory } from '../view/redact.ts';
import { createStacksView } from '../view/stacks-view.ts';
import { renderJsonReport, renderPrintableJson } from './json.ts';
import { type EventBody, renderEventLine, renderJsonLinesReport } from './json-lines.ts';
import { type JunitCase, renderJunitDocument } from './junit.ts';

/** The stacks of a folder tree as a JSON document. */
export function renderStacksJson(listing: StackListing): string {
  const { root, total, stacks, changes, shard, filesWithoutStack } = listing;
  return renderPrintableJson({
    format: 1,
    command: 'stacks',
    ok: true,
    root,
    total,
    ...(changes !== undefined && { since: changes.since }),
    ...(shard !== undefined && { shard: { index: shard.index, total: shard.total, from: shard.from } }),
    stacks: stacks.map((stack) => createStackDocument(stack, listing)),
    filesWithoutStack: changes?.filesWithoutStack ?? filesWithoutStack,
  });
}

function createStackDocument(stack: StackFolder, { changes }: StackListing): JsonObject {
  const change = changes?.changed.find((one) => one.stack.folder === stack.folder);
  return {
    name: stack.name,
    folder: stack.folder,
    file: stack.file,
    ...(stack.baseUrl !== undefined && { baseUrl: stack.baseUrl }),
    ...(stack.keyEnv !== undefined && { keyEnv: stack.keyEnv }),
    dependsOn: stack.dependsOn,
    ...(change !== undefined && { changed: { files: change.files, through: change.through } }),
  };
}

/** The folder of each stack, one per line. */
export function renderStackFolderLines({ stacks }: StackListing): string {
  return stacks.map(({ folder }) => `${toPrintable(folder)}\n`).join('');
}

/** The value for `strategy.matrix` of a GitHub job, to parse with `fromJSON`. It creates one job for each stack. */
export function renderGitHubMatrix({ stacks }: StackListing): string {
  return `${toPrintable(JSON.stringify({ include: stacks.map(({ name, folder }) => ({ stack: name, folder })) }))}\n`;
}

/**
 * A GitLab CI file with the hidden job `.edgewise-stacks`. A job of a child pipeline that extends the hidden job runs
 * once for each stack. Without stacks, the hidden job never runs, because GitLab rejects an empty matrix.
 */
export function renderGitLabMatrix({ stacks }: StackListing): string {
  if (stacks.length === 0) return '.edgewise-stacks:\n  rules:\n    - when: never\n';
  const jobs = stacks.map(({ name, folder }) => {
    const [stack, path] = [quoteText(name), quoteText(folder)];
    return `      - EDGEWISE_STACK: ${stack}\n        EDGEWISE_FOLDER: ${path}\n`;
  });
  return `.edgewise-stacks:\n  parallel:\n    matrix:\n${jobs.join('')}`;
}

/** A run over many stacks as one JSON document that contains the document of each stack. */
export function renderStacksReportJson(run: StacksRunReport, { exitCode = 0 }: FormatOptions): string {
  const { rows, headline, summary } = createStacksView(run);
  return renderPrintableJson({
    format: 1,
    command: run.command,
    ok: exitCode === 0 || exitCode === 2,
    root: run.root,
    exitCode,
    headline,
    summary,
    dangers: countDangersInReports(run.parts.map(({ report }) => report)),
    stacks: run.parts.map(({ name, folder, keyEnv, exitCode: own, report }, index) => ({
      stack: name,
      folder,
      ...(keyEnv !== undefined && { keyEnv }),
      exitCode: own,
      summary: rows[index]?.said ?? '',
      dangers: countDangersInReports([report]),
      report: parseJson(renderJsonReport(report)),
    })),
  });
}

/**
 * The events of every stack, each event with the name of its stack, then a summary of the run. Events that an apply
 * sent while it ran come first.
 */
export function renderStacksJsonLines(run: StacksRunReport, options: FormatOptions): string {
  const { rows, headline, summary } = createStacksView(run);
  const events = run.parts.flatMap((part) => listEvents(part, options));
  const { at = new Date(0), exitCode = null, sent = { text: '', count: 0 } } = options;
  const stacks = run.parts.map(({ name, folder, exitCode: own, report }, index) => {
    const summary = rows[index]?.said ?? '';
    return { stack: name, folder, exitCode: own, summary, dangers: countDangersInReports([report]) };
  });
  const { command } = run;
  const dangers = countDangersInReports(run.parts.map(({ report }) => report));
  const last = { event: 'run-summary', command, exitCode, headline, summary, dangers, stacks };
  const lines = [...events, last].map((body, index) =>
    renderEventLine(body, { seq: sent.count + index + 1, time: at }),
  );
  return `${sent.text}${lines.join('')}`;
}

/** Omits events that were already sent while the stack was applied. */
function listEvents(
  { name, folder, exitCode, report, options: own }: StackReportPart,
  { sent, ...options }: FormatOptions,
): readonly EventBody[] {
  const known = sent?.parts?.has(folder) === true ? { sent: { text: '', count: 1 } } : {};
  const lines = renderJsonLinesReport(report, { ...options, ...own, ...known, exitCode })
    .trimEnd()
    .split('\n');
  return lines.map((line) => {
    const value = assertDefined(parseJson(line), 'an event that was just rendered');
    const { event, seq: _seq, time: _time, ...body } = isJsonObject(value) ? value : {};
    return { ...body, event: String(event), stack: name };
  });
}

/**
 * A JSON document with the resources of a stack. Each resource has its spec, as in a manifest, and the fields that the
 * service computed.
 */
export function createStackResourcesDocument(inventory: StackInventory): JsonObject {
  const { stack, baseUrl, requests, resources } = redactInventory(inventory);
  return {
    format: 1,
    command: 'get',
    ok: true,
    stack,
    baseUrl,
    requests,
    resources: resources.map(createResourceDocument),
  };
}

export function renderStackInventoryJson(inventory: StackInventory): string {
  return renderPrintableJson(createStackResourcesDocument(inventory));
}

/** The address of each resource, one per line. */
export function renderResourceAddresses({ resources }: StackInventory): string {
  return resources.map((one) => `${formatAddressWithDuplicateId(one)}\n`).join('');
}

function createResourceDocument({ address, live }: OwnedResource): JsonObject {
  const { kind, id, spec, computed, mark } = live;
  const hasToken = getKind(kind).oneTimeFields.length > 0;
  return {
    address,
    kind,
    name: getAddressName(address),
    id,
    ...(mark !== undefined && { protected: mark.protect }),
    ...(mark !== undefined && hasToken && { delivered: mark.delivered }),
    spec,
    computed,
  };
}

/** Properties of every resource that are not fields of its kind. */
const OWN: Readonly<Record<string, (resource: OwnedResource) => Json>> = {
  address: ({ address }) => address,
  kind: ({ live }) => live.kind,
  name: ({ address }) => getAddressName(address),
  id: ({ live }) => live.id,
};

/** Returns an error message if a kind cannot have a readable value at the path; otherwise undefined. */
export function checkReadableFieldPath(kind: Kind, path: FieldPath): string | undefined {
  const [first = '', ...rest] = path;
  if (kind.oneTimeFields.includes(String(first)))
    return `the ${first} of a ${kind.title} is shown only once, in the response to its creation, and cannot be read`;
  if (Object.hasOwn(OWN, String(first)) && rest.length === 0) return undefined;
  const end = path.reduce<FieldType | 'free' | 'none'>(
    (type, step) => computeTypeAt(type, step),
    toObjectTypeOfKind(kind),
  );
  return end === 'none' ? `a ${kind.title} has no field ${formatPath(path)}` : undefined;
}

/**
 * The value at `path` of each resource, one per line. Text is not quoted, each member of a list has its own line, and
 * any other value is JSON. Resources without a value are omitted. With `isNamed`, each line starts with the address of
 * its resource, to tell several resources apart.
 */
export function renderResourceFieldValues(inventory: StackInventory, path: FieldPath, isNamed: boolean): string {
  const lines = redactInventory(inventory).resources.flatMap((resource) => {
    const value = readPath(resource, path);
    const texts = isJsonArray(value) ? value.map(formatValue) : value === null ? [] : [formatValue(value)];
    return isNamed ? texts.map((text) => `${formatAddressWithDuplicateId(resource)}\t${text}`) : texts;
  });
  return lines.map((line) => `${line}\n`).join('');
}

function readPath(resource: OwnedResource, [first = '', ...rest]: FieldPath): Json {
  const { spec, computed } = resource.live;
  const name = String(first);
  const fields = { ...spec, ...computed };
  const value = Object.hasOwn(fields, name) ? fields[name] : Object.hasOwn(OWN, name) ? OWN[name]?.(resource) : null;
  return rest.reduce<Json>(readStep, value ?? null);
}

function readStep(value: Json, step: string | number): Json {
  if (isJsonArray(value)) return typeof step === 'number' ? (value[step] ?? null) : null;
  return isJsonObject(value) && Object.hasOwn(value, step) ? (value[step] ?? null) : null;
}

/** Removes a final line break, because the caller adds one. Escapes other unprintable characters. */
function formatValue(value: Json): string {
  return toPrintable(typeof value === 'string' ? value.replace(/\n$/, '') : toCanonicalJson(value));
}

function computeTypeAt(type: FieldType | 'free' | 'none', step: string | number): FieldType | 'free' | 'none' {
  if (type === 'free' || type === 'none') return type;
  if (type.type === 'json' || type.type === 'metadata') return 'free';
  if (type.type === 'list' && typeof step !== 'number') return 'none';
  return findMemberType(type, step) ?? 'none';
}

/** The results of policy tests as a JSON document. `ok`: all cases pass. */
export function renderPolicyTestsJson({ cases, untested }: PolicyTestResults): string {
  const failed = cases.filter(({ failure }) => failure !== undefined).length;
  return renderPrintableJson({
    format: 1,
    command: 'test-policy',
    ok: failed === 0,
    totals: { passed: cases.length - failed, failed },
    cases: cases.map(({ failure, ...one }) => ({
      ...one,
      ok: failure === undefined,
      ...(failure !== undefined && { failure }),
    })),
    untested,
  });
}

/** The results of policy tests as JUnit test results: a suite for each policy. */
export function renderPolicyTestsJunit({ cases }: PolicyTestResults): string {
  return renderJunitDocument(
    cases.map(({ policy, name, place, failure }): JunitCase => {
      const one = { suite: toPrintable(policy), name: toPrintable(name) };
      if (failure === undefined) return one;
      const message = toPrintable(failure);
      const annotation = {
        rule: 'policy',
        level: 'error',
        nature: 'finding',
        message,
        place: toPrintablePlace(place),
      } as const;
      return { ...one, annotation };
    }),
  );
}
