import { cpSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { toEdge } from '../cli/workspace.ts';
import { type FakeForge, PERSONAL_TOKEN, startFakeForge } from '../forge/fake-forge.ts';
import { listImports, listUnreached } from '../installed/imports.ts';
import { createSandbox, listChanged, listFiles, PROJECT, ROOT, runLine, type Sandbox } from '../installed/sandbox.ts';
import { toStack } from '../repository/tree.ts';

/** Each command of the installed program that asks no question, and each part that a command line loads. */

const PACKAGE = join(PROJECT, 'node_modules/edgewise');

/** A line of bash, its output, its exit code (0 if absent), and the files that it writes. */
type Row = readonly [line: string, shows: string, exitCode?: number, ...writes: string[]];

/** The working folder of each line. `stacks` is applied. `less` describes none of the resources of `one`. */
const FILES = {
  'stacks/one/edgewise.yaml': `${toStack('one')}${toEdge('one', 20_001)}`,
  'stacks/two/edgewise.yaml': `${toStack('two')}${toEdge('two', 20_002)}`,
  // A checkout of its own, because two stacks with one name in a repository are an error.
  'less/.git/HEAD': '',
  'less/edgewise.yaml': toStack('one'),
  'more/edgewise.yaml': `${toStack('more')}${toEdge('more', 20_003)}`,
  'agent/edgewise.yaml': `${toStack('agent')}---\napiVersion: edgewise/v1\nkind: Credential\nmetadata: { name: agent }\n`,
  'other.json': '{}',
  'faults.yaml': 'rules: [{ on: "*", fault: latency, ms: "1-2" }]',
};

const PREPARE = `! command -v git >/dev/null || git init --quiet
edgewise apply -R stacks --yes
edgewise plan more -o plan.json --report markdown=plan.md
edgewise plan -R stacks -o plans`;

const COMMANDS: readonly Row[] = [
  ['edgewise --version', `${packageJson.version}\n`],
  ['edgewise --help', 'Plan and apply:'],
  ['edgewise help exit-codes', 'interrupted'],
  ['edgewise init fresh --name fresh --base-url embedded:', 'Wrote fresh/edgewise.yaml', 0, 'fresh', '.edgewise'],
  ['edgewise validate more', '1 resource in 1 file: valid.'],
  ['edgewise test-policy $PACKAGE/examples/policies', 'pass a star restricts nothing'],
  ['edgewise stacks stacks', 'stacks/two'],
  ['edgewise explain bad-field', 'hostport is not a known field'],
  ['edgewise schema TCPEdge', '"hostports"'],
  ['edgewise plan more', '1 to create'],
  ['edgewise show plan.json', '1 to create'],
  ['edgewise diff plan.json plan.json', 'Both plans do the same.'],
  ['edgewise plan -R stacks --stack two', '1 of 2 stacks below stacks.'],
  ['edgewise post plan.md', 'Created a new comment'],
  ['edgewise apply more --yes', '1 write applied', 0, 'account.json'],
  ['edgewise destroy stacks/one --yes', '1 write applied', 0, 'account.json'],
  ['edgewise get stacks/one', '1 resource of stack one'],
  ['edgewise drift stacks/one', 'No drift'],
  ['edgewise accept --all stacks/one', 'Nothing to write'],
  ['edgewise export', 'Left out: what belongs to the stack one (1).'],
  ['edgewise release TCPEdge/one stacks/one --yes', '1 write applied', 0, 'account.json'],
  ['edgewise abuse-report submit https://phishing.example.com/', 'PENDING', 0, 'account.json'],
  ['edgewise abuse-report get $(get_report_id)', 'PENDING', 0, 'account.json'],
  ['serve edgewise drift less', 'http://127.0.0.1:'],
  ['edgewise completion bash', 'complete -o default -F'],
  ['edgewise __complete addresses -- plan stacks/one', 'TCPEdge/one'],
];

/** Writes a report in each of these formats. */
const report = (...formats: readonly string[]) => formats.map((name) => `--report ${name}=report.${name}`).join(' ');
const FORMATS = ['json', 'markdown', 'html', 'github', 'sarif', 'junit'];
const REPORTS = FORMATS.map((name) => `report.${name}`);
const POLICIES = '--policies $PACKAGE/examples/policies/credentials-have-an-acl.yaml';

const OTHER_PARTS: readonly Row[] = [
  [`edgewise drift stacks/one ${report(...FORMATS, 'metrics')}`, 'No drift', 0, ...REPORTS, 'report.metrics'],
  [`edgewise drift -R stacks ${report(...FORMATS, 'metrics')}`, '2 stacks', 0, ...REPORTS, 'report.metrics'],
  ['cp -r $PACKAGE/examples/everything . && edgewise validate everything', 'valid', 0, 'everything'],
  ['edgewise validate --list-rules', 'traffic-policy'],
  ['edgewise test-policy $PACKAGE/examples/policies --format junit', '<testsuites'],
  ['edgewise explain settings more', 'EDGEWISE_BASE_URL'],
  ['edgewise plan less --allow-deletes', '1 to delete'],
  ['edgewise plan agent --token-directory $HOME/tokens', '1 to create'],
  [`edgewise plan more ${POLICIES}`, '1 to create'],
  ['edgewise plann --report json=other.json', '', 3, 'other.json'],
  ['edgewise apply -R stacks --approved plans --yes', 'Nothing to do'],
  ['GITHUB_REPOSITORY=o/r edgewise post plan.md', 'pull request 7 of o/r'],
];

/** Starts the bundled server, runs a command against it over a socket, and stops it: `serve COMMAND…`. */
const SERVE = `serve() {
  edgewise serve --port 0 --seed $PACKAGE/examples/account.json --faults faults.yaml >"$TMPDIR/log" 2>/dev/null &
  until grep -q http "$TMPDIR/log"; do sleep 0.05; done
  EDGEWISE_BASE_URL=$(grep -o 'http://[0-9.:]*' "$TMPDIR/log") EDGEWISE_API_KEY=dev "$@"
  kill $! && wait $! && cat "$TMPDIR/log" && rm "$TMPDIR/log"
}`;

/** Submits a report, and prints its id. */
const SUBMIT = `get_report_id() {
  edgewise abuse-report submit https://phishing.example.com/ | grep -o 'abrp_[A-Za-z0-9]*' | head -n 1
}`;

describe('the installed program', () => {
  const coverage = mkdtempSync(join(ROOT, 'coverage-'));
  let prepared: Sandbox;
  let forge: FakeForge;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    prepared = createSandbox(FILES, { EDGEWISE_BASE_URL: 'embedded:account.json' });
    const { exitCode, stderr } = await runLine(prepared, `set -e; ${PREPARE}`);
    expect(exitCode, stderr).toBe(0);
    forge = await startFakeForge();
    env = {
      ...{ NODE_V8_COVERAGE: coverage, PACKAGE, EDGEWISE_BASE_URL: 'embedded:account.json' },
      ...{ CI_SERVER_URL: forge.url, CI_PROJECT_ID: '3', CI_COMMIT_SHA: 'abc', CI_MERGE_REQUEST_IID: '7' },
      ...{ EDGEWISE_GITLAB_TOKEN: PERSONAL_TOKEN, GITHUB_TOKEN: PERSONAL_TOKEN },
      ...{ GITHUB_API_URL: forge.url, GITHUB_SHA: 'abc' },
    };
  });
  afterAll(() => forge.close());

  it.for([...COMMANDS, ...OTHER_PARTS])('%s', async ([line, shows, exitCode = 0, ...writes]) => {
    const sandbox = createSandbox({}, env);
    cpSync(prepared.work, sandbox.work, { recursive: true });
    const before = listFiles(sandbox.root);
    const ended = await runLine(sandbox, `${SERVE}\n${SUBMIT}\n${line}`);
    expect(ended).toMatchObject({ exitCode, stdout: expect.stringContaining(shows) });
    expect(ended.stderr).not.toMatch(/bug in edgewise|^ +at /m);
    const changed = listChanged(before, listFiles(sandbox.root));
    expect(changed.filter((path) => !writes.some((one) => `${path}/`.startsWith(`work/${one}/`)))).toEqual([]);
    expect(writes.filter((one) => !changed.includes(`work/${one}`))).toEqual([]);
  });

  it('has no command that is not started above', async () => {
    const { stdout } = await runLine(prepared, 'edgewise --help');
    const commands = Array.from(stdout.matchAll(/^ {2}([a-z]+(?:-[a-z]+)*) {2,}/gm), ([, name]) => name);
    expect(commands.length).toBeGreaterThan(15);
    expect(commands.filter((name) => !COMMANDS.some(([line]) => ` ${line} `.includes(` ${name} `)))).toEqual([]);
  });

  it('has no import() that nothing above reaches', () => {
    const parts = readdirSync(join(PACKAGE, 'dist/parts')).map((name) => `parts/${name}`);
    const imports = listImports(['cli.js', ...parts].map((name) => join(PACKAGE, 'dist', name)));
    expect(imports.length).toBeGreaterThan(40);
    expect(listUnreached(imports, coverage)).toEqual([]);
  });
});
