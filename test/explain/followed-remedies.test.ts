import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listExamples, readExample, runExample } from '../../.ci/run-example.ts';
import { findCodeSection } from '../../src/explain/code-section.ts';
import { DIAGNOSTIC_CODES } from '../../src/model/diagnostic.ts';
import { createWorkspace } from '../cli/workspace.ts';
import { requireProgramOrSkip } from '../needs.ts';

/** Each remedy of the page of diagnostics is done, as it says: then its error is gone, and there is no other one. */

/** One way that a remedy offers, done as it says. */
interface Way {
  readonly code: string;
  /** Which example of the code: 0 is the first one. */
  readonly example?: number;
  /** The words of the printed remedy that are followed. */
  readonly says: string;
  /** Texts of a file and what takes their place. */
  readonly edits?: readonly (readonly [from: string, to: string])[];
  /** The only file that is edited. Absent: every one. */
  readonly file?: string;
  readonly newFiles?: Readonly<Record<string, string>>;
  readonly renamed?: readonly [from: string, to: string];
  readonly removed?: string;
  /** The command line afterwards. Absent: the same. */
  readonly command?: string;
}

const D = '$';
const HEAD = 'apiVersion: edgewise/v1\nkind: ';

const WAYS: readonly Way[] = [
  { code: 'file-unreadable', says: 'Did you mean `manifests`?', command: 'validate manifests' },
  {
    code: 'path-refused',
    says: 'Move the file',
    edits: [['../../rules.yaml', 'rules.yaml']],
    newFiles: {
      'stack/rules.yaml': `${HEAD}Policy\nmetadata: { name: all }\nspec: { require: 'true', message: Never. }\n`,
    },
  },
  { code: 'manifest-not-read', says: 'Rename or move what should be read', renamed: ['edge.yaml.old', 'edge.yaml'] },
  {
    code: 'manifest-not-read',
    example: 1,
    says: 'or move the document to another file',
    renamed: ['old/pool.yaml', 'pool.yaml'],
  },
  { code: 'pattern-unused', says: 'Correct it', edits: [['chrats/', 'charts/']] },
  { code: 'pattern-unused', says: 'or remove it', edits: [['spec:\n  skip_files: [chrats/]\n', '']] },
  { code: 'colliding-names', says: 'Rename all but one', renamed: ['Edge.yaml', 'branch.yaml'] },
  { code: 'yaml-syntax', says: 'Put text in quotes', edits: [['Blue: nearly all', '"Blue: nearly all"']] },
  {
    code: 'yaml-syntax',
    example: 1,
    says: 'Put quotes around the whole value',
    edits: [["! (conn.geo.country_code == 'CH')", `"! (conn.geo.country_code == 'CH')"`]],
  },
  { code: 'unknown-kind', says: 'Did you mean `TCPEdge`?', edits: [['TcpEdges', 'TCPEdge']] },
  { code: 'bad-field', says: 'Did you mean `hostports`?', edits: [['hostport:', 'hostports:']] },
  {
    code: 'bad-field',
    example: 1,
    says: 'Add `backend_id`',
    edits: [['enabled: true', 'enabled: true\n    backend_id: bkdhr_blue']],
  },
  { code: 'bad-value', says: 'run `edgewise explain TCPEdge.hostports`', command: 'explain TCPEdge.hostports' },
  { code: 'bad-value', example: 1, says: '`postgres-main`', edits: [['Postgres Main', 'postgres-main']] },
  { code: 'empty-key', says: 'Write its value', edits: [['# ip_policy_ids', 'ip_policy_ids']] },
  { code: 'empty-key', says: 'write `null`', edits: [['ip_restriction:\n', 'ip_restriction: null\n']] },
  {
    code: 'empty-key',
    says: 'or remove the line',
    edits: [['  ip_restriction:\n', '']],
  },
  { code: 'unused-anchor', says: 'put the whole value in quotes', edits: [['&main database', '"&main database"']] },
  { code: 'unused-anchor', says: 'If not, remove it', edits: [['&main ', '']] },
  {
    code: 'duplicate-claim',
    says: 'Remove it from one of them',
    edits: [['name: mysql\nspec:\n  hostports: ["1.tcp.example.net:20001"]\n', 'name: mysql\nspec:\n']],
  },
  {
    code: 'claimed-elsewhere',
    says: 'use --exclude AgentIngress/agents',
    command: 'plan --exclude AgentIngress/agents',
  },
  {
    code: 'claimed-elsewhere',
    says: 'add to the document',
    file: 'manifest.yaml',
    edits: [['domain: agents.example.com\n', 'domain: agents.example.com\nlifecycle:\n  adopt: agin_live\n']],
  },
  {
    code: 'bad-reference',
    says: '`WeightedBackend/pool`',
    edits: [['WeightedBackend/pol\n', 'WeightedBackend/pool\n']],
  },
  {
    code: 'no-stack',
    says: 'Add these lines to one of the files',
    newFiles: { 'stack.yaml': `${HEAD}Stack\nmetadata: { name: unique }\n` },
  },
  { code: 'duplicate-settings', says: 'Remove one of them', removed: 'stack.yaml' },
  {
    code: 'duplicate-stack',
    says: 'Give one of them another name',
    file: 'web/edgewise.yaml',
    edits: [['production', 'web']],
  },
  {
    code: 'duplicate-stack',
    example: 1,
    says: 'Correct the file',
    file: 'b/edgewise.yaml',
    edits: [['metadata: {', 'metadata: { name: web }']],
  },
  {
    code: 'untrusted-setting',
    says: 'Remove the line',
    edits: [['spec:\n  api:\n    base_url: https://elsewhere.example.com\n', '']],
  },
  {
    code: 'unknown-target',
    says: 'Did you mean `WeightedBackend/pool`?',
    command: 'plan --target WeightedBackend/pool',
  },
  { code: 'left-out', says: 'without --exclude', command: 'plan' },
  { code: 'predecessor-unclear', says: 'remove the line', edits: [['lifecycle:\n  adopt: bkdwd_pool\n', '']] },
  {
    code: 'predecessor-unclear',
    example: 1,
    says: 'keep the resource: add to this document',
    file: 'manifest.yaml',
    edits: [['domain: agents.example.com\n', 'domain: agents.example.com\nlifecycle:\n  renamed_from: connect\n']],
  },
  {
    code: 'adopt-refused',
    says: 'write here instead',
    edits: [['adopt: bkdwd_pool', 'renamed_from: { stack: staging, name: pool }']],
  },
  { code: 'kept-prune', says: 'apply this stack alone: edgewise apply a', command: 'apply a --yes' },
  {
    code: 'mark-lost',
    says: 'or adopt it: add to this document',
    file: 'manifest.yaml',
    edits: [['backends: { bkdhr_blue: 1 }\n', 'backends: { bkdhr_blue: 1 }\nlifecycle:\n  adopt: bkdwd_cut\n']],
  },
  {
    code: 'token-sink-missing',
    says: 'Set spec.tokens in the Stack',
    file: 'edgewise.yaml',
    edits: [['name: production\n', 'name: production\nspec: { tokens: { default: { directory: tokens } } }\n']],
  },
  { code: 'token-sink-missing', says: 'the same --token-directory', command: 'plan --token-directory tokens' },
  { code: 'token-in-git', says: 'Add the line /tokens/ to .gitignore', newFiles: { '.gitignore': '/tokens/\n' } },
  {
    code: 'rehearsal-failed',
    says: 'Correct the manifest',
    edits: [['  valid_after: "9999-12-31T12:00:00Z"\n', '']],
  },
  {
    code: 'unset-field-kept',
    says: 'To keep the value, set owner_id: usr_bot',
    file: 'manifest.yaml',
    edits: [['acl: ["bind:*.example.com"]\n', 'acl: ["bind:*.example.com"]\n  owner_id: usr_bot\n']],
  },
  {
    code: 'certificate-validity',
    says: 'Set lifecycle.renew_before',
    file: 'manifest.yaml',
    edits: [['principals: [alice]\n', 'principals: [alice]\nlifecycle:\n  renew_before: 2h\n']],
  },
  {
    code: 'certificate-validity',
    says: '--rotate SSHUserCertificate/alice',
    command: 'plan --rotate SSHUserCertificate/alice',
  },
  { code: 'policy-invalid', says: 'Did you mean `labels`?', edits: [['in lables', 'in labels']] },
  {
    code: 'policy-violated',
    says: 'Change the manifest',
    edits: [['name: postgres\n', 'name: postgres\n  labels: { team: data }\n']],
  },
  { code: 'expression-syntax', says: 'Write `||` instead of `or`', edits: [[' or ', ' || ']] },
  { code: 'traffic-policy', says: 'Did you mean `conn.client_ip`?', edits: [['conn.cleint_ip', 'conn.client_ip']] },
  { code: 'traffic-policy', example: 1, says: 'Did you mean `deny`?', edits: [['denny', 'deny']] },
  {
    code: 'no-backend',
    says: 'Add spec.backend, and enable it',
    edits: [['spec:\n', 'spec:\n  backend: { backend_id: bkdhr_blue, enabled: true }\n']],
  },
  {
    code: 'unrestricted-access',
    says: 'such as `bind:*.example.com`',
    edits: [['spec:\n', 'spec:\n  acl: ["bind:*.example.com"]\n']],
  },
  { code: 'restricts-nothing', says: 'Write what it admits', edits: [['_ids: []', '_ids: [ca_1]']] },
  {
    code: 'restricts-nothing',
    says: 'To admit everyone on purpose, remove it',
    edits: [['  mutual_tls:\n    certificate_authority_ids: []\n', '']],
  },
  {
    code: 'certificate-too-long',
    says: 'Set lifecycle.valid_for and renew_before',
    edits: [['valid_for: 365d', 'valid_for: 30d\n  renew_before: 7d']],
  },
  {
    code: 'certificate-too-long',
    says: 'or raise spec.lint.max_validity of the Stack',
    newFiles: {
      'edgewise.yaml': `${HEAD}Stack\nmetadata: { name: shop }\nspec: { lint: { max_validity: 365d } }\n`,
    },
  },
  {
    code: 'certificate-extensions',
    says: 'Did you mean `permit-agent-forwarding`?',
    edits: [['permit-agent-forwading', 'permit-agent-forwarding']],
  },
  { code: 'certificate-ended', says: 'Set a later end', edits: [['2026-01-31', '2026-03-31']] },
  {
    code: 'certificate-ended',
    says: 'or lifecycle.valid_for instead of times',
    edits: [['  valid_until: 2026-01-31T00:00:00Z\n', 'lifecycle: { valid_for: 30d }\n']],
  },
  { code: 'principal-pattern', says: 'List each user name', edits: [['"web-*"', 'web-1, web-2']] },
  {
    code: 'restriction-not-enforced',
    says: 'Set `enforced: true`',
    edits: [['spec:\n', 'spec:\n  enforced: true\n']],
  },
  {
    code: 'module-without-effect',
    says: 'Remove the pattern from one of the lists',
    edits: [['deny: ["^curl/", ', 'deny: [']],
  },
  { code: 'number-rewritten', says: 'Put it in quotes: "1.10"', edits: [['1.10', '"1.10"']] },
  {
    code: 'unknown-placeholder',
    says: `To send the text itself, write \`${D}${D}{ENVIRONMENT}\``,
    edits: [[`${D}{ENVIRONMENT}`, `${D}${D}{ENVIRONMENT}`]],
  },
  {
    code: 'unfilled-value',
    says: 'name this rule under lint.allow',
    edits: [['spec:\n', 'lint: { allow: { unfilled-value: as it is } }\nspec:\n']],
  },
  {
    code: 'kept-by-annotation',
    says: 'Set lifecycle.protect: true',
    edits: [['spec:\n', 'lifecycle: { protect: true }\nspec:\n']],
  },
  {
    code: 'left-to-service',
    says: 'Set all of them',
    edits: [['num_buckets: 6\n', 'num_buckets: 6\n    volume_threshold: 20\n']],
  },
  { code: 'repeated-value', says: 'Remove one of them', edits: [[', "1.TCP.example.net:20001"', '']] },
  { code: 'literal-id', says: 'Write External/office', edits: [['[ipp_office]', '[External/office]']] },
  {
    code: 'placeholder-in-shell',
    says: 'Write "$EDGEWISE_NAME" there',
    edits: [['"secret/{name}"', `"secret/${D}EDGEWISE_NAME"`]],
  },
  {
    code: 'secret-in-manifest',
    says: `write ${D}{secret:NAME}`,
    edits: [['4f1c9a', `${D}{secret:NAME}`]],
  },
  {
    code: 'suppression-unused',
    says: 'Remove the line',
    edits: [['lint:\n  allow:\n    unrestricted-access: the agent of the administrators\n', '']],
  },
];

