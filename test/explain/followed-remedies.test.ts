import { describe, expect, it } from 'vitest';
import { listExamples, type RunnableExample, readExample, runExample } from '../../.ci/run-example.ts';
import { findCodeSection } from '../../src/explain/code-section.ts';
import { DIAGNOSTIC_CODES } from '../../src/model/diagnostic.ts';
import { isJsonObject, type Json, toJsonList } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { NOW } from '../cli/fake-context.ts';
import { requireProgramOrSkip } from '../needs.ts';

/** Each remedy of the page of diagnostics is done, as it says: then its error is gone, and there is no other one. */

/** One way that a remedy offers, done as it says. */
interface Way {
  readonly code: string;
  /** Which example of the code: 0 is the first one. */
  readonly example?: number;
  /** The words of the printed remedy that are followed. What a group captures takes the place of `SAID` below. */
  readonly says: string | RegExp;
  /** What the output of the command that the remedy names has for `SAID` instead. */
  readonly shown?: RegExp;
  /** Texts of a file and what takes their place. */
  readonly edits?: readonly (readonly [from: string | RegExp, to: string])[];
  /** The only file that is edited. Absent: every one. */
  readonly file?: string;
  readonly newFiles?: Readonly<Record<string, string>>;
  readonly renamed?: readonly [from: string, to: string];
  readonly removed?: string;
  /** Texts of the seed and what takes their place: what is changed at the service. */
  readonly live?: readonly (readonly [from: string | RegExp, to: string])[];
  /** The service has no faults any more, or the other user no request. */
  readonly without?: 'faults' | 'concurrent';
  /** Commands that run before. */
  readonly earlier?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The clock of the machine. */
  readonly now?: Date;
  /** The NS records that the domain of an agent ingress has. */
  readonly records?: string;
  /** The command line afterwards. Absent: the same. */
  readonly command?: string;
  /** The consent that the plan then asks for. */
  readonly consent?: RegExp;
}

const D = '$';

/** What the remedy names, taken from what was printed. */
const SAID = '\u{f8ff}';

/** The beginnings of remedies that name what to write. */
const MEANT = /Did you mean `(.+?)`\?/;
const ADDED = /add to th(?:is document|e document that starts at \S+):\n +(.+)\n/;

const HEAD = 'apiVersion: edgewise/v1\nkind: ';

