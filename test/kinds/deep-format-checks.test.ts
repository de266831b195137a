import { describe, expect, it } from 'vitest';
import {
  listDeepFormatFindings,
  listDeeplyCheckedFormats,
  loadDeepFormatChecks,
} from '../../src/kinds/deep-format-checks.ts';
import { field, listOf, mapOf, objectOf, text, textOfFormat } from '../../src/kinds/field.ts';
import { defineKind } from '../../src/kinds/kind.ts';
import { TCP_EDGE } from '../../src/kinds/tables/tcp-edge.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';
const CUT_OFF = KEY.slice(0, -4);

/** A kind with keys wherever a text may stand. */
const BASTION = defineKind({
  name: 'Bastion',
  role: 'owned',
  title: 'bastion',
  description: 'Made up.',
  idPrefix: 'bast',
  path: '/bastions',
  listKey: 'bastions',
  fields: {
    host_key: field(textOfFormat('ssh-public-key'), 'A key.'),
    user_keys: field(listOf(textOfFormat('ssh-public-key'), { orSingle: true }), 'Keys.'),
    by_host: field(mapOf(text(), objectOf({ key: field(textOfFormat('ssh-public-key'), 'A key.') })), 'Keys.'),
    by_key: field(mapOf({ type: 'text', format: 'ssh-public-key' }, text()), 'Names.'),
    seen: field(textOfFormat('ssh-public-key'), 'The service tells.', { lifecycle: 'computed' }),
  },
});

describe('closer checks', () => {
  it('look at each text of a format that has one, in any kind and at any depth', async () => {
    const spec = {
      host_key: CUT_OFF,
      user_keys: [KEY, CUT_OFF],
      by_host: { a: { key: KEY }, b: { key: CUT_OFF } },
      by_key: { [CUT_OFF]: 'alice' },
      seen: CUT_OFF,
    };
    const problems = listDeepFormatFindings(BASTION, spec, await loadDeepFormatChecks([BASTION]));
    expect(problems.map(({ path }) => path)).toEqual([
      ['host_key'],
      ['user_keys', 1],
      ['by_host', 'b', 'key'],
      ['by_key', CUT_OFF],
    ]);
    expect(problems[1]?.message).toBe('spec.user_keys[1] is not a complete SSH public key');
  });

  it('look at a single value that stands for a list', async () => {
    const problems = listDeepFormatFindings(BASTION, { user_keys: CUT_OFF }, await loadDeepFormatChecks([BASTION]));
    expect(problems.map(({ path }) => path)).toEqual([['user_keys']]);
  });

  it('are loaded for kinds that need them, and for no other', async () => {
    expect(listDeeplyCheckedFormats(BASTION)).toEqual(['ssh-public-key']);
    expect(listDeeplyCheckedFormats(TCP_EDGE)).toEqual([]);
    expect((await loadDeepFormatChecks([TCP_EDGE])).size).toBe(0);
  });
});
