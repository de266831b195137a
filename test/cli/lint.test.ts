import { describe, expect, it } from 'vitest';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK, toCredential, toManifest, toTranscript } from './workspace.ts';

const UNRESTRICTED = `${STACK}${toCredential('agent')}`;
const STRICT_STACK = `${STACK}spec: { lint: { unrestricted-access: error, no-backend: "off" } }\n`;
const FORBIDDEN = `${STRICT_STACK}${toCredential('agent')}`;

describe('lint', () => {
  it('shows warnings with exit code 0, and sends no request', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'm.yaml': UNRESTRICTED });
    expect(toTranscript(await edgewise('validate'))).toMatchInlineSnapshot(`
      "exit code 0
      --- stdout
      warning[unrestricted-access]: Credential/agent: no ACL restricts it, so its token may bind any domain, address and label
        --> m.yaml:6:1
        6 | apiVersion: edgewise/v1
          | ^^^^^^^^^^
        7 | kind: Credential
        help: List in spec.acl what the agent binds, such as \`bind:*.example.com\`.

      1 warning.
      1 resource in 1 file: valid.
      "
    `);
    expect(recorder.take()).toEqual([]);
  });

  it('fails on warnings with --strict, in every format', async () => {
    const { edgewise } = await createWorkspace({ 'm.yaml': UNRESTRICTED });
    expect(await edgewise('validate --strict')).toMatchObject({
      exitCode: 3,
      stdout: expect.stringMatching(/^error\[/),
    });
    const { exitCode, stdout } = await edgewise('validate --strict --format json');
    expect(exitCode).toBe(3);
    expect(readOnlyStack(stdout)).toMatchObject({
      command: 'validate',
      ok: false,
      diagnostics: [{ severity: 'error' }],
    });
  });

  it('fails on findings that the Stack makes errors', async () => {
    const { edgewise } = await createWorkspace({ 'm.yaml': FORBIDDEN });
    expect(await edgewise('validate')).toMatchObject({ exitCode: 3, stdout: expect.stringMatching(/1 error\.$/m) });
  });

  it('shows only the errors of invalid manifests', async () => {
    const { edgewise } = await createWorkspace({ 'm.yaml': `${UNRESTRICTED}spec: { colour: red }\n` });
    const { exitCode, stdout } = await edgewise('validate --format json');
    expect(exitCode).toBe(3);
    expect(readOnlyStack(stdout).diagnostics).toMatchObject([{ code: 'bad-field' }]);
  });

  it('lists the rules with the severity that the Stack sets', async () => {
    const { edgewise } = await createWorkspace({ 'm.yaml': STRICT_STACK });
    expect((await edgewise('validate --list-rules')).stdout).toMatch(/^unrestricted-access +warning {2}/m);
    const { exitCode, stdout } = await edgewise('validate --list-rules m.yaml');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^unrestricted-access +error +A credential/m);
    expect(stdout).toMatch(/^no-backend +off/m);
    const listed = JSON.parse((await edgewise('validate --list-rules . --format json')).stdout);
    expect(listed.rules).toContainEqual(expect.objectContaining({ id: 'no-backend', severity: 'off' }));
  });

  it('lists no rules if the manifests are invalid or a report is requested', async () => {
    const { edgewise } = await createWorkspace({ 'm.yaml': 'kind: Stack\n' });
    expect(await edgewise('validate --list-rules m.yaml')).toMatchObject({ exitCode: 3 });
    expect(await edgewise('validate --list-rules --report json=rules.json')).toMatchObject({ exitCode: 3 });
  });

  it('escapes text of manifests for the terminal', async () => {
    const edge = `${STACK}spec: { lint: { expression-syntax: warning } }
---
apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: a }
spec: { policy: { inbound: { expressions: ["\\e[2J\\u202e"], actions: { type: "x\\e]0;owned\\a" } } } }
`;
    const { edgewise } = await createWorkspace({ 'm.yaml': edge });
    for (const line of ['validate', 'validate --format json', 'plan']) {
      const { stdout } = await edgewise(line);
      expect(stdout).toContain('traffic-policy');
      expect(stdout).toContain('is not valid CEL');
      expect(stdout).toContain('is not known here');
      expect(stdout).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
    }
  });
});

