import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMap, isSeq, type Node, parseAllDocuments } from 'yaml';
import { type AcceptResult, acceptDrift } from '../../src/accept/accept-drift.ts';
import { createReferenceNames } from '../../src/accept/reference-names.ts';
import { type NamedDrift, selectDrift } from '../../src/accept/select-drift.ts';
import { parseIgnoredPart } from '../../src/kinds/ignored-parts.ts';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import { toAddress } from '../../src/model/address.ts';
import type { DesiredState } from '../../src/model/state.ts';
import { computeDrift } from '../../src/plan/compute-drift.ts';
import { createPlan } from '../../src/plan/create-plan.ts';
import { LONG } from '../tries.ts';
import { arbitraryDrift } from './arbitrary-drift.ts';
import { changeField, listChangeable } from './other-user.ts';
import { holds } from './properties.ts';
import { listStackDocuments } from './render-stack.ts';
import { arbitraryStyle, renderStyled } from './styled-manifests.ts';
import { SUBJECTS } from './subjects.ts';
import { World } from './world.ts';

const FILE = 'manifests.yaml';

const FIELDS = SUBJECTS.flatMap((kind) =>
  listChangeable(kind).map((field) => ({ kind, label: `${kind.name} ${field}`, field })),
);

describe('a field that another user changes', () => {
  it.each(FIELDS)('is written to the manifest, and nothing else: $label', LONG, async ({ kind, field }) => {
    const property = fc.asyncProperty(
      arbitraryDrift(kind, field),
      arbitraryStyle(),
      async ({ stack, drifted }, style) => {
        const subject = stack[0];
        if (subject === undefined || drifted === undefined) return;
        const text = renderStyled(listStackDocuments(stack), style);
        const before = load(text);
        const world = new World();
        await world.migrate(before);
        await changeField(world, { resource: drifted, stack }, field);
        const address = toAddress(subject.kind, subject.name);
        const result = await accept(world, text, [{ address, field }]);
        if (subject.lifecycle.ignore.some((path) => parseIgnoredPart(path).field === field)) return;
        expect(result.refused).toEqual([]);
        const after = result.files[0]?.after ?? text;
        expectSameAround({ before: text, after, kind: kind.name, name: subject.name, field });
        const plan = await world.plan(load(after));
        const left = plan.changes.find((change) => change.address === address)?.differences ?? [];
        expect(left.filter((one) => one.field === field && !one.isHidden)).toEqual([]);
        expect((await accept(world, after, [{ address, field }])).files).toEqual([]);
      },
    );
    await holds(property, 12);
  });
});

function load(text: string): DesiredState {
  const { state, diagnostics } = validateManifests([{ file: FILE, text }], { env: NO_ENVIRONMENT });
  if (state !== undefined) return state;
  throw new Error(`Not valid:\n${diagnostics.map(({ message }) => message).join('\n')}\n${text}`);
}

async function accept(world: World, text: string, named: readonly NamedDrift[]): Promise<AcceptResult> {
  const desired = load(text);
  const input = await world.readInput(desired);
  const drift = computeDrift(createPlan(input), input);
  const names = createReferenceNames(drift, desired);
  return acceptDrift({
    drift,
    desired,
    names,
    selected: selectDrift(drift, { isAll: false, named }),
    validate: (files) =>
      validateManifests(
        files.flatMap(({ file, after }) => (after === undefined ? [] : [{ file, text: after }])),
        { env: NO_ENVIRONMENT },
      ),
    compare: (state) => createPlan({ ...input, desired: state }).changes,
  });
}

/**
 * Expects that only the text of one field differs: what is before its key and behind its value is as it was, but for the
 * commas between members.
 */
function expectSameAround({
  before,
  after,
  ...subject
}: Record<'before' | 'after' | 'kind' | 'name' | 'field', string>): void {
  const place = findField(before, subject);
  const [whole, other] = place === undefined ? [after, before] : [before, after];
  const { start, end } = place ?? findField(after, subject) ?? { start: after.length, end: after.length };
  const lead = withoutCommas(whole.slice(0, start)).trimEnd();
  const rest = withoutCommas(whole.slice(end))
    .replace(/^\s*(?:#[^\n]*)?\s*/, '')
    .trimEnd();
  const plain = withoutCommas(other).trimEnd();
  expect(plain.startsWith(lead), `${lead}\n<<<>>>\n${other}`).toBe(true);
  expect(plain.endsWith(rest), `${rest}\n<<<>>>\n${other}`).toBe(true);
  expect(/\r\n/.test(after)).toBe(/\r\n/.test(before));
}

function withoutCommas(text: string): string {
  return text.replaceAll(',', '');
}

function findField(
  text: string,
  { kind, name, field }: Record<'kind' | 'name' | 'field', string>,
): { readonly start: number; readonly end: number } | undefined {
  for (const { contents } of parseAllDocuments(text)) {
    const found = isMap(contents) ? contents : undefined;
    const items: unknown = found?.get('items');
    const all = isSeq(items) ? items.items : [found];
    for (const one of all) {
      if (!isMap(one) || one.get('kind') !== kind || one.getIn(['metadata', 'name']) !== name) continue;
      const spec: unknown = one.get('spec');
      const item = isMap(spec) ? spec.items.find((pair) => String(pair.key) === field) : undefined;
      const spanOf = (node: unknown) => (node as Node | null | undefined)?.range;
      const [key, value] = [spanOf(item?.key), spanOf(item?.value)];
      if (key) return { start: key[0], end: value ? value[1] : key[1] };
    }
  }
  return undefined;
}