const WAYS: readonly Way[] = [
  { code: 'file-unreadable', says: MEANT, command: `validate ${SAID}` },
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
  { code: 'unknown-kind', says: MEANT, edits: [['TcpEdges', SAID]] },
  { code: 'bad-field', says: MEANT, edits: [['hostport:', `${SAID}:`]] },
  {
    code: 'bad-field',
    example: 1,
    says: /Add `(.+?)`/,
    edits: [['enabled: true', `enabled: true\n    ${SAID}: bkdhr_blue`]],
  },
  {
    code: 'bad-value',
    says: /run `edgewise (.+?)`/,
    shown: /Example +`(.+)`/,
    edits: [['1.tcp.example.net', SAID]],
  },
  { code: 'bad-value', example: 1, says: MEANT, edits: [['Postgres Main', SAID]] },
  { code: 'empty-key', says: 'Write its value', edits: [['# ip_policy_ids', 'ip_policy_ids']] },
  { code: 'empty-key', says: /write `(.+?)`/, edits: [['ip_restriction:\n', `ip_restriction: ${SAID}\n`]] },
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
    says: /use (--exclude \S+)\./,
    command: `plan ${SAID}`,
  },
  {
    code: 'claimed-elsewhere',
    says: ADDED,
    file: 'manifest.yaml',
    edits: [['domain: agents.example.com\n', `domain: agents.example.com\n${SAID}\n`]],
  },
  {
    code: 'bad-reference',
    says: MEANT,
    edits: [['WeightedBackend/pol\n', `${SAID}\n`]],
  },
  {
    code: 'bad-reference',
    example: 1,
    says: /run `edgewise (.+?)`/,
    shown: /`(bkdhr_)…`/,
    edits: [['ipp_office', `${SAID}office`]],
  },
  {
    code: 'no-stack',
    says: /Add these lines to one of the files.*:\n((?: {8}.*\n)+)/,
    edits: [[/$/, SAID]],
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
    says: MEANT,
    command: `plan --target ${SAID}`,
  },
  { code: 'left-out', says: 'without --exclude', command: 'plan' },
  { code: 'predecessor-unclear', says: 'remove the line', edits: [['lifecycle:\n  adopt: bkdwd_pool\n', '']] },
  {
    code: 'predecessor-unclear',
    example: 1,
    says: ADDED,
    file: 'manifest.yaml',
    edits: [['domain: agents.example.com\n', `domain: agents.example.com\n${SAID}\n`]],
  },
  {
    code: 'adopt-refused',
    says: /write here instead:\n +(.+)\n/,
    edits: [['adopt: bkdwd_pool', SAID]],
    consent: /allow it with (--allow-take-over \S+),/,
  },
  { code: 'kept-prune', says: /apply this stack alone: edgewise (.+)\n/, command: `${SAID} --yes` },
  {
    code: 'mark-lost',
    says: ADDED,
    file: 'manifest.yaml',
    edits: [['backends: { bkdhr_blue: 1 }\n', `backends: { bkdhr_blue: 1 }\n${SAID}\n`]],
  },
  {
    code: 'token-sink-missing',
    says: 'Set spec.tokens in the Stack',
    file: 'edgewise.yaml',
    edits: [['name: production\n', 'name: production\nspec: { tokens: { default: { directory: tokens } } }\n']],
  },
  { code: 'token-sink-missing', says: 'the same --token-directory', command: 'plan --token-directory tokens' },
  { code: 'token-in-git', says: /Add the line (\S+) to \.gitignore/, newFiles: { '.gitignore': `${SAID}\n` } },
  {
    code: 'rehearsal-failed',
    says: 'Correct the manifest',
    edits: [['  valid_after: "9999-12-31T12:00:00Z"\n', '']],
  },
  {
    code: 'unset-field-kept',
    says: /To keep the value, set (.+?)\./,
    file: 'manifest.yaml',
    edits: [['acl: ["bind:*.example.com"]\n', `acl: ["bind:*.example.com"]\n  ${SAID}\n`]],
  },
  {
    code: 'certificate-validity',
    says: 'Set lifecycle.renew_before',
    file: 'manifest.yaml',
    edits: [['principals: [alice]\n', 'principals: [alice]\nlifecycle:\n  renew_before: 2h\n']],
  },
  {
    code: 'certificate-validity',
    says: /replace it now with (--rotate \S+)\./,
    command: `plan ${SAID}`,
  },
  { code: 'policy-invalid', says: MEANT, edits: [['in lables', `in ${SAID}`]] },
  {
    code: 'policy-violated',
    says: 'Change the manifest',
    edits: [['name: postgres\n', 'name: postgres\n  labels: { team: data }\n']],
  },
  { code: 'expression-syntax', says: /Write `(.+?)` instead of `or`/, edits: [[' or ', ` ${SAID} `]] },
  { code: 'traffic-policy', says: MEANT, edits: [['conn.cleint_ip', SAID]] },
  { code: 'traffic-policy', example: 1, says: MEANT, edits: [['denny', SAID]] },
  {
    code: 'no-backend',
    says: 'Add spec.backend, and enable it',
    edits: [['spec:\n', 'spec:\n  backend: { backend_id: bkdhr_blue, enabled: true }\n']],
  },
  {
    code: 'unrestricted-access',
    says: /such as `(.+?)`/,
    edits: [['spec:\n', `spec:\n  acl: ["${SAID}"]\n`]],
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
    says: MEANT,
    edits: [['permit-agent-forwading', SAID]],
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
    says: /Set `(.+?)`/,
    edits: [['spec:\n', `spec:\n  ${SAID}\n`]],
  },
  {
    code: 'module-without-effect',
    says: 'Remove the pattern from one of the lists',
    edits: [['deny: ["^curl/", ', 'deny: [']],
  },
  { code: 'number-rewritten', says: /Put it in quotes: (.+)\.\n/, edits: [['1.10', SAID]] },
  {
    code: 'unknown-placeholder',
    says: /To send the text itself, write `(.+?)`/,
    edits: [[`${D}{ENVIRONMENT}`, SAID]],
  },
  {
    code: 'unfilled-value',
    says: 'name this rule under lint.allow',
    edits: [['spec:\n', 'lint: { allow: { unfilled-value: as it is } }\nspec:\n']],
  },
  {
    code: 'kept-by-annotation',
    says: /Set lifecycle\.(.+?),/,
    edits: [['spec:\n', `lifecycle: { ${SAID} }\nspec:\n`]],
  },
  {
    code: 'left-to-service',
    says: 'Set all of them',
    edits: [['num_buckets: 6\n', 'num_buckets: 6\n    volume_threshold: 20\n']],
  },
  { code: 'repeated-value', says: 'Remove one of them', edits: [[', "1.TCP.example.net:20001"', '']] },
  { code: 'literal-id', says: /Write (External\S+)\.\n/, edits: [['[ipp_office]', `[${SAID}]`]] },
  {
    code: 'placeholder-in-shell',
    says: /Write "(.+?)" there/,
    edits: [['"secret/{name}"', `"secret/${SAID}"`]],
  },
  {
    code: 'secret-in-manifest',
    says: /write (\S+)\./,
    edits: [['4f1c9a', SAID]],
  },
  {
    code: 'suppression-unused',
    says: 'Remove the line',
    edits: [['lint:\n  allow:\n    unrestricted-access: the agent of the administrators\n', '']],
  },
  {
    code: 'behind-target',
    says: /or (merge main) into the branch/,
    earlier: [`git ${SAID}`],
  },
  {
    code: 'behind-target',
    says: 'Plan the result of the merge',
    earlier: ['git checkout --quiet --detach main', 'git merge feature'],
  },
  {
    code: 'env-reference',
    says: /Set it, and offer it with `(.+?)`/,
    env: { REGION: 'eu' },
    command: `validate ${SAID}`,
  },
  {
    code: 'env-reference',
    says: /or `EDGEWISE_ENV=(.+?)`/,
    env: { REGION: 'eu', EDGEWISE_ENV: SAID },
  },
  {
    code: 'used-elsewhere',
    says: 'Change the resources that refer to it first',
    live: [['"backend_id": "bkdwd_pool"', '"backend_id": "bkdhr_blue"']],
  },
  {
    code: 'accept-refused',
    says: 'Change the manifest by hand',
    edits: [[/&weights\n.*\n.*\*weights/, '{ bkdhr_blue: 2 }\n  metadata: { bkdhr_blue: 1 }']],
    command: 'plan',
  },
  {
    code: 'dependency-blocked',
    says: /Set (\w+), or/,
    env: { EDGEWISE_API_KEY_NETWORK: 'dev' },
  },
  {
    code: 'secret-missing',
    says: /set SHOP_KEY, and offer it with `(.+?)`/,
    env: { SHOP_KEY: 's3cret' },
    command: `apply --yes ${SAID}`,
  },
  {
    code: 'kept-for-hand-over',
    says: /Apply the stack in (\w+)\./,
    earlier: [`apply ${SAID} --yes`],
  },
  { code: 'mark-invalid', says: 'Correct its metadata by hand', live: [['my pool', 'pool']] },
  {
    code: 'mark-invalid',
    says: /mark of WeightedBackend (\w+) cannot .*\n.*or adopt it/,
    file: 'manifest.yaml',
    edits: [[/$/, `lifecycle: { adopt: ${SAID} }\n`]],
    earlier: ['apply --yes'],
  },
  { code: 'duplicate-mark', says: 'It is pruned', earlier: ['apply --yes'] },
  {
    code: 'duplicate-mark',
    says: 'remove the mark from its metadata',
    live: [[/("bkdwd_second".*"metadata": )"\{.*\}"/, '$1""']],
  },
  { code: 'lockout', says: 'Make sure that its IP policies allow', earlier: ['apply --yes'] },
  {
    code: 'creation-withheld',
    says: /remove `(\w+)` from its metadata/,
    live: [[`,\\"${SAID}\\":{\\"asked\\":\\"k3f9aQ\\",\\"fields\\":[\\"acl\\"]}`, '']],
  },
  {
    code: 'clock-skew',
    says: 'Set the clock of this machine',
    now: new Date(NOW.getTime() + 7_200_000),
  },
  { code: 'clock-skew', says: 'If it is right, the service or a proxy shows a wrong time', without: 'faults' },
  {
    code: 'resource-unhealthy',
    says: /Set the NS records of the domain to its ns_targets \((.+?)\)/,
    records: SAID,
  },
  { code: 'shown-otherwise', says: 'Check it at the service', without: 'faults' },
  {
    code: 'shown-otherwise',
    says: /leave it to others with lifecycle\.(.+)\.\n/,
    file: 'manifest.yaml',
    edits: [[/$/, `lifecycle: { ${SAID} }\n`]],
  },
  {
    code: 'shown-otherwise',
    example: 1,
    says: 'needs no action',
    earlier: ['apply --yes'],
  },
  { code: 'concurrent-change', says: 'Run only one apply of a stack at a time', without: 'concurrent' },
  { code: 'concurrent-change', says: 'Run apply again', earlier: ['apply --yes'] },
  {
    code: 'restriction-locks-out',
    says: /Then name (this rule) under lint\.allow/,
    edits: [['spec:\n', 'lint: { allow: { restriction-locks-out: the office is in ipp_office } }\nspec:\n']],
  },
];

