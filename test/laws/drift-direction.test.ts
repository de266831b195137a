import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLive } from '../../src/client/read-live.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { toAddress } from '../../src/model/address.ts';
import type { Difference } from '../../src/model/change.ts';
import type { Drift } from '../../src/model/drift.ts';
import { assertDefined } from '../../src/model/errors.ts';
import { parsePath } from '../../src/model/field-path.ts';
import { isJsonArray, isJsonObject, type Json } from '../../src/model/json.ts';
import type { FieldPath, Spec } from '../../src/model/state.ts';
import { computeDrift } from '../../src/plan/compute-drift.ts';
import { createReadRequest } from '../../src/plan/select-targets.ts';
import { type FormatName, listFormatNames, loadReportRenderer } from '../../src/report/formats.ts';
import type { ReportRenderer } from '../../src/report/report.ts';
import { PLAIN } from '../report/sample-plans.ts';
import { readOnlyStack } from '../results.ts';
import { LONG } from '../tries.ts';
import { arbitraryDrift } from './arbitrary-drift.ts';
import { isSameField } from './field-change.ts';
import { changeField, listChangeable } from './other-user.ts';
import { holds } from './properties.ts';
import type { TestStack } from './stack.ts';
import { SUBJECTS } from './subjects.ts';
import { loadStack, World } from './world.ts';

const NOW = new Date('2026-03-02T00:00:00Z');

const FIELDS = SUBJECTS.flatMap((kind) =>
  listChangeable(kind).map((field) => ({ kind, field, label: `${kind.name} ${field}` })),
);

describe('the drift of a field', () => {
  it.each(FIELDS)(
    'goes from the expected to the live value, in every format: $label',
    LONG,
    async ({ kind, field }) => {
      const forms = await loadForms();
      const property = fc.asyncProperty(arbitraryDrift(kind, field), async ({ stack, drifted }) => {
        const [subject] = stack;
        if (subject === undefined || drifted === undefined || subject.lifecycle.ignore.includes(field)) return;
        if (isSameField(kind, field, [drifted, subject])) return;
        fc.pre(
          [subject, drifted].every(({ spec }) => listTexts(spec[field] ?? null).every((text) => PLAIN_TEXT.test(text))),
        );
        const world = new World();
        await world.migrate(stack);
        const before = await readSubject(world, stack, kind);
        await changeField(world, { resource: drifted, stack }, field);
        const after = await readSubject(world, stack, kind);
        const drift = await compare(world, stack);
        const found = drift.changes.filter(({ state }) => state !== 'in-sync');
        const word = kind.role === 'owned' ? 'drifted' : 'differs';
        expect(found.map(({ address, state }) => [address, state])).toEqual([[`${kind.name}/${subject.name}`, word]]);
        const differences = found.flatMap((one) => one.differences);
        for (const difference of differences) expectExpectedAndLive(difference, { before, after });
        for (const [name, form] of forms) expectForm(name, form({ about: 'drift', drift }, PLAIN), differences);
      });
      await holds(property, 6);
    },
  );
});

async function loadForms(): Promise<readonly (readonly [FormatName, ReportRenderer])[]> {
  const names = listFormatNames('drift').filter((name) => name !== 'metrics');
  return Promise.all(names.map(async (name) => [name, await loadReportRenderer(name)] as const));
}

/** The first resource of a stack as the service stores it. */
async function readSubject(world: World, stack: TestStack, kind: Kind): Promise<Spec> {
  const live = await readLive(world.connect(), createReadRequest(loadStack(stack), []));
  const name = stack[0]?.name ?? '';
  const owned = (live.resources.get(kind.name) ?? []).find(({ mark }) => mark?.name === name);
  const attached = live.attachments.get(toAddress(kind.name, name));
  return assertDefined(kind.role === 'owned' ? owned : attached, 'the live subject').spec;
}

async function compare(world: World, stack: TestStack): Promise<Drift> {
  const live = await readLive(world.connect(), createReadRequest(loadStack(stack), []));
  return computeDrift(await world.plan(stack), { live, now: NOW });
}

