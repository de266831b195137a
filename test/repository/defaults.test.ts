import { chmodSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';
import { commitAll, toRepository, toStack } from './tree.ts';

/** A `Defaults` document with these settings. */
function toDefaults(spec: object): string {
  return `${JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Defaults', spec }, null, 2)}\n`;
}

/** Lists the settings with their values, and the document that sets each. */
async function listSetSettings({ edgewise }: Workspace, line: string): Promise<Readonly<Record<string, string>>> {
  const { exitCode, stdout, stderr } = await edgewise(`explain settings ${line} --format json`);
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  const { settings }: { readonly settings: readonly Readonly<Record<string, string>>[] } = JSON.parse(stdout);
  return Object.fromEntries(
    settings
      .filter(({ from }) => from !== 'default')
      .map(({ name, value, from, place = '' }) => [name, `${value} ${from} ${place}`.trim()]),
  );
}

const ENV = { EDGEWISE_BASE_URL: '', EDGEWISE_RATE_LIMIT: '' };

describe('Defaults', () => {
  it('set what a stack does not, the nearest first, field by field', async () => {
    const workspace = await createWorkspace({
      'all.yaml': toDefaults({
        api: { base_url: 'https://api.test', rate_limit: '60/60s', timeouts: { connect: '1s', body: '2s' } },
        guard: { max_deletes: 1, max_delete_share: 0.1 },
        tokens: { default: { directory: 'all' }, credentials: { x: { directory: 'x' }, y: { directory: 'y' } } },
        lint: { 'literal-id': 'error', 'repeated-value': 'off' },
        policies: ['far'],
        team_label: 'far',
      }),
      'live/near.yaml': toDefaults({
        api: { timeouts: { connect: '3s' } },
        guard: { max_deletes: 2 },
        tokens: { credentials: { x: { command: ['near'] } } },
        team_label: 'near',
      }),
      'live/a/edgewise.yaml': toStack('a', { guard: { max_deletes: 3 }, lint: { 'literal-id': 'off' }, policies: [] }),
    });
    const { stdout } = await workspace.edgewise('explain settings live/a', { env: ENV });
    expect(stdout).toMatchInlineSnapshot(`
      "SETTING                 VALUE                                 FROM
      API key                 set                                   EDGEWISE_API_KEY
      api.base_url            https://api.test                      Defaults all.yaml:6
      api.ca_file             not set                               default
      api.concurrency         8                                     default
      api.key_env             EDGEWISE_API_KEY                      default
      api.page_size           100                                   default
      api.rate_limit          60/60s                                Defaults all.yaml:7
      api.timeouts.body       2s                                    Defaults all.yaml:10
      api.timeouts.conflict   1m                                    default
      api.timeouts.connect    3s                                    Defaults live/near.yaml:7
      api.timeouts.headers    30s                                   default
      api.timeouts.request    2m                                    default
      api.version_header      Service-Version                       default
      guard.max_delete_share  0.1                                   Defaults all.yaml:15
      guard.max_deletes       3                                     Stack live/a/edgewise.yaml:1
      lint.cel_variables      []                                    default
      lint.literal-id         off                                   Stack live/a/edgewise.yaml:1
      lint.max_validity       90d                                   default
      lint.repeated-value     off                                   Defaults all.yaml:32
      policies                []                                    Stack live/a/edgewise.yaml:1
      team_label              near                                  Defaults live/near.yaml:22
      tokens.credentials.x    {"command":["near"],"timeout":"30s"}  Defaults live/near.yaml:15
      tokens.credentials.y    {"directory":"y"}                     Defaults all.yaml:25
      tokens.default          {"directory":"all"}                   Defaults all.yaml:18
      "
    `);
  });

  it('are the same for one stack, for all below a folder, and from any working folder', async () => {
    const workspace = await createWorkspace({
      ...toRepository(2),
      'defaults.yaml': toDefaults({ team_label: 'team', guard: { max_deletes: 4 } }),
      'live/defaults.json': toDefaults({ guard: { max_delete_share: 0.5 } }),
    });
    commitAll(workspace.folder);
    const stated = {
      team_label: 'team Defaults defaults.yaml:5',
      'guard.max_deletes': '4 Defaults defaults.yaml:7',
      'guard.max_delete_share': '0.5 Defaults live/defaults.json:6',
    };
    expect(await listSetSettings(workspace, 'live/s00')).toMatchObject(stated);
    expect(await listSetSettings(workspace, 'live/s00/edgewise.yaml live/s00/edges')).toMatchObject(stated);
    const cwd = join(workspace.folder, 'live/s00');
    const inside = { ...workspace, edgewise: (line: string) => workspace.edgewise(line, { cwd }) };
    expect(await listSetSettings(inside, '.')).toMatchObject({
      team_label: 'team Defaults ../../defaults.yaml:5',
      'guard.max_delete_share': '0.5 Defaults ../defaults.json:6',
    });
    for (const name of ['s00', 's01'])
      writeFileSync(
        join(workspace.folder, `live/${name}/edges/edge.yaml`),
        toEdge(`${name}-edge`, 20_000).replace('spec:', `  labels: { team: team-of-${name} }\nspec:`),
      );
    const alone = await workspace.edgewise('plan live/s00');
    const all = await workspace.edgewise('plan -R live');
    expect(alone.stdout).toContain('team: team-of-s00');
    expect(all.stdout).toContain('team: team-of-s00');
    expect(all.stdout).toContain('team: team-of-s01');
  });

  it('name files relative to themselves', async () => {
    const workspace = await createWorkspace({
      'shared/defaults.yaml': toDefaults({ policies: ['rules'], inputs: ['base/**'] }),
      'shared/rules/deny.yaml': JSON.stringify({
        apiVersion: 'edgewise/v1',
        kind: 'Policy',
        metadata: { name: 'no-creations' },
        spec: { require: 'change.action != "create"', message: 'nothing is created' },
      }),
      'shared/base/any.txt': 'one',
      'shared/a/edgewise.yaml': `${toStack('a')}---\n${toEdge('a', 20001)}`,
    });
    const { exitCode, stdout, stderr } = await workspace.edgewise('plan shared/a');
    expect(stdout + stderr).toContain('no-creations');
    expect(exitCode).toBe(5);
    commitAll(workspace.folder);
    writeFileSync(join(workspace.folder, 'shared/base/any.txt'), 'two');
    expect((await workspace.edgewise('stacks --changed-since HEAD')).stdout).toContain('shared/base/any.txt');
  });

  it('are reported at their line: a mistake, a second document in the folder', async () => {
    const workspace = await createWorkspace({
      'a/edgewise.yaml': `${toStack('a')}---\n${toEdge('a', 20001)}`,
      'one.yaml': toDefaults({ guard: { max_delete: 3 } }),
      'two.yaml': toDefaults({ team_label: 'team' }),
    });
    const { exitCode, stdout } = await workspace.edgewise('validate a');
    expect(exitCode).toBe(3);
    expect(stdout).toMatch(/bad-field\]: Defaults: .*\n {2}--> one\.yaml:6:7\n/);
    expect(stdout).toMatch(/duplicate-settings\]: Defaults: .*\n {2}--> two\.yaml:3:11\n/);
  });

  it('take nothing else from a file above a stack, and nothing from a document of another tool', async () => {
    const workspace = await createWorkspace({
      'a/edgewise.yaml': `${toStack('a')}---\n${toEdge('a', 20001)}`,
      'shared.yaml': `${toStack('other')}---\n${toEdge('b', 20002)}---\n${toDefaults({ team_label: 'team' })}---\nkind: Broken\n`,
      'tool.yaml': 'apiVersion: tool/v1\nkind: Defaults\nspec: { team_label: wrong }\n',
    });
    expect(await listSetSettings(workspace, 'a')).toMatchObject({ team_label: 'team Defaults shared.yaml:15' });
    const { changes } = readOnlyStack((await workspace.edgewise('plan a --format json')).stdout);
    expect(changes.map(({ address }: { readonly address: string }) => address)).toEqual(['TCPEdge/a']);
  });

  it('above the repository are not read, and behind a link out of it are refused by name', async () => {
    const workspace = await createWorkspace({
      'repository/a/edgewise.yaml': toStack('a'),
      'defaults.yaml': toDefaults({ team_label: 'outside' }),
    });
    const top = join(workspace.folder, 'repository');
    commitAll(top);
    const { exitCode, stdout } = await workspace.edgewise('explain settings a', { cwd: top });
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain('outside');
    symlinkSync('../defaults.yaml', join(top, 'defaults.yaml'));
    for (const line of ['validate a', 'plan a', 'plan a --untrusted', 'validate a/edgewise.yaml']) {
      const refused = await workspace.edgewise(line, { cwd: top });
      expect(refused.exitCode, line).toBe(3);
      expect(refused.stdout + refused.stderr).toContain(
        'defaults.yaml has Defaults for these manifests, but is not used, because it is outside the repository',
      );
    }
    rmSync(join(top, 'defaults.yaml'));
    for (const target of ['../other.yaml', '../gone.yaml', '/dev/zero'])
      symlinkSync(target, join(top, `${target.replace(/\W/g, '')}.yaml`));
    writeFileSync(join(workspace.folder, 'other.yaml'), 'a: 1\n');
    expect((await workspace.edgewise('validate a', { cwd: top })).exitCode).toBe(0);
    rmSync(join(top, '.git'), { recursive: true });
    expect((await workspace.edgewise('explain settings repository/a')).stdout).toContain('outside');
  });

  it('above a run over many stacks are refused by name where every user can write', async () => {
    const workspace = await createWorkspace({
      'shared/.git/HEAD': 'ref: refs/heads/main\n',
      'shared/defaults.yaml': toDefaults({ owner_label: 'stranger' }),
      'shared/live/a/edgewise.yaml': toStack('a'),
    });
    chmodSync(join(workspace.folder, 'shared'), 0o777);
    for (const line of ['stacks', 'plan -R .', 'apply -R . --yes']) {
      const refused = await workspace.edgewise(line, { cwd: join(workspace.folder, 'shared/live') });
      expect(refused.exitCode, line).toBe(3);
      expect(refused.stdout + refused.stderr).toContain(
        'defaults.yaml has Defaults for these manifests, but is not used, because ',
      );
    }
    expect(workspace.recorder.take()).toEqual([]);
  });

  it('mark every stack below them as changed, also if one is new or removed', async () => {
    const workspace = await createWorkspace({
      ...toRepository(2),
      'live/s01/defaults.yaml': toDefaults({ team_label: 'team' }),
      'live/s01/inner/edgewise.yaml': toStack('inner'),
      'else/edgewise.yaml': toStack('else'),
    });
    commitAll(workspace.folder);
    const listChanged = async (root: string) => {
      const { stacks } = JSON.parse(
        (await workspace.edgewise(`stacks ${root} --changed-since HEAD --format json`)).stdout,
      );
      return stacks.map(({ name }: { readonly name: string }) => name).join(' ');
    };
    expect(await listChanged('.')).toBe('');
    const write = (file: string, text: string) => writeFileSync(join(workspace.folder, file), text);
    write('live/defaults.yaml', toDefaults({}));
    expect(await listChanged('.')).toBe('s00 s01 inner');
    rmSync(join(workspace.folder, 'live/defaults.yaml'));
    rmSync(join(workspace.folder, 'live/s01/defaults.yaml'));
    expect(await listChanged('.')).toBe('s01 inner');
    write('defaults.yaml', toDefaults({}));
    expect(await listChanged('live')).toBe('s00 s01 inner');
    write('defaults.yaml', 'kind: Other\n');
    expect(await listChanged('else')).toBe('');
  });

  it('do not choose where the key goes while they are untrusted', async () => {
    const { edgewise, recorder } = await createWorkspace({
      'a/edgewise.yaml': toStack('a'),
      'defaults.yaml': toDefaults({ api: { base_url: 'https://attacker.invalid', rate_limit: 'none' } }),
    });
    const { exitCode, stdout, stderr } = await edgewise('plan a --untrusted');
    expect(exitCode).toBe(3);
    expect(stdout + stderr).toMatch(
      /untrusted-setting\]: spec\.api\.base_url is https:\/\/attacker\.invalid.*\n {2}--> defaults\.yaml:6:/,
    );
    expect(recorder.take()).toEqual([]);
  });

  it('make a saved plan stale if they change', async () => {
    const { edgewise, folder } = await createWorkspace({
      'a/edgewise.yaml': toStack('a'),
      'a/edge.yaml': toEdge('a', 20001),
    });
    expect(await edgewise('plan a -o p.json')).toMatchObject({ exitCode: 0 });
    writeFileSync(join(folder, 'defaults.yaml'), toDefaults({ policies: ['none-there'] }));
    const file = join(folder, 'defaults.yaml');
    writeFileSync(file, toDefaults({ guard: { max_deletes: 1 } }));
    const changed = await edgewise('apply a --approved p.json --yes');
    expect(changed.exitCode).toBe(6);
    expect(changed.stdout).toContain('guard.max_deletes: approved: 5; now: 1');
    rmSync(file);
    expect(await edgewise('apply a --approved p.json --yes')).toMatchObject({ exitCode: 0 });
  });

  it('reduce a new stack to three lines, and the schema is written once', async () => {
    const { edgewise, folder } = await createWorkspace({
      'defaults.yaml': toDefaults({ api: { base_url: 'https://api.test' } }),
    });
    for (const name of ['a', 'b'])
      expect(await edgewise(`init live/${name} --name ${name}`)).toMatchObject({ exitCode: 0 });
    const read = (file: string) => readFileSync(join(folder, file), 'utf8');
    expect(read('live/a/edgewise.yaml')).toBe('apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: a }\n');
    for (const name of ['a', 'b']) {
      const [, schema = ''] = /\$schema=(\S+)/.exec(read(`live/${name}/example.yaml`)) ?? [];
      expect(JSON.parse(read(join(`live/${name}`, schema)))).toHaveProperty('title', 'edgewise manifest');
      expect(join(`live/${name}`, schema)).toBe('.edgewise/manifest.schema.json');
    }
    expect(await edgewise('validate -R live', { env: ENV })).toMatchObject({ exitCode: 3 }); // Both examples listen on one address.
    expect(await edgewise('validate live/b --strict', { env: ENV })).toMatchObject({ exitCode: 0 });
  });
});
