import { spawn } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { COMPILED } from '../compiled.ts';

const COMPONENT = 'examples/pipelines/gitlab/templates/edgewise.yml';

/** One job of the component, and its folders. */
export interface JobCall {
  readonly job: 'edgewise-plan' | 'edgewise-apply' | 'edgewise-drift';
  /** The program behind the command `edgewise`, once it is installed. */
  readonly program: string;
  /** The working folder of the job. */
  readonly checkout: string;
  /** The folder of the runner, outside of the checkout: programs, and records of their starts. */
  readonly runner: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, string>>;
  /** Whether npm fails. */
  readonly failsEarly?: boolean;
}

/** The result of a job. */
export interface RanJob {
  readonly exitCode: number;
  readonly log: string;
  /** The words and variables of each program that was started. */
  readonly started: readonly { readonly words: readonly string[]; readonly env: Readonly<Record<string, string>> }[];
}

const job = z.object({
  variables: z.record(z.string(), z.string()).optional(),
  before_script: z.array(z.string().or(z.array(z.string()))).optional(),
  script: z.array(z.string().or(z.array(z.string()))).optional(),
});

/** Runs the scripts of a job from the component in one shell, as GitLab does. npm and edgewise record their words and variables. */
export async function runJob(call: JobCall): Promise<RanJob> {
  const { base, own } = await readJob(call);
  const before = own.before_script ?? base.before_script?.flat() ?? [];
  const bin = await installPrograms(call);
  const notes = join(call.runner, 'started');
  await writeFile(notes, '');
  const env = {
    ...COMPILED,
    ...base.variables,
    ...PREDEFINED,
    ...call.variables,
    STARTED: notes,
    PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter),
  };
  const script = [...before, ...(own.script ?? [])].join('\n');
  const child = spawn('bash', ['-c', `set -eo pipefail\nexec 2>&1\n${script}`], {
    cwd: call.checkout,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const parts: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => parts.push(part));
  const exitCode = await new Promise<number>((done) => child.on('close', (code) => done(code ?? 1)));
  const started = (await readFile(notes, 'utf8')).split('\n').filter((line) => line !== '');
  return { exitCode, log: Buffer.concat(parts).toString('utf8'), started: started.map((line) => JSON.parse(line)) };
}

const PREDEFINED = {
  CI_SERVER_PROTOCOL: 'https',
  CI_SERVER_FQDN: 'gitlab.example.com',
  CI_JOB_TOKEN: 'token-of-the-job',
  CI_DEFAULT_BRANCH: 'main',
};

/** Fills in the inputs of the component as text, as GitLab does. */
async function readJob({ job: name, inputs }: JobCall) {
  const text = await readFile(COMPONENT, 'utf8');
  const [header] = parseAllDocuments(text);
  const declared = z.object({
    spec: z.object({ inputs: z.record(z.string(), z.object({ default: z.unknown().optional() })) }),
  });
  const { spec } = declared.parse(header?.toJS());
  const filled = text
    .slice(text.indexOf('\n---\n') + 5)
    .replaceAll(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, input: string) =>
      String(inputs[input] ?? spec.inputs[input]?.default),
    );
  const jobs = z
    .record(z.string(), job)
    .parse(parseAllDocuments(filled, { customTags: [{ tag: '!reference', collection: 'seq' }] })[0]?.toJS());
  const [shared, own] = [jobs['.edgewise'], jobs[name]];
  if (shared === undefined || own === undefined) throw new Error(`the component has no ${name}`);
  const resolve = (lines: Script) => lines && resolveReferences(lines, jobs);
  return { base: shared, own: { before_script: resolve(own.before_script), script: resolve(own.script) } };
}

type Job = z.infer<typeof job>;
type Script = Job['script'];

/** Resolves references such as `!reference [.edgewise, before_script]`. */
function resolveReferences(lines: NonNullable<Script>, jobs: Readonly<Record<string, Job>>): readonly string[] {
  return lines.flatMap((line) => {
    if (!Array.isArray(line)) return [line];
    const [name = '', part] = line;
    const found = part === 'before_script' ? jobs[name]?.before_script : jobs[name]?.script;
    return resolveReferences(found ?? [], jobs);
  });
}

/** Installs two programs that record their words and variables. */
async function installPrograms({ runner, program, failsEarly = false }: JobCall): Promise<string> {
  const bin = join(runner, 'bin');
  await mkdir(bin, { recursive: true });
  const note =
    'require("node:fs").appendFileSync(process.env.STARTED, JSON.stringify({ words: process.argv.slice(1), env: process.env }) + "\\n")';
  const ends = { npm: failsEarly ? 'exit 1' : 'exit 0', edgewise: `exec '${process.execPath}' '${program}' "$@"` };
  for (const [name, end] of Object.entries(ends)) {
    const text = `#!/bin/sh\n'${process.execPath}' -e '${note}' -- ${name} "$@"\n${end}\n`;
    await writeFile(join(bin, name), text);
    await chmod(join(bin, name), 0o755);
  }
  return bin;
}