/** Texts that no format escapes or shortens, and that are not words of a format. */
const PLAIN_TEXT = /^[\w.*:/=@-]{0,40}$/;

/** Expects the values before and after the change at the service. */
function expectExpectedAndLive(
  { path, from: live, to: expected }: Difference,
  sides: { readonly before: Spec; readonly after: Spec },
) {
  const steps = assertDefined(parsePath(path), path);
  expect([expected, live].map(toValue), path).toEqual(
    [sides.before, sides.after].map((spec) => toValue(valueAt(spec, steps))),
  );
}

function toValue(value: Json | undefined): Json {
  return value === undefined || value === '' ? null : value;
}

function valueAt(value: Json | undefined, [step, ...rest]: FieldPath): Json | undefined {
  if (step === undefined) return value;
  if (isJsonArray(value)) return valueAt(value[Number(step)], rest);
  return isJsonObject(value) && Object.hasOwn(value, step) ? valueAt(value[step], rest) : undefined;
}

/** Lists every text in a value, with the keys of maps. */
function listTexts(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (isJsonArray(value)) return value.flatMap(listTexts);
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, member]) => [key, ...listTexts(member)]);
  return [];
}

/** The values that a format shows as removed and as added. */
interface ShownSides {
  readonly gone: string;
  readonly there: string;
}

/** Expects values of only one side to be on that side, and words that say what happened. */
function expectForm(name: FormatName, document: string, differences: readonly Difference[]): void {
  const shown = READERS[name]?.(document);
  if (shown === undefined) return;
  const [gone, there] = [listShownValues(differences, 'to'), listShownValues(differences, 'from')];
  expectSide(`${name} gone`, {
    told: gone,
    others: there,
    shown: shown.gone,
    elsewhere: shown.there,
    isWhole: WHOLE.has(name),
  });
  expectSide(`${name} there`, {
    told: there,
    others: gone,
    shown: shown.there,
    elsewhere: shown.gone,
    isWhole: WHOLE.has(name),
  });
  if (name.startsWith('json')) return;
  for (const difference of differences) {
    expectWords(document, difference);
    expectNumbers(name === 'html' ? document.replace(/<[^>]*>/g, '') : document, difference);
  }
}

interface SideTexts {
  /** The texts in the values of one side, and those of the other. */
  readonly told: readonly string[];
  readonly others: readonly string[];
  readonly shown: string;
  readonly elsewhere: string;
  readonly isWhole: boolean;
}

/** Members with defaults are left out, so one text is enough. */
function expectSide(what: string, { told, others, shown, elsewhere, isWhole }: SideTexts): void {
  const own = told.filter((text) => !others.some((other) => other.includes(text)));
  if (isWhole && own.length > 0)
    expect(
      own.some((text) => shown.includes(text)),
      `${what}: ${own} in ${shown}`,
    ).toBe(true);
  for (const text of own) expect(elsewhere, what).not.toContain(text);
}

/** On one line, or on two if it is too long, each with or without the path. */
function expectNumbers(document: string, { to: expected, from: live, origin }: Difference): void {
  if (origin === 'both' || ![expected, live].every((value) => typeof value === 'number' || typeof value === 'boolean'))
    return;
  const isShown = document.includes(`${expected} → ${live}`);
  if (!isShown)
    expect(document).toMatch(new RegExp(`- (?:\\S+: )?${toPattern(expected)}\\s*\\+ (?:\\S+: )?${toPattern(live)}`));
}

function toPattern(value: Json | undefined): string {
  return String(value).replaceAll(/[.+]/g, '\\$&');
}

/** Formats that shorten no value. */
const WHOLE: ReadonlySet<FormatName> = new Set(['text', 'html', 'json']);

/** The values of one side that are long enough not to be words of JSON. */
function listShownValues(differences: readonly Difference[], side: 'from' | 'to'): readonly string[] {
  return differences
    .flatMap((one) => listLeaves(one[side] ?? null))
    .filter((text) => text.length > 4 && text !== 'false');
}