/** The example of a way, and what it becomes once the remedy is followed. `fill` puts in what was printed. */
function applyWay(way: Way, before: RunnableExample, fill: (text: string) => string): RunnableExample {
  const edit = (text: string, edits: Way['edits'] = []): string =>
    edits.reduce(
      (edited, [from, to]) =>
        edited.replace(typeof from === 'string' ? fill(from) : from, (...groups) => fill(to).replace('$1', groups[1])),
      text,
    );
  const files = new Map(before.files);
  if (way.removed !== undefined) files.delete(way.removed);
  for (const [name, bytes] of before.files) {
    if (way.file !== undefined && way.file !== name) continue;
    if (files.has(name)) files.set(name, Buffer.from(edit(bytes.toString(), way.edits)));
  }
  if (way.renamed !== undefined) {
    const [from, to] = way.renamed;
    files.set(to, files.get(from) ?? Buffer.from(''));
    files.delete(from);
  }
  for (const [name, text] of Object.entries(way.newFiles ?? {})) files.set(name, Buffer.from(fill(text)));
  const { earlier = [], env = {}, now = NOW, records } = way;
  return {
    ...before,
    now,
    ...(records !== undefined && { atService: (handle) => withRecords(handle, fill(records)) }),
    ...(way.without !== undefined && { [way.without]: undefined }),
    files,
    live: before.live && edit(before.live, way.live),
    earlier: earlier.map(fill),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)])),
    command: fill(way.command ?? before.command),
  };
}