/** The remedies that another user, another machine or another run follows. */
const NOT_HERE: Readonly<Record<string, string>> = {
  'behind-target': 'git merges main',
  'env-reference': 'the variable is set where the command runs',
  'used-elsewhere': 'another stack changes its resource',
  'accept-refused': 'the manifest is changed by hand',
  'dependency-blocked': 'another stack gets its key',
  'secret-missing': 'the variable is set where the plan is applied',
  'kept-for-hand-over': 'another stack is applied',
  'mark-invalid': 'the metadata is changed at the service',
  'duplicate-mark': 'the next apply prunes it',
  lockout: 'the addresses of the network are compared with a policy',
  'creation-withheld': 'the writer of the resource is asked',
  'clock-skew': 'the clock of the machine is set',
  'resource-unhealthy': 'the records of the domain are set',
  'shown-otherwise': 'the service is asked',
  'concurrent-change': 'no other apply runs',
  'restriction-locks-out': 'the addresses of the network are compared with a policy',
};

function applyWay(way: Way): Parameters<typeof runExample>[0] & { readonly before: ReturnType<typeof readExample> } {
  const example = listExamples(findCodeSection(way.code)?.example ?? '')[way.example ?? 0] ?? '';
  const before = readExample(example);
  const files = new Map(before.files);
  if (way.removed !== undefined) files.delete(way.removed);
  for (const [name, bytes] of before.files) {
    if (way.file !== undefined && way.file !== name) continue;
    const text = (way.edits ?? []).reduce((edited, [from, to]) => edited.replace(from, () => to), bytes.toString());
    if (files.has(name)) files.set(name, Buffer.from(text));
  }
  if (way.renamed !== undefined) {
    const [from, to] = way.renamed;
    files.set(to, files.get(from) ?? Buffer.from(''));
    files.delete(from);
  }
  for (const [name, text] of Object.entries(way.newFiles ?? {})) files.set(name, Buffer.from(text));
  return { ...before, files, command: way.command ?? before.command, before };
}