/** Values, and keys of maps, which name the numbers after them. */
function listLeaves(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (isJsonArray(value)) return value.flatMap(listLeaves);
  return isJsonObject(value) ? Object.values(value).flatMap(listLeaves) : [];
}

function expectWords(document: string, { to: expected, from: live, origin }: Difference): void {
  const [wasNothing, isNothing] = [expected, live].map(isEmpty);
  const isKnown = origin === 'drift';
  if (isNothing === wasNothing) return;
  const word = isNothing ? (isKnown ? 'removed' : 'not') : isKnown ? 'added' : 'only';
  expect(document).toContain(`${word} at the service`);
}

function isEmpty(value: Json | undefined): boolean {
  const isHollow = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return isHollow || value === undefined || value === null || value === '';
}

/** How each format shows the two sides. */
const READERS: Readonly<Partial<Record<FormatName, (document: string) => ShownSides>>> = {
  json: (document) => readJson(readOnlyStack(document).changes),
  text: (document) => {
    const lines = document.split('\n');
    const inline = lines.flatMap((line) => /^ {4}\S.*?: +(.*) → (.*?)(?: {2}\(.*)?$/.exec(line)?.slice(1) ?? []);
    return {
      gone: [...lines.filter((line) => /^ {6}- /.test(line)), ...inline.filter((_, index) => index % 2 === 0)].join(
        '\n',
      ),
      there: [...lines.filter((line) => /^ {6}\+ /.test(line)), ...inline.filter((_, index) => index % 2 === 1)].join(
        '\n',
      ),
    };
  },
  html: (document) => ({ gone: readElements(document, 'del'), there: readElements(document, 'ins') }),
  markdown: (document) => {
    // The last column is about the next apply.
    const happened = document.replace(/^(\|[^|]*\|[^|]*\|)[^|]*\|$/gm, '$1');
    return readBriefs(Array.from(happened.matchAll(/`([^`]*)`/g), ([, code = '']) => code));
  },
  github: (document) => readMessages(document.split('\n')),
  junit: (document) => {
    const messages = Array.from(document.matchAll(/ message="([^"]*)"/g), ([, text = '']) =>
      text.replaceAll('&quot;', '"'),
    );
    return readMessages(messages);
  },
  sarif: (document) => readMessages(listMessages(JSON.parse(document))),
};

/** The direction of the plan: from live to expected. */
function readJson(changes: Drift['changes']): ShownSides {
  const fields = changes.flatMap(({ differences }) => differences);
  return {
    gone: JSON.stringify(fields.map(({ to }) => to)),
    there: JSON.stringify(fields.map(({ from }) => from)),
  };
}

function readElements(document: string, element: string): string {
  return Array.from(document.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'g')), ([, text]) => text).join(
    '\n',
  );
}

function listMessages(log: {
  readonly runs: readonly { readonly results: readonly { readonly message: { readonly text: string } }[] }[];
}): readonly string[] {
  return log.runs.flatMap(({ results }) => results.map(({ message }) => message.text));
}

/** Text before the next apply, which changes in the other direction. */
function readMessages(messages: readonly string[]): ShownSides {
  return readBriefs(messages.flatMap((message) => message.replace(/; next apply: .*$/s, '').split('; ')));
}

/** `path: - removed`, `path: + added`, `path: removed → added`. */
function readBriefs(briefs: readonly string[]): ShownSides {
  const sides = briefs.map((text): ShownSides => {
    const brief = text.replace(/^.*? (?:was changed at the service|differs from its manifest): /s, '');
    const [gone = '', there] = brief.split(' → ');
    if (there !== undefined) return { gone, there };
    return { gone: brief.includes(': - ') ? brief : '', there: brief.includes(': + ') ? brief : '' };
  });
  return { gone: sides.map(({ gone }) => gone).join('\n'), there: sides.map(({ there }) => there).join('\n') };
}
