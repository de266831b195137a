import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { findMember, isJsonObject, parseJson } from '../../src/model/json.ts';
import { createServer, parseApiKey, type Server, type ServerOptions } from '../../src/server/index.ts';
import { sendByHand } from '../by-hand.ts';
import { EXTERNAL_IDS } from '../external-ids.ts';
import { type CommandResult, type FakeOptions, NOW, runCommand } from './fake-context.ts';
import { createRecorder, type Recorder } from './recorder.ts';

/** A folder with manifests, and a bundled server for its commands, for one test. */
export interface Workspace {
  readonly folder: string;
  readonly server: Server;
  readonly recorder: Recorder;
  /** Runs a command line in the folder. */
  readonly edgewise: (
    line: string,
    more?: Partial<FakeOptions>,
  ) => Promise<CommandResult & { readonly exits: readonly number[] }>;
  readonly write: (files: Readonly<Record<string, string>>) => Promise<void>;
}

/** Creates a workspace with these files. It is deleted after the test. */
export async function createWorkspace(
  files: Readonly<Record<string, string>> = {},
  options: Partial<ServerOptions> = {},
): Promise<Workspace> {
  const workspace = await openWorkspace(files, options);
  onTestFinished(workspace.remove);
  return workspace;
}

/** Creates a workspace for several tests that only read it. A `beforeAll` returns `remove`. */
export async function openWorkspace(
  files: Readonly<Record<string, string>> = {},
  options: Partial<ServerOptions> = {},
): Promise<Workspace & { readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-test-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const server = createServer({
    now: () => NOW,
    idSeed: 'test',
    apiKeys: [parseApiKey('dev:admin')],
    ...options,
    seed: { externals: EXTERNAL_IDS, ...options.seed },
  });
  const recorder = createRecorder(server.handle);
  const write: Workspace['write'] = async (more) => {
    for (const [name, text] of Object.entries(more)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
  };
  await write(files);
  const edgewise: Workspace['edgewise'] = (line, more) =>
    runCommand(line.split(' '), { cwd: folder, transport: recorder.transport, ...more });
  return { folder, server, recorder, edgewise, write, remove };
}

/** Changes the live resource of an address as a user without manifests. Returns its id. */
export async function changeByHand(
  { server }: Pick<Workspace, 'server'>,
  address: string,
  body: object,
): Promise<string> {
  const [kind = '', name = ''] = address.split('/');
  const live = (server.snapshot().resources[kind] ?? []).filter(({ metadata }) => {
    const mark = isJsonObject(metadata) ? metadata['edgewise'] : findMember(parseJson(String(metadata)), 'edgewise');
    return findMember(mark, 'name') === name;
  });
  const [{ id } = {}] = live;
  if (live.length !== 1) throw new Error(`${live.length} live resources have the mark of ${address}`);
  await sendByHand({ server }, 'PATCH', `${getKind(kind).path}/${id}`, body);
  return String(id);
}

/** Creates a workspace, applies its manifests, and changes live resources by hand: an account with drift. */
export async function createDriftedWorkspace(
  files: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, object>>,
): Promise<Workspace> {
  const workspace = await createWorkspace(files);
  const { exitCode, stderr } = await workspace.edgewise('apply --yes');
  if (exitCode !== 0) throw new Error(`not applied: ${stderr}`);
  for (const [address, body] of Object.entries(changes)) await changeByHand(workspace, address, body);
  workspace.recorder.take();
  return workspace;
}

/** The output of a command as one text, as a person sees it. */
export function toTranscript({ exitCode, stdout, stderr }: CommandResult): string {
  const section = (name: string, text: string) => (text === '' ? [] : [`--- ${name}`, text.trimEnd()]);
  return [`exit code ${exitCode}`, ...section('stdout', stdout), ...section('stderr', stderr), ''].join('\n');
}

/** Returns the output without the number of reads, which grows with the number of kinds. */
export function withoutReads(printed: string): string {
  return printed.replace(/^(Reading took |edgewise_requests\{.*\} )\d+/gm, '$1…');
}

/** A stack without resources. */
export const STACK = `apiVersion: edgewise/v1
kind: Stack
metadata:
  name: test
`;

/** A TCP edge of that name, on a port of its own. */
export function toEdge(name: string, port: number): string {
  return `---
apiVersion: edgewise/v1
kind: TCPEdge
metadata:
  name: ${name}
spec:
  hostports: ["1.tcp.example.net:${port}"]
`;
}

/** A credential of that name. */
export function toCredential(name: string): string {
  return `---
apiVersion: edgewise/v1
kind: Credential
metadata:
  name: ${name}
`;
}

/** A manifest of any kind. `more` is added beside `metadata` and `spec`. */
export function toManifest(kind: string, name: string, spec: object, more: object = {}): string {
  return `---\n${JSON.stringify({ apiVersion: 'edgewise/v1', kind, metadata: { name }, spec, ...more })}\n`;
}
