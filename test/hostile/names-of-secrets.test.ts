import { expect, it } from 'vitest';
import { isNameOfSecret } from '../../src/model/secret-names.ts';
import { createWorkspace, STACK, toManifest } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';

/** Names for and against. A table, so that a change of the rule shows which names it concerns. */
const NAMES: Readonly<Record<'hidden' | 'shown', readonly string[]>> = {
  hidden: [
    ...['token', 'authtoken', 'X-Authtoken', 'secret', 'client_secret', 'clientSecret', 'Authorization', 'Set-Cookie'],
    ...['password', 'pgpassword', 'PASSWORD_2', 'passwd', 'db_passwd', 'credential', 'aws-credentials'],
    ...['key', 'keys', 'api_key', 'apiKey', 'X-Api-Key', 'APIKeys', 'apikey', 'accesskey', 'ssh.key', 'keyMaterial'],
    ...['keyring', 'monkey_key', 'mon_key', 'turKey', 'additional_keys2'],
  ],
  shown: [
    ...['url', 'name', 'type', 'author', 'passport', 'compass', 'turkish', 'hostname', 'kubernetes', 'k_e_y'],
    ...[
      'keyboard',
      'KEYBOARD_LAYOUT',
      'keyboards',
      'monkey',
      'Monkeys',
      'codeMonkey',
      'keyword',
      'x-keywords',
      'turkey',
    ],
    ...['hockey', 'keynote', 'keystroke', 'whiskey'],
  ],
};

it.each(NAMES.hidden)('what is named %s is hidden', (name) => {
  expect(isNameOfSecret(name)).toBe(true);
});

it.each(NAMES.shown)('what is named %s is shown', (name) => {
  expect(isNameOfSecret(name)).toBe(false);
});

/** The rule of 1.0.0-rc.1. */
const FORMER = /authorization|cookie|token|key|secret|password/i;

it('of the names, only listed words are shown that were hidden before', () => {
  const before = NAMES.shown.filter((name) => FORMER.test(name)).map((name) => name.toLowerCase());
  expect(
    before.filter((name) => !/keyboard|monkey|keyword|turkey|hockey|keynote|keystroke|whiskey/.test(name)),
  ).toEqual([]);
});

it.each([...NAMES.hidden, ...NAMES.shown])(
  'a plan hides what is below %s as the table says, and nothing else',
  async (name) => {
    const config = { [name]: { a: ['a text of it'], b: 4711_4711 }, beside: 'a text beside it' };
    const policy = { inbound: { expressions: [], actions: [{ type: 'add', config }] } };
    const { edgewise } = await createWorkspace({ 'a.yaml': STACK + toManifest('TCPEdge', 'shop', { policy }) });
    const text = (await edgewise('plan --verbose')).stdout;
    const { changes, writes } = readOnlyStack((await edgewise('plan --format json')).stdout);
    for (const shown of [text, JSON.stringify([changes, writes])]) {
      const isHidden = NAMES.hidden.includes(name);
      const found = ['a text of it', '47114711', 'a text beside it'].map((one) => shown.includes(one));
      expect(found).toEqual([!isHidden, !isHidden, true]);
    }
  },
);
