import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isJsonObject } from '../../src/model/json.ts';
import { sendByHand } from '../by-hand.ts';
import { type CommandResult, type FakeOptions, runCommand } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from '../cli/workspace.ts';

/** A diagnostic quotes lines of a manifest, and a secret is in them, in whatever style of YAML. */

const SECRET = 'hunter2-of-the-quoted-line';
const NUMBER = '48151623421234';
const HUGE = '481516234212345678901';
const D = '$';

/** Members of a mapping with a secret, and where more than a member is needed, with `bad` beside it. */
const STYLES: readonly (readonly [string, string])[] = [
  ['a plain scalar', `token: ${SECRET}`],
  ['a plain scalar of several lines', `token: Basic\n  ${SECRET}`],
  ['single quotes', `token: '${SECRET}'`],
  ['double quotes', `token: "${SECRET}"`],
  ['quotes of several lines', `token: "Basic\n  ${SECRET}\n  more"`],
  ['a literal block', `token: |\n  ${SECRET}\n  ${SECRET}`],
  ['a folded block', `token: >-\n  ${SECRET}\n  ${SECRET}`],
  ['a block with a comment', `token: | # ${SECRET}\n  a`],
  ['flow style', `auth: { a: 1, token: ${SECRET}, b: 2 }`],
  ['flow style of several lines', `auth: {\n  token:\n  ${SECRET}, b: 2 }`],
  ['a list', `token: [a, ${SECRET}]`],
  ['a list of several lines', `token:\n  - a\n  - ${SECRET}`],
  ['a mapping below the name', `token:\n  value:\n    text: ${SECRET}`],
  ['the next line', `token:\n  ${SECRET}`],
  ['the next line behind a comment', `token: # a\n  ${SECRET}`],
  ['a number', `token: ${NUMBER}`],
  ['a number of flow style', `auth: { token: ${NUMBER} }`],
  ['an anchor and an alias', `password: &a ${SECRET}\n\ntoken: *a`],
  ['a merged mapping', `password: &a { x: ${SECRET} }\n\ntoken: { <<: *a, y: 1 }`],
  ['the name of an anchor', `token: &${SECRET} x`],
  ['a quoted name', `"token": ${SECRET}`],
  ['another spelling of the name', `X-Api-Key: ${SECRET}`],
  ['a comment at the end of the line', `plain: 1 # ${SECRET}`],
  ['a comment of its own', `# ${SECRET}\nplain: 1`],
  ['a variable', `token: "${D}{env:OFFERED}"`],
  ['a secret variable', `token: "Bearer ${D}{secret:HIDDEN} ${SECRET}"`],
];

/** What a plan shows, since it is the name of a member or has another name too. Diagnostics do not quote it. */
const SHOWN_BY_PLANS: readonly (readonly [string, string])[] = [
  ['a key below the name', `token: { ${SECRET}: x }`],
  ['a quoted key below the name', `token:\n  "${SECRET}": x`],
  ['a key with a mark', `token:\n  ? ${SECRET}\n  : x`],
  ['an anchor elsewhere', `plain: &a ${SECRET}\n\ntoken: *a`],
  ['an anchor on a mapping elsewhere', `plain: &a { x: ${SECRET} }\n\ntoken: { <<: *a, y: 1 }`],
];

/** What cannot be read, or is read otherwise, in such a place. */
const MISTAKES: readonly (readonly [string, string])[] = [
  ['a number that cannot be stored', `token: ${HUGE}`],
  ['a number that YAML rewrites', `token: 0${NUMBER}.10`],
  ['an alias without an anchor', `token: *${SECRET}`],
  ['a tag', `token: !${SECRET} x`],
  ['a tag with a value', `token: ! ${SECRET}`],
  ['a key that is repeated', `token: { ${SECRET}: 1, ${SECRET}: 2 }`],
  ['a placeholder that is not complete', `token: "${D}{env:${SECRET}"`],
  ['a text with NUL', `token: "${SECRET}\\0"`],
];

/** Documents that cannot be parsed. */
const BROKEN: readonly (readonly [string, string])[] = [
  ['on the line', `token: ${SECRET}: [`],
  ['on the line, in flow style', `auth: [{ token: ${SECRET} } }`],
  ['above', `token: ${SECRET}\nbad: [`],
  ['below', `bad: ]\ntoken: ${SECRET}`],
  ['in a parent', `token:\n  a: 1\n  b: 2\n  c: ${SECRET}: x: y`],
  ['in an open quote', `token: "${SECRET}\nbad: 1`],
  ['in a wrong escape', `token: "\\q${SECRET}"`],
  ['in the head of a block', `token: |${SECRET}\n  x`],
  ['in a value with a wrong start', `token: @${SECRET}`],
  ['in a comment', `bad: [ # ${SECRET}\nmore: 1`],
];

