import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { findInLayers, findSetting, listMembersInLayers, resolveSetting } from '../../src/settings/resolve.ts';
import type { Setting } from '../../src/settings/setting.ts';
import { NAMED_SETTINGS, SETTING_GROUPS } from '../../src/settings/table.ts';

/** A `spec` with the value at a path. */
function toSpec(path: string, value: string): JsonObject {
  const [first = '', ...rest] = path.split('.');
  return { [first]: rest.length === 0 ? value : toSpec(rest.join('.'), value) };
}

function toLayer(by: 'Stack' | 'Defaults', spec: JsonObject) {
  const place = { file: 'a.yaml', line: 1, column: 1 };
  return { by, spec, locate: () => place, toPath: (path: string) => `folder/${path}` };
}

describe('a setting', () => {
  const isSet = [false, true];
  const documents = isSet.flatMap((stack) => isSet.flatMap((near) => isSet.map((far) => ({ stack, near, far }))));
  const texts = [undefined, '', 'set'];
  const cases = texts.flatMap((flag) =>
    texts.flatMap((inVariable) =>
      isSet.flatMap((isUntrusted) => documents.map((set) => ({ flag, inVariable, isUntrusted, set }))),
    ),
  );

  it.each(NAMED_SETTINGS)('has the value of the first source that sets it: $name', (setting) => {
    const {
      name,
      variables: [variable] = [],
      stack: path,
      needsTrust,
    }: Setting & { name: typeof setting.name } = setting;
    for (const { flag, inVariable, isUntrusted, set } of cases) {
      const layers = (['stack', 'near', 'far'] as const).map((one) =>
        toLayer(one === 'stack' ? 'Stack' : 'Defaults', set[one] && path !== undefined ? toSpec(path, one) : {}),
      );
      const env = variable === undefined ? {} : { [variable]: inVariable && 'variable' };
      const isDocument = path !== undefined && !(isUntrusted && needsTrust);
      const expected = [
        ...(flag ? ['flag'] : []),
        ...(variable !== undefined && inVariable ? ['variable'] : []),
        ...(isDocument ? (['stack', 'near', 'far'] as const).filter((one) => set[one]) : []),
      ];
      const found = findSetting(name, { flags: { [name]: flag && 'flag' }, env, layers, isUntrusted });
      expect(found?.value).toBe(expected[0]);
    }
  });

  it('names the flag, the variable or the option whose value is invalid', () => {
    const mistakes = [
      resolveSetting('rateLimit', { flags: { rateLimit: 'fast' } }),
      resolveSetting('rateLimit', { options: { rateLimit: 'fast' } }),
      resolveSetting('timeout', { env: { EDGEWISE_TIMEOUT: 'soon' } }),
      resolveSetting('pageSize', { options: { pageSize: 1.5 } }),
      resolveSetting('env', { env: { EDGEWISE_ENV: 'A, B-' } }),
    ];
    expect(mistakes).toEqual([
      { path: [], message: '--rate-limit is "fast", and must be REQUESTS/SECONDSs, such as `120/60s`, or `none`.' },
      { path: [], message: 'rateLimit is "fast", and must be REQUESTS/SECONDSs, such as `120/60s`, or `none`.' },
      {
        path: [],
        message:
          'EDGEWISE_TIMEOUT is "soon", and must be a whole number and a unit: `s`, `m`, `h`, `d` or `w`, such as `90d`.',
      },
      { path: [], message: 'pageSize is 1.5, and must be a whole number from 1 to 100.' },
      {
        path: [],
        message:
          'EDGEWISE_ENV is "A, B-", and must be a list, each member the name of a variable, such as DEPLOY_REGION.',
      },
    ]);
  });

  it('that is yes or no is only no by 0 or false in any case, so that a typing mistake trusts no manifests', () => {
    const resolveVariable = (text: string) => resolveSetting('untrusted', { env: { EDGEWISE_UNTRUSTED: text } });
    for (const text of ['0', 'false', 'FALSE', 'False']) expect(resolveVariable(text)).toEqual({ value: false });
    for (const text of ['1', 'true', 'TRUE', 'yes', 'no', 'flase'])
      expect(resolveVariable(text)).toEqual({ value: true });
  });

  it('never shows an invalid base URL, which may contain a password', () => {
    const resolved = resolveSetting('baseUrl', { env: { EDGEWISE_BASE_URL: 'https://me:secret@api.test' } });
    expect(resolved).toHaveProperty('message', expect.stringMatching(/^EDGEWISE_BASE_URL must be an http/));
    expect(JSON.stringify(resolved)).not.toContain('secret');
  });

  it('has a path relative to its own document', () => {
    const layers = [toLayer('Stack', {}), toLayer('Defaults', { policies: ['a', 'b'] })];
    expect(resolveSetting('policies', { layers })).toEqual({ value: ['folder/a', 'folder/b'] });
    expect(resolveSetting('caFile', { flags: { caFile: 'a' }, layers })).toEqual({ value: 'a' });
  });

  it('of a credential comes from the first document that names the credential', () => {
    const specs: readonly JsonObject[] = [
      JSON.parse('{ "tokens": { "credentials": { "__proto__": 1, "a": 2 } } }'),
      JSON.parse('{ "tokens": { "credentials": { "a": 3, "b.c": 4 } } }'),
    ];
    const layers = specs.map((spec) => toLayer('Defaults', spec));
    const path = ['tokens', 'credentials'];
    const values = listMembersInLayers(path, layers).map((name) => [
      name,
      findInLayers([...path, name], layers)?.value,
    ]);
    expect(values).toEqual([
      ['__proto__', 1],
      ['a', 2],
      ['b.c', 4],
    ]);
  });
});

describe('the table of settings', () => {
  it('has one setting for each flag, variable and path', () => {
    const ways = NAMED_SETTINGS.flatMap((setting: Setting) => [
      ...[setting.flag, setting.stack].filter((way) => way !== undefined),
      ...(setting.variables ?? []),
    ]);
    expect(ways.filter((way, index) => ways.indexOf(way) !== index)).toEqual([]);
  });

  it('lists the settings that an untrusted Stack does not choose', () => {
    const trusted = NAMED_SETTINGS.filter(({ needsTrust }: Setting) => needsTrust);
    expect(trusted.map(({ stack }: Setting) => stack).sort()).toEqual([
      'api.base_url',
      'api.ca_file',
      'api.key_env',
      'api.rate_limit',
      'api.version_header',
    ]);
  });

  it('describes each group of settings, and no other', () => {
    const groups = NAMED_SETTINGS.flatMap(({ stack = '' }: Setting) => {
      const steps = stack.split('.').slice(0, -1);
      return steps.map((_, index) => steps.slice(0, index + 1).join('.'));
    });
    expect(new Set(groups)).toEqual(new Set(Object.keys(SETTING_GROUPS)));
  });
});

describe('the environment', () => {
  it('is read in one place', () => {
    const files = globSync('src/**/*.ts').filter((file) => /process\.env\b/.test(readFileSync(file, 'utf8')));
    expect(files).toEqual(['src/stack/process-host.ts']);
  });

  it('sets no setting outside of the table', () => {
    const texts = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    const read = texts.flatMap((text) => text.match(/(?<=env\[')EDGEWISE_\w+|(?<=: ')EDGEWISE_\w+(?=',)/g) ?? []);
    const known = new Set(NAMED_SETTINGS.flatMap(({ variables = [] }: Setting) => variables));
    expect(read.filter((name) => !known.has(name))).toEqual([]);
    expect(texts.join('').match(/env\['(?:EDGEWISE_|NO_COLOR)/g)).toBeNull();
  });
});