/** Mistakes that no page has as an example: the manifest before and after its remedy. */
const MISTAKES: readonly (readonly [mistake: string, wrong: string, says: string, right: string])[] = [
  [
    'a field that lost its indentation',
    '  backend:\n  backend_id: bkdhr_blue\n',
    'It is a field of `backend`: write it below that, with more indentation.',
    '  backend:\n    backend_id: bkdhr_blue\n',
  ],
  [
    'a field of several modules that lost its indentation',
    '  backend:\n    backend_id: bkdhr_blue\n  enabled: true\n',
    'write it below the one that is meant, with more indentation.',
    '  backend:\n    backend_id: bkdhr_blue\n    enabled: true\n',
  ],
  [
    'a tab',
    '\tbackend: { backend_id: bkdhr_blue }\n',
    'Indent with spaces.',
    '  backend: { backend_id: bkdhr_blue }\n',
  ],
  [
    'a forgotten ---',
    `  backend: { backend_id: bkdhr_blue }\n${HEAD}TCPEdge\nmetadata: { name: b }\nspec: {}\n`,
    'Put a line `---` above it.',
    `  backend: { backend_id: bkdhr_blue }\n---\n${HEAD}TCPEdge\nmetadata: { name: b }\nspec: {}\n`,
  ],
];