const FORMATS = ['text', 'json', 'markdown', 'html', 'github', 'sarif', 'junit'];
const REPORTS = FORMATS.map((format) => `--report ${format}=out/${format}`).join(' ');
const COMMANDS = [
  ...FORMATS.map((format) => `validate . --format ${format}`),
  `plan . --verbose -o out/plan.json ${REPORTS}`,
  `drift . --verbose ${REPORTS}`,
  `apply . --yes --verbose ${REPORTS}`,
  'get --format json',
  'get --format yaml',
  'get TCPEdge/shop',
];
const OPTIONS = { env: { OFFERED: SECRET, HIDDEN: SECRET, EDGEWISE_ENV: 'OFFERED', EDGEWISE_SECRETS: 'HIDDEN' } };

/** A workspace with a folder for reports. */
function openWithReports(files: Readonly<Record<string, string>>): Promise<Workspace> {
  return createWorkspace({ ...files, 'out/.keep': '' });
}

function indent(text: string, columns: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(columns));
}

/** An edge whose policy has these members, and beside them a text that lint warns about. */
function toEdge(members: string, more = ''): string {
  return `${STACK}---
apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: shop }
spec:
  hostports: ["1.tcp.example.net:20001"]
${more}  policy:
    inbound:
      expressions: []
      actions:
        - type: log
          config:
            first: "${D}{PLACEHOLDER}"
${indent(members, 12)}
            last: "${D}{PLACEHOLDER}"
`;
}

/** Returns everything that a run produced: its output, and each file that it wrote. */
function readAll({ stdout, stderr }: CommandResult, folder: string): string {
  const files = readdirSync(folder, { recursive: true }).map(String);
  const written = files.filter((file) => !file.endsWith('.yaml') && statSync(join(folder, file)).isFile());
  return [stdout, stderr, ...written.map((file) => readFileSync(join(folder, file), 'utf8'))].join('\n');
}

function expectNoSecret(text: string): void {
  for (const secret of [SECRET, NUMBER, HUGE]) expect(text).not.toContain(secret);
  expect(text).not.toContain(SECRET.slice(0, 7));
}

async function expectNoneInAnyRun({ edgewise, folder }: Workspace): Promise<string> {
  const seen: string[] = [];
  for (const line of COMMANDS) {
    const ended = await edgewise(line, OPTIONS);
    expect(ended.stderr).not.toMatch(/cannot be written|edgewise: /);
    const all = readAll(ended, folder);
    expectNoSecret(all);
    seen.push(all);
  }
  return seen.join('\n');
}

describe('no output and no file quotes a secret', () => {
  it.each(STYLES)('beside a warning: %s', async (_, members) => {
    const all = await expectNoneInAnyRun(await openWithReports({ 'a.yaml': toEdge(members) }));
    // The diagnostics are there, with their lines.
    expect(all).toContain(`first: "${D}{PLACEHOLDER}"`);
    expect(all).toContain('spec.policy.inbound.actions[0].config.last contains');
  });

  it.each([...STYLES, ...SHOWN_BY_PLANS])('beside an error: %s', async (_, members) => {
    const more = `${indent(`wrong:\n${indent(members, 2)}`, 2)}\n`;
    const all = await expectNoneInAnyRun(await openWithReports({ 'a.yaml': toEdge('plain: 1', more) }));
    expect(all).toContain('spec.wrong is not a known field');
  });

  it.each(MISTAKES)('that is the mistake: %s', async (_, members) => {
    const all = await expectNoneInAnyRun(await openWithReports({ 'a.yaml': toEdge(members) }));
    expect(all).toContain('a.yaml:');
  });

  it.each(BROKEN)('of a document that cannot be parsed: %s', async (_, members) => {
    const all = await expectNoneInAnyRun(await openWithReports({ 'a.yaml': toEdge(members) }));
    expect(all).toContain('yaml-syntax');
  });

  it.each(SHOWN_BY_PLANS)('of a valid manifest: %s', async (_, members) => {
    const { edgewise, folder } = await openWithReports({ 'a.yaml': toEdge(members) });
    for (const format of FORMATS) expectNoSecret(readAll(await edgewise(`validate . --format ${format}`), folder));
  });

  it.each([...STYLES, ...SHOWN_BY_PLANS, ...MISTAKES, ...BROKEN])('of standard input: %s', async (_, members) => {
    const { folder } = await createWorkspace();
    const options: FakeOptions = { ...OPTIONS, cwd: folder, stdin: toEdge(members, '  wrong: 1\n') };
    for (const format of FORMATS) {
      const run = await runCommand(['validate', '-', '--format', format], options);
      expect(run.exitCode).toBe(3);
      expectNoSecret(`${run.stdout}${run.stderr}`);
    }
  });

  it('that is the wrong type of a field: a number, a text, an unknown field', async () => {
    const text = `${STACK}---
apiVersion: edgewise/v1
kind: HTTPSEdgeRoute
metadata: { name: checkout }
spec:
  edge_id: edghts_a
  id: edghtsrt_a
  request_headers:
    add: { Authorization: ${NUMBER}, X-Token: [${SECRET}] }
---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: alice }
spec: { ssh_certificate_authority_id: sshca_a, public_key: ${SECRET} }
---
apiVersion: edgewise/v1
kind: Defaults
spec: { tokens: { token: ${SECRET}, password: [${SECRET}] } }
`;
    const all = await expectNoneInAnyRun(await openWithReports({ 'a.yaml': text }));
    expect(all).toContain('spec.request_headers.add.Authorization must be text, but is the number (hidden)');
    expect(all).toContain('spec.tokens.token is not a known field');
  });
});

