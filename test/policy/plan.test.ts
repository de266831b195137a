import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GENERAL_FORMAT_NAMES } from '../../src/report/formats.ts';
import { createWorkspace, STACK, toCredential, toEdge, type Workspace } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';
import { OWNED, toPolicyText } from './policy-text.ts';

const EDGE = toEdge('a', 20001);
const OWNED_EDGE = EDGE.replace('name: a', 'name: a\n  labels: { team: data }');

const countWrites = ({ recorder }: Workspace): number =>
  recorder.take().filter(({ method }) => method !== 'GET').length;

/** Formats without messages. */
const NUMBERS: ReadonlySet<string> = new Set(['metrics']);

describe('a policy among the manifests', () => {
  it('refuses a plan, with the lines of the resource and of the policy', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + EDGE + OWNED });
    const planned = await workspace.edgewise('plan');
    expect(planned.stdout).toMatchInlineSnapshot(`
      "Plan for stack test on https://api.test
      0 to delete, 0 to replace, 0 to update, 0 to adopt, 1 to create; 0 unchanged.
      1 safety rule blocks this plan: see below.
      1 warning: see below.
      edgewise apply would write nothing and end with exit code 5.

      refused[policy]: Say in the label team whose TCPEdge/a is. (policy owned)
        note: the resource is here
        --> edgewise.yaml:9:9
         8 | metadata:
         9 |   name: a
           |         ^
        10 | spec:
        note: the policy is here
        --> edgewise.yaml:18:12
        17 | spec:
        18 |   require: "\\"team\\" in labels"
           |            ^^^^^^^^^^^^^^^^^^^^
        19 |   message: "Say in the label team whose \${change.address} is."
        help: No flag allows what a policy refuses. Change the manifest, or ask the author of the policy.

      + TCPEdge/a   create
          warning[no-backend]: no backend is enabled, so its traffic goes nowhere (edgewise.yaml:10:1)
          hostports:
            + 1.tcp.example.net:20001

      Open to everyone, as written:
        TCPEdge/a

      Reading took 6 requests; applying takes 1 write.
      "
    `);
    expect(planned.exitCode).toBe(5);
    expect((await workspace.edgewise('apply --yes')).exitCode).toBe(5);
    expect(countWrites(workspace)).toBe(0);
  });

  it.each(GENERAL_FORMAT_NAMES)('refuses a plan in the format %s, whatever the consent', async (format) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + EDGE + OWNED });
    const line = `--allow-deletes --allow-protected TCPEdge/a --format ${format}`;
    const planned = await workspace.edgewise(`plan ${line}`);
    expect(planned.exitCode).toBe(5);
    if (!NUMBERS.has(format)) {
      expect(planned.stdout).toContain('Say in the label team whose TCPEdge/a is. (policy owned)');
      // Once for the resource, and once for the policy.
      expect(planned.stdout.match(/edgewise\.yaml/g)?.length).toBeGreaterThan(1);
    }
    expect(await workspace.edgewise(`apply --yes ${line}`)).toMatchObject({ exitCode: 5 });
    expect(countWrites(workspace)).toBe(0);
  });

  it('accepts a plan that meets it', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + OWNED_EDGE + OWNED });
    expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    expect(countWrites(workspace)).toBe(1);
  });

  it('with severity warning shows one warning, and does not stop the apply', async () => {
    const policy = toPolicyText('owned', { require: '"team" in labels', message: 'Whose is it?', severity: 'warning' });
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + EDGE + policy });
    const { exitCode, stdout } = await workspace.edgewise('apply --yes');
    expect(exitCode).toBe(0);
    expect(stdout.match(/^ *warning\[policy-violated\].*/gm)).toEqual([
      'warning[policy-violated]: TCPEdge/a: Whose is it? (policy owned)',
    ]);
    const saved = readOnlyStack((await workspace.edgewise('plan --format json')).stdout);
    expect(saved.diagnostics.map(({ code }: { readonly code: string }) => code)).not.toContain('policy-violated');
  });

  it('is about changes, and not about unchanged resources', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + EDGE });
    await workspace.edgewise('apply --yes');
    await workspace.write({
      'edgewise.yaml': STACK + EDGE + toEdge('b', 20002).replace('name: b', 'name: b\n  labels: { team: a }') + OWNED,
    });
    expect(await workspace.edgewise('plan')).toMatchObject({ exitCode: 0 });
    await workspace.write({ 'edgewise.yaml': STACK + toEdge('a', 20003) + OWNED });
    const { exitCode, stdout } = await workspace.edgewise('plan --allow-deletes');
    expect([exitCode, stdout.match(/refused\[policy\].*/g)]).toEqual([
      5,
      ['refused[policy]: Say in the label team whose TCPEdge/a is. (policy owned)'],
    ]);
  });

  it('describes the first resources that it refuses, and lists the others by their addresses', async () => {
    const edges = Array.from({ length: 15 }, (_, index) => toEdge(`e${index + 10}`, 20_001 + index));
    const warning = toPolicyText('advice', { require: 'false', message: 'Hm.', severity: 'warning' });
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': STACK + edges.join('') + OWNED + warning });
    const { violations, diagnostics } = readOnlyStack((await edgewise('plan --format json')).stdout);
    expect(violations).toHaveLength(11);
    expect(violations.at(-1)).toMatchObject({
      message: 'The policy owned refuses 5 more resources.',
      addresses: ['TCPEdge/e20', 'TCPEdge/e21', 'TCPEdge/e22', 'TCPEdge/e23', 'TCPEdge/e24'],
    });
    const told = diagnostics.filter(({ code }: { readonly code: string }) => code === 'policy-violated');
    expect([told.length, told.at(-1).message]).toEqual([11, 'The policy advice warns of 5 more resources.']);
  });

  it('about deletes applies to destroy', async () => {
    const policy = toPolicyText('kept', { match: '{ actions: [delete] }', require: 'false', message: 'It stays.' });
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + EDGE + policy });
    expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    countWrites(workspace);
    expect(await workspace.edgewise('destroy --yes')).toMatchObject({ exitCode: 5 });
    expect(countWrites(workspace)).toBe(0);
  });

  it('that cannot be evaluated refuses with the reason, whatever its severity', async () => {
    const policy = toPolicyText('strange', { require: 'labels.team == "data"', message: 'No.', severity: 'warning' });
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': STACK + EDGE + policy });
    const { exitCode, stdout } = await edgewise('plan');
    expect(exitCode).toBe(5);
    expect(stdout).toContain(
      'TCPEdge/a: the policy cannot be evaluated, so it refuses: spec.require: No such key: team (policy strange)',
    );
  });

  it('that cannot be read stops what plans before any request, and does not stop get', async () => {
    const policy = toPolicyText('strange', { require: 'chnge.kind == "TCPEdge"', message: 'No.' });
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': STACK + EDGE + policy });
    for (const line of ['plan', 'apply --yes', 'destroy --yes', 'drift', 'validate']) {
      const { exitCode, stdout, stderr } = await edgewise(line);
      expect([line, exitCode, stdout + stderr]).toEqual([line, 3, expect.stringContaining('Did you mean `change`?')]);
    }
    expect(recorder.take()).toEqual([]);
    expect(await edgewise('get')).toMatchObject({ exitCode: 0 });
  });

  it('sees neither tokens nor values of a create response', async () => {
    const policy = toPolicyText('token', { require: 'has(after.token)', message: 'No.' });
    const shown = toPolicyText('all', {
      match: '{ kinds: [Credential] }',
      require: 'false',
      message: `\${before} \${after}`,
    });
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': STACK + toCredential('agent') + policy });
    expect((await edgewise('plan')).stderr).toContain('names after.token, which is not a field');
    await write({ 'edgewise.yaml': STACK + toCredential('agent') + shown });
    const { stdout } = await edgewise('plan --token-directory tokens');
    expect(stdout).toContain('"acl":');
    expect(stdout).not.toContain('token"');
  });
});

