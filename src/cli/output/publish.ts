import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { readPipeline } from '../../model/pipeline.ts';
import { type FormName, loadForm } from '../../report/forms.ts';
import type { FormOptions, Report, RuleDescription, SentEvents } from '../../report/report.ts';
import { loadStacksForm } from '../../report/stacks-forms.ts';
import type { StacksReport } from '../../report/stacks-report.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { VERSION } from '../version.ts';
import { asksFor, type FormatFlags, type ReportTarget, toTextOptions } from './present.ts';
import { writeResultFile } from './result-file.ts';

/** How a report is published. */
export interface Publication {
  readonly flags: FormatFlags;
  /** What `--format` asks for is on stdout already. */
  readonly isShown?: boolean;
  /** The command line that does what a plan says. */
  readonly applyCommand?: NonNullable<FormOptions['applyCommand']>;
  /** The events of an apply, as far as they have been sent; with that format they are on stdout already. */
  readonly sent?: SentEvents;
  /** The exit code of the command. A form never changes it, but a report that cannot be written is a failure. */
  readonly exitCode: ExitCode;
  /** Where the manifest of an address starts; absent: there are no manifests. */
  readonly locate?: FormOptions['locate'];
}

/** Shows a report on stdout, writes it into the files that `--report` names, and gives the exit code. */
export function publish(report: Report, publication: Publication, context: Context): Promise<ExitCode> {
  return publishAs(
    async (name) => {
      const form = await loadForm(name, report.about);
      return (options) => form(report, options);
    },
    publication,
    context,
  );
}

/** Does the same with the report of a run over many stacks. */
export function publishStacks(run: StacksReport, publication: Publication, context: Context): Promise<ExitCode> {
  return publishAs(
    async (name) => {
      const form = await loadStacksForm(name);
      return (options) => form(run, options);
    },
    publication,
    context,
  );
}

/** Loads what renders in a form. */
type LoadRenderer = (name: FormName) => Promise<(options: FormOptions) => string>;

async function publishAs(load: LoadRenderer, publication: Publication, context: Context): Promise<ExitCode> {
  const { flags, isShown = false, exitCode } = publication;
  const surroundings = { ...toSurroundings(publication, context), ...(await loadRules(flags)) };
  if (!isShown) {
    const render = await load(flags.format);
    const text = render({ ...toTextOptions(context.stdout, context, flags), ...surroundings });
    context.stdout.write(flags.format === 'json-lines' ? text.slice(publication.sent?.text.length ?? 0) : text);
  }
  const faults: string[] = [];
  const { verbose = false, compact = false } = flags;
  const options: FormOptions = { color: false, width: 0, verbose, compact, ...surroundings };
  for (const target of flags.report ?? []) faults.push(...(await writeReport(load, target, { options, context })));
  for (const fault of faults) context.stderr.write(`edgewise: ${fault}\n`);
  const isGood = exitCode === EXIT.done || exitCode === EXIT.changes;
  return faults.length > 0 && isGood ? EXIT.failed : exitCode;
}

/** What forms for programs want to know of the run. */
function toSurroundings(
  { exitCode, applyCommand, locate, sent }: Publication,
  { env, cwd, now }: Context,
): Partial<FormOptions> {
  const root = env['GITHUB_WORKSPACE'] ?? env['CI_PROJECT_DIR'] ?? '';
  return {
    exitCode,
    version: VERSION,
    at: now(),
    pipeline: readPipeline(env),
    ...(sent !== undefined && { sent }),
    ...(applyCommand !== undefined && { applyCommand }),
    ...(locate !== undefined && { locate }),
    toRepositoryPath: (file) => toPathBelow(root, file, cwd),
    toOriginPath: (path, stack) => toPathBelow(root, findOrigin(path, stack, cwd), cwd),
  };
}

/** What the codes mean, loaded only for the form that says it. */
async function loadRules(flags: FormatFlags): Promise<Pick<FormOptions, 'describeRule'>> {
  if (!asksFor('sarif', flags)) return {};
  const { EXPLANATIONS } = await import('../../explain/explanations.ts');
  const byCode: ReadonlyMap<string, RuleDescription> = new Map(Object.entries(EXPLANATIONS));
  return { describeRule: (id) => byCode.get(id) };
}

/**
 * Kustomize gives paths relative to its kustomization, and nothing says where that is. So the file is looked for in the folder of the Stack that has kustomize
 * run, and in the working folder and below. A path that is not found stays as it is.
 */
function findOrigin(path: string, stack: string | undefined, cwd: string): string {
  const below = path.replace(/^(?:[.][.]?\/)+/, '');
  const beside = stack === undefined ? [] : [join(dirname(stack), path)];
  return [...beside, path, below].find((candidate) => existsSync(resolve(cwd, candidate))) ?? path;
}

/** The path from a folder, with slashes; as it was given when it is not below it. */
function toPathBelow(root: string, file: string, cwd: string): string {
  if (root === '') return file;
  const path = relative(root, resolve(cwd, file));
  return path.split(sep)[0] === '..' || isAbsolute(path) ? file : path.split(sep).join('/');
}

/** Refuses reports that could not be written, before anything is done. */
export async function checkReports({ report = [] }: FormatFlags, { cwd }: Pick<Context, 'cwd'>): Promise<void> {
  const files = new Set<string>();
  for (const { form, file } of report) {
    const path = resolve(cwd, file);
    const refuse = (why: string): CommandError =>
      new CommandError(`The report ${form}=${file} cannot be written: ${why}.`, { exitCode: EXIT.invalid });
    if (files.has(path)) throw refuse('another report goes into the same file');
    files.add(path);
    await access(dirname(path), constants.W_OK).catch(() => {
      throw refuse(`${dirname(file)} is not a folder that can be written to`);
    });
  }
}

async function writeReport(
  load: LoadRenderer,
  { form: name, file }: ReportTarget,
  { options, context }: { readonly options: FormOptions; readonly context: Context },
): Promise<readonly string[]> {
  if (await context.inputs?.has(file))
    return [`The report ${name}=${file} was not written: ${file} is a file that this run reads.`];
  const render = await load(name);
  try {
    await writeResultFile(file, render(options), context);
    return [];
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return [`The report ${name}=${file} cannot be written: ${error.message}`];
  }
}