describe('the line of a syntax error', () => {
  const text = toEdge('plain: [ a: b: c ]');

  it('is quoted on standard error, and in no report', async () => {
    const { edgewise } = await openWithReports({ 'a.yaml': text });
    for (const line of ['validate .', 'plan .', 'apply . --yes']) {
      const { stdout, stderr } = await edgewise(line);
      expect(stderr).toContain('18 |             plain: [ a: b: c ]\n');
      expect(stdout).not.toContain('plain:');
    }
    const { stdout } = await edgewise('plan . --format json');
    expect(stdout).not.toContain('plain:');
    expect(stdout).toContain('"line": 18');
  });
});

describe('an error about a response of the service', () => {
  const path =
    '/edges/https/edghts_2fmnqYVGqgSNfrKbLQ5kCTTKaBB/routes/edghtsrt_2fmnqYVGqgSNfrKbLQ5kCTTKaBB/request_headers';
  const manifest = `${STACK}${toManifest('HTTPSEdgeRoute', 'checkout', {
    edge_id: 'edghts_2fmnqYVGqgSNfrKbLQ5kCTTKaBB',
    id: 'edghtsrt_2fmnqYVGqgSNfrKbLQ5kCTTKaBB',
    request_headers: { add: { authorization: `${D}{secret:HIDDEN}` } },
  })}`;

  it.each([
    ['that is cut', (text: string) => text.slice(0, -3)],
    ['that does not match the API', (text: string) => text.replace('"enabled":true', '"enabled":"yes"')],
  ])('%s does not quote live values', async (_, distort) => {
    const workspace = await openWithReports({ 'a.yaml': manifest });
    await sendByHand(workspace, 'PUT', path, { enabled: true, add: { authorization: SECRET } });
    const transport: FakeOptions['transport'] = async (request) => {
      const response = await workspace.recorder.transport(request);
      if (!request.url.endsWith('request_headers')) return response;
      return new Response(distort(await response.text()), { headers: { 'content-type': 'application/json' } });
    };
    const ended = await workspace.edgewise(`plan . -o plan.json ${REPORTS}`, { transport });
    expect(ended.exitCode).toBe(1);
    expectNoSecret(readAll(ended, workspace.folder));
  });

  it('does not show the token of a new credential that the service says elsewhere', async () => {
    const workspace = await openWithReports({
      'a.yaml': `${STACK}${toManifest('Credential', 'agent', { description: 'agent' })}`,
    });
    let token = '';
    const transport: FakeOptions['transport'] = async (request) => {
      const response = await workspace.recorder.transport(request);
      if (!request.url.includes('credentials') || request.method === 'GET') return response;
      const json: unknown = await response.json();
      if (!isJsonObject(json)) return Response.json(json);
      if (typeof json['token'] === 'string') token = json['token'];
      return Response.json({ ...json, description: `agent ${token}` }, { status: response.status });
    };
    const line = `apply . --yes --token-directory ${join(workspace.folder, 'tokens')} ${REPORTS}`;
    const ended = await workspace.edgewise(line, { transport });
    expect(token).toMatch(/_/);
    const files = readdirSync(join(workspace.folder, 'out')).map((name) => join(workspace.folder, 'out', name));
    const all = [ended.stdout, ended.stderr, ...files.map((file) => readFileSync(file, 'utf8'))].join('\n');
    expect(all).toContain('agent [token]');
    expect(all).not.toContain(token);
  });
});
