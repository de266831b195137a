import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { assertDefined } from '../../src/model/errors.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toCredential, toEdge, type Workspace } from '../cli/workspace.ts';
import { renderSarifReport } from '../report/render.ts';
import { REPORTS } from '../report/sample-reports.ts';
import { describeWith, runTool } from './tools.ts';

/** A recommendation that does not apply: the tool has no address. */
const EXCEPTIONS = ['SARIF2005'];

const NOWHERE = 'http://127.0.0.1:9';

interface Verdict {
  readonly ruleId: string;
  readonly message: { readonly arguments?: readonly string[] };
  readonly locations: readonly { readonly physicalLocation: Place }[];
}

/** Lists the findings of the SARIF Multitool about logs, by the standard and by the rules of GitHub's code scanning. */
async function listVerdicts(folder: string, logs: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const files = Object.keys(logs).map((name) => `${name}.sarif`);
  for (const [name, log] of Object.entries(logs)) await writeFile(join(folder, `${name}.sarif`), log);
  const args = ['validate', ...files, '--rule-kind', 'Sarif;Ghas', '--level', 'Error;Warning', '-o', 'verdict.json'];
  // The Multitool comes without the data on languages, which it does not need. One of its rules would request every address.
  const env = { DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: '1', https_proxy: NOWHERE, http_proxy: NOWHERE };
  const { output } = await runTool('sarif-multitool', args.map(quote), { cwd: folder, env });
  expect(output).toContain(`${files.length} files scanned`);
  const { runs } = JSON.parse((await readFile(join(folder, 'verdict.json'), 'utf8')).replace(/^\ufeff/, ''));
  expect(runs[0].invocations[0].toolExecutionNotifications ?? []).toEqual([]);
  return runs[0].results.filter(({ ruleId }: Verdict) => !EXCEPTIONS.includes(ruleId)).map(toSentence);
}

function toSentence({ ruleId, message, locations }: Verdict): string {
  const [file] = locations.map(({ physicalLocation }) => basename(physicalLocation.artifactLocation.uri));
  return [file, ruleId, ...(message.arguments ?? [])].join(' ');
}

/** Its launcher passes its words to a shell. */
function quote(word: string): string {
  return `'${word}'`;
}

/** Lists the URIs of a log. Each is a file of the repository. */
function listUris(log: string): readonly string[] {
  const { runs } = JSON.parse(log);
  return runs[0].results.map(
    ({ locations }: { readonly locations: readonly { readonly physicalLocation: Place }[] }) =>
      locations[0]?.physicalLocation.artifactLocation.uri,
  );
}

interface Place {
  readonly artifactLocation: { readonly uri: string };
}

const OPTIONS = { color: false, width: 0, verbose: false, version: '1.0.0', exitCode: 0 } as const;

/** A log whose rules lack their descriptions, or whose results lack their places. */
function createIncompleteLog(part: string): unknown {
  const log = JSON.parse(renderSarifReport(assertDefined(REPORTS['drift'], 'a comparison'), OPTIONS));
  const [run] = log.runs;
  if (part === 'rules') for (const rule of run.tool.driver.rules) delete rule.fullDescription;
  if (part === 'results') for (const result of run.results) result.locations = [];
  return log;
}

/** Writes a broken mark: no manifest contains its position. */
async function writeBrokenMark({ server }: Workspace): Promise<void> {
  const metadata = JSON.stringify({ edgewise: { stack: 7 } });
  await sendByHand({ server }, 'POST', '/edges/tcp', { metadata });
}

vi.setConfig({ testTimeout: 120_000 });

describeWith(['sarif-multitool'], 'a SARIF log, checked by the SARIF Multitool as code scanning does', () => {
  it('is refused without a place or a description', async () => {
    const { folder } = await createWorkspace();
    const logs = Object.fromEntries(
      ['rules', 'results'].map((part) => [part, JSON.stringify(createIncompleteLog(part))]),
    );
    const verdicts = await listVerdicts(folder, logs);
    expect(verdicts.filter((one) => one.startsWith('rules.sarif GH2012 '))).not.toEqual([]);
    expect(verdicts.filter((one) => one.startsWith('results.sarif GH1015 '))).not.toEqual([]);
  });

  it('has no finding, for any report', async () => {
    const { folder } = await createWorkspace();
    const logs = Object.entries(REPORTS).map(([name, report]) => [name, renderSarifReport(report, OPTIONS)]);
    expect(await listVerdicts(folder, Object.fromEntries(logs))).toEqual([]);
  });

  it('has each result in a file, in that of the Stack if nothing more is known', async () => {
    const workspace = await createWorkspace({
      'stack.yaml': STACK,
      'edge.yaml': `${toEdge('a', 20001)}${toCredential('bot')}`,
      'wrong.yaml': toEdge('b', 20002).replace('hostports', 'hostport'),
    });
    const { edgewise, folder } = workspace;
    await writeBrokenMark(workspace);
    const planned = (await edgewise('plan stack.yaml edge.yaml --format sarif')).stdout;
    expect(new Set(listUris(planned))).toEqual(new Set(['edge.yaml', 'stack.yaml']));
    const refused = (await edgewise('plan --format sarif')).stdout;
    expect(listUris(refused)).toEqual(['wrong.yaml']);
    const checked = (await edgewise('validate edge.yaml --format sarif')).stdout;
    const drifted = (await edgewise('drift stack.yaml edge.yaml --format sarif')).stdout;
    const applied = (await edgewise('apply stack.yaml edge.yaml --yes --token-directory gone --format sarif')).stdout;
    await edgewise('plan stack.yaml edge.yaml -o plan.json');
    const shown = (await edgewise('show plan.json --format sarif')).stdout;
    expect(new Set(listUris(shown))).toContain('plan.json');
    const input = (await edgewise('plan - --format sarif', { stdin: `${STACK}${toCredential('c')}` })).stdout;
    expect(new Set(listUris(input))).toEqual(new Set(['stdin']));
    const logs = { planned, refused, checked, drifted, applied, shown, input };
    expect(await listVerdicts(folder, logs)).toEqual([]);
  });
});

const KUSTOMIZATIONS = {
  'base/kustomization.yaml': 'resources: [edge.yaml, stack.yaml]\n',
  'base/stack.yaml': STACK,
  'base/edge.yaml': toEdge('a', 20001).replace('hostports', 'hostport'),
  'overlays/production/kustomization.yaml': 'resources: [../../base, bot.yaml]\nbuildMetadata: [originAnnotations]\n',
  'overlays/production/bot.yaml': toCredential('bot'),
} as const;

describeWith(['kustomize', 'sarif-multitool'], 'what kustomize made', () => {
  it.each(['.', 'overlays/production'])('is located in its source file, built in %s', async (at) => {
    const { folder } = await createWorkspace();
    for (const [file, text] of Object.entries(KUSTOMIZATIONS)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
    const cwd = join(folder, at);
    const target = at === '.' ? 'overlays/production' : '.';
    const built = await runTool('kustomize', ['build', target, '--load-restrictor', 'LoadRestrictionsNone'], { cwd });
    expect(built.status).toBe(0);
    const env = { GITHUB_WORKSPACE: folder };
    const { edgewise } = await createWorkspace();
    const run = (form: string) => edgewise(`validate - --format ${form}`, { cwd, env, stdin: built.output });
    const log = (await run('sarif')).stdout;
    expect(listUris(log)).toEqual(['base/edge.yaml']);
    expect(await listVerdicts(folder, { log })).toEqual([]);
    expect((await run('github')).stdout).toContain('::error file=base/edge.yaml,line=1,col=1,');
  });
});