/** What the words name in what was printed. Of several lines, without their indentation. */
function findSaid(says: Way['says'], printed: string): string {
  if (typeof says === 'string') {
    expect(printed.replace(/\s+/g, ' ')).toContain(says);
    return '';
  }
  expect(printed).toMatch(says);
  const [, said = ''] = says.exec(printed) ?? [];
  return said.replace(/^ {8}/gm, '');
}

/** A service that finds these NS records for the domain of each agent ingress. */
function withRecords(handle: Transport, records: string): Transport {
  const show = (_: string, value: Json): Json =>
    isJsonObject(value) && toJsonList(value['ns_targets']).join(', ') === records
      ? { ...value, certificate_management_status: { renews_at: '2026-05-01T12:00:00Z', provisioning_job: null } }
      : value;
  return async (request) => {
    const response = await handle(request);
    return Response.json(JSON.parse(await response.text(), show), response);
  };
}

describe('a remedy that is followed', () => {
  it.each(WAYS)('ends $code: $says', async (way) => {
    const example = readExample(listExamples(findCodeSection(way.code)?.example ?? '')[way.example ?? 0] ?? '');
    if (example.isInGit) requireProgramOrSkip('git');
    const { output: found } = await runExample(example);
    expect(found).toMatch(new RegExp(`\\[${way.code}\\]`));
    const named = findSaid(way.says, found);
    const said =
      way.shown === undefined ? named : findSaid(way.shown, (await runExample({ ...example, command: named })).output);
    const followed = applyWay(way, example, (text) => text.replaceAll(SAID, () => said));
    const consent = way.consent && findSaid(way.consent, (await runExample(followed)).output);
    const command = consent === undefined ? followed.command : `${followed.command} ${consent}`;
    const { output, exitCode } = await runExample({ ...followed, command });
    expect(output).not.toContain(`[${way.code}]`);
    expect(output).not.toContain('error[');
    expect(exitCode, output).toBe(0);
  });

  it('is known for every code', () => {
    const known = new Set(WAYS.map(({ code }) => code));
    expect([...known].toSorted()).toEqual(Object.keys(DIAGNOSTIC_CODES).toSorted());
  });
});