describe('lint findings', () => {
  it('are shown by validate and plan, which continue', async () => {
    const { edgewise } = await createWorkspace({ 'm.yaml': UNRESTRICTED });
    expect(await edgewise('validate')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('warning[unrestricted-access]'),
    });
    const { exitCode, stdout } = await edgewise('plan --token-directory tokens');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^\+ Credential\/agent +create\n(?: {4}.*\n)* {4}warning\[unrestricted-access\]: .* \(m\.yaml:6:1\)$/m,
    );
    expect(stdout).not.toContain('Lint warnings');
    expect(stdout).toContain('\n1 warning: see below.\n');
  });

  it('are those of the targets', async () => {
    const { edgewise } = await createWorkspace({ 'm.yaml': `${UNRESTRICTED}${toCredential('other')}` });
    const { stdout } = await edgewise('plan --token-directory tokens --target Credential/other');
    expect(stdout.match(/unrestricted-access\W.*m\.yaml:\d+/g)).toEqual([
      expect.stringMatching(/^unrestricted-access\]: .* \(m\.yaml:11$/),
    ]);
  });

  it('stand beside the change that causes them in every format, and are complete for programs', async () => {
    const { edgewise } = await createWorkspace({ 'm.yaml': UNRESTRICTED });
    const markdown = (await edgewise('plan --format markdown')).stdout;
    expect(markdown).toMatch(/^\| `\+`&nbsp;create \| .*warning\\\[unrestricted-access\\\]/m);
    expect(markdown).not.toContain('Lint warnings');
    expect((await edgewise('plan --format html')).stdout).toMatch(/<p[^>]*>warning\[unrestricted-access\]/);
    expect((await edgewise('plan --compact')).stdout).toMatch(
      /^\+ Credential\/agent .*warning\[unrestricted-access\]/m,
    );
    expect((await edgewise('plan --format github')).stdout).toContain('title=edgewise%3A unrestricted-access::');
    expect(readOnlyStack((await edgewise('plan --format json')).stdout).diagnostics).toContainEqual(
      expect.objectContaining({ code: 'unrestricted-access', field: 'acl', isOfChange: true }),
    );
  });

  it('are counted after those that belong to a change', async () => {
    const toEdges = (names: readonly string[]) =>
      names.map((name, index) => toManifest('TCPEdge', name, { hostports: [`1.tcp.example.net:${20001 + index}`] }));
    const names = Array.from({ length: 13 }, (_, index) => `a${index + 10}`);
    const { edgewise, write } = await createWorkspace({ 'm.yaml': [STACK, ...toEdges(names)].join('') });
    // All are created: each has its warning, and no warning is only counted.
    const made = (await edgewise('plan')).stdout;
    expect(made.match(/^ {4}warning\[no-backend\]/gm)).toHaveLength(13);
    expect(made).not.toContain('more finding');
    await edgewise('apply --yes');
    await write({ 'm.yaml': [STACK, ...toEdges([...names, 'z'])].join('') });
    const { stdout } = await edgewise('plan');
    // The change is the last by its name, and keeps its warning; ten of the others are listed, and the rest is counted.
    expect(stdout).toMatch(/^\+ TCPEdge\/z +create\n(?: {4}.*\n)* {4}warning\[no-backend\]/m);
    expect(stdout.match(/\(TCPEdge\/a\d\d\)/g)).toHaveLength(10);
    expect(stdout).toContain('3 more findings of this rule');
    const { diagnostics } = readOnlyStack((await edgewise('plan --format json')).stdout);
    expect(diagnostics).toHaveLength(12);
    expect(
      diagnostics.every(
        ({ place, message }: Readonly<Record<string, string>>) => place !== undefined || message?.includes('more'),
      ),
    ).toBe(true);
  });

  it('are listed by rule if no change causes them, with their places on one line', async () => {
    const toPools = (weight: number, more: string) =>
      `${STACK}---\n${['a', 'b']
        .map(
          (name) =>
            `apiVersion: edgewise/v1\nkind: WeightedBackend\nmetadata: { name: ${name} }\nspec: { backends: { bkdhr_1: ${weight} }${more} }\n`,
        )
        .join('---\n')}`;
    const { edgewise, write } = await createWorkspace({ 'm.yaml': toPools(0, '') });
    await edgewise('apply --yes');
    const list =
      'Lint warnings (edgewise validate shows them in full):\n  no-backend: m.yaml:9:19 (WeightedBackend/a), m.yaml:14:19 (WeightedBackend/b)\n';
    const idle = await edgewise('plan');
    expect(idle.stdout).toContain(list);
    await write({ 'm.yaml': toPools(0, ', description: other') });
    const other = await edgewise('plan');
    expect(other.stdout).toContain('0 to replace, 2 to update');
    expect(other.stdout, 'another field changes').toContain(list);
    expect((await edgewise('plan --format markdown')).stdout).toContain(
      '- `no-backend`: `m.yaml:9:19` (WeightedBackend/a), `m.yaml:14:19` (WeightedBackend/b)',
    );
    expect((await edgewise('plan --format json')).stdout).not.toContain('isOfChange');
    await write({ 'm.yaml': toPools(1, '') });
    await edgewise('apply --yes');
    await write({ 'm.yaml': toPools(0, '') });
    const caused = await edgewise('plan');
    expect(caused.stdout.match(/^ {4}warning\[no-backend\]: /gm)).toHaveLength(2);
    expect(caused.stdout).not.toContain('Lint warnings');
  });

  it.each(['plan', 'apply --yes'])('stop %s before any request if they are errors', async (line) => {
    const { edgewise, recorder } = await createWorkspace({ 'm.yaml': FORBIDDEN });
    const { exitCode, stdout, stderr } = await edgewise(line);
    expect({ exitCode, shown: `${stdout}${stderr}`.includes('error[unrestricted-access]') }).toEqual({
      exitCode: 3,
      shown: true,
    });
    expect(recorder.take()).toEqual([]);
  });

  it('do not prevent destroy', async () => {
    const { edgewise, write } = await createWorkspace({ 'm.yaml': UNRESTRICTED });
    expect(await edgewise('apply --yes --token-directory .')).toMatchObject({ exitCode: 0 });
    await write({ 'm.yaml': FORBIDDEN });
    expect(await edgewise('destroy --yes')).toMatchObject({ exitCode: 0 });
  });
});