describe('policies outside of the manifests', () => {
  const FILES = { 'edgewise.yaml': STACK + EDGE } as const;

  async function createApart(files: Readonly<Record<string, string>>, policies: Readonly<Record<string, string>>) {
    const workspace = await createWorkspace(files);
    mkdirSync(join(workspace.folder, '.rules'));
    for (const [name, text] of Object.entries(policies)) writeFileSync(join(workspace.folder, '.rules', name), text);
    return workspace;
  }

  it('are checked by plan, apply, destroy and validate with a flag', async () => {
    const { edgewise } = await createApart(FILES, { 'owned.yaml': OWNED });
    for (const line of ['plan', 'apply --yes', 'validate']) {
      expect([line, (await edgewise(line)).exitCode]).toEqual([line, 0]);
      if (line === 'apply --yes') await edgewise('destroy --yes');
      expect([line, (await edgewise(`${line} --policies .rules`)).exitCode]).toEqual([line, 5]);
    }
  });

  it('are checked if the Stack names them, relative to its file', async () => {
    const stack = `${STACK}spec: { policies: [../.rules/owned.yaml] }\n`;
    // In its own folder, because the folders beside a stack are searched for another one with its name.
    const { edgewise, folder } = await createApart({ 'live/edgewise.yaml': stack + EDGE }, { 'owned.yaml': OWNED });
    expect(await edgewise('plan live')).toMatchObject({ exitCode: 5 });
    expect(await edgewise(`plan ${join(folder, 'live')}`, { cwd: '/' })).toMatchObject({ exitCode: 5 });
  });

  it('are read once, however often they are named', async () => {
    const stack = `${STACK}spec: { policies: [owned.yaml] }\n`;
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': stack + EDGE, 'owned.yaml': OWNED });
    const { exitCode, stdout } = await edgewise('plan --policies owned.yaml --policies ./owned.yaml');
    expect([exitCode, stdout.match(/refused\[/g)?.length]).toEqual([5, 1]);
  });

  it('are refused if one has the name of another, is no policy, or is missing', async () => {
    const open = toPolicyText('owned', { require: 'true', message: 'Never.' });
    const { edgewise } = await createApart(
      { 'edgewise.yaml': STACK + EDGE + open },
      { 'owned.yaml': OWNED, 'edge.yaml': toEdge('b', 20002) },
    );
    const { exitCode, stderr } = await edgewise('plan --policies .rules --policies nowhere');
    expect([exitCode, stderr.match(/error\[.*/g)]).toEqual([
      3,
      [
        'error[file-unreadable]: nowhere does not exist',
        'error[unknown-kind]: TCPEdge/b: the kind TCPEdge is not for policies',
        'error[duplicate-claim]: Policy/owned: two documents have this address',
      ],
    ]);
  });

  it('are part of the command that applies the plan', async () => {
    const { edgewise } = await createApart(FILES, {
      'open.yaml': toPolicyText('open', { require: 'true', message: 'Never.' }),
    });
    const { stdout } = await edgewise('plan --policies .rules --format markdown');
    expect(stdout).toContain('edgewise apply . --base-url https://api.test --policies .rules');
  });
});