describe('a remedy that is followed', () => {
  it.each(MISTAKES)('ends %s', async (_, wrong, says, right) => {
    const files = (spec: string): ReadonlyMap<string, Buffer> =>
      new Map([['manifest.yaml', Buffer.from(`${HEAD}TCPEdge\nmetadata: { name: a }\nspec:\n${spec}`)]]);
    const example = { ...readExample(''), command: 'validate manifest.yaml' };
    const before = await runExample({ ...example, files: files(wrong) });
    expect(before.output).toContain(says);
    const after = await runExample({ ...example, files: files(right) });
    expect(after.output).not.toContain('error[');
  });

  it('makes a plan that was cut again, with the command that it names', async () => {
    const stack = `${HEAD}Stack\nmetadata: { name: shop }\n`;
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': stack });
    await edgewise('plan . -o plan.json');
    const whole = readFileSync(join(folder, 'plan.json'), 'utf8');
    writeFileSync(join(folder, 'plan.json'), whole.slice(0, whole.length / 2));
    const cut = await edgewise('apply . --approved plan.json --yes');
    expect(cut).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('Make one with edgewise plan -o FILE.') });
    await edgewise('plan . -o plan.json');
    expect(await edgewise('apply . --approved plan.json --yes')).toMatchObject({ exitCode: 0 });
  });

  it('writes a number that a variable cannot give', async () => {
    const pool = (share: string) =>
      `${HEAD}Stack\nmetadata: { name: shop }\n---\n${HEAD}WeightedBackend\nmetadata: { name: w }\nspec:\n  backends: { bkdhr_blue: ${share} }\n`;
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': pool(`"${D}{env:SHARE}"`) });
    const { exitCode, stdout, stderr } = await edgewise('validate --env SHARE', { env: { SHARE: '3' } });
    expect(exitCode).toBe(3);
    const [, said = ''] = /Write the number itself, without quotes: (\d+)\./.exec(stdout + stderr) ?? [];
    expect(said).toBe('3');
    writeFileSync(join(folder, 'edgewise.yaml'), pool(said));
    expect(await edgewise('validate')).toMatchObject({ exitCode: 0 });
  });

  it.each(WAYS)('ends $code: $says', async (way) => {
    const after = applyWay(way);
    if (after.isInGit) requireProgramOrSkip('git');
    const { output: found } = await runExample(after.before);
    expect(found).toMatch(new RegExp(`\\[${way.code}\\]`));
    const printed = found.replace(/\s+/g, ' ');
    expect(printed).toContain(way.says);
    const { output } = await runExample(after);
    expect(output).not.toContain(`[${way.code}]`);
    expect(output).not.toContain('error[');
  });

  it('is known for every code that has an example', () => {
    const known = [...new Set(WAYS.map(({ code }) => code)), ...Object.keys(NOT_HERE)];
    expect(known.toSorted()).toEqual(Object.keys(DIAGNOSTIC_CODES).toSorted());
  });
});
