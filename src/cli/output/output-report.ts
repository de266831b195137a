import { constants, existsSync, statSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { findCodeSection } from '../../explain/code-section.ts';
import { findRepository } from '../../files/boundary.ts';
import { isFileError } from '../../files/read-input.ts';
import { describeWriteError } from '../../files/write-file.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { readCiJobLinks } from '../../model/pipeline.ts';
import { toPrintable } from '../../model/printable.ts';
import { quoteForShell } from '../../model/shell-words.ts';
import { InvalidManifests, StackError } from '../../model/user-errors.ts';
import { type FormatName, loadReportWriter, loadStacksReportWriter } from '../../report/formats.ts';
import { renderTextReport } from '../../report/render-text.ts';
import type { Failure, FormatOptions, Report, StacksRunReport } from '../../report/report.ts';
import type { StackNameAndLocator } from '../../stack/host.ts';
import { readSetting } from '../../stack/settings.ts';
import { type Context, VERSION } from '../context.ts';
import { EXIT, type ExitCode, exitCodeOfError } from '../exit-code.ts';
import { writeResultFile } from './output-files.ts';
import { type FormatFlags, getTextOptions, type ReportFileTarget, type RunFlags } from './present.ts';

interface Publication extends Pick<FormatOptions, 'command' | 'folder'> {
  readonly flags: FormatFlags;
  /** Whether stdout has the result in the format of `--format` already. */
  readonly isShown?: boolean;
  /** The command line that applies the plan. */
  readonly applyCommand?: FormatOptions['applyCommand'] | undefined;
  /** The exit code of the command. If a report cannot be written, a success becomes a failure. */
  readonly exitCode: ExitCode;
  /** Finds where the manifest of an address starts. Absent: there are no manifests. */
  readonly locate?: FormatOptions['locate'] | undefined;
}

/** Shows a report on stdout, writes the files of `--report`, and returns the exit code. */
export async function outputReport(report: Report, publication: Publication, context: Context): Promise<ExitCode> {
  const exitCode = await publishAs(
    async (name) => {
      const write = await loadReportWriter(name);
      return (options) => write(report, options);
    },
    publication,
    context,
  );
  quoteUnparsedLines([report], publication, context);
  return exitCode;
}

export async function outputStacksReport(
  run: StacksRunReport,
  publication: Publication,
  context: Context,
): Promise<ExitCode> {
  const exitCode = await publishAs(
    async (name) => {
      const write = await loadStacksReportWriter(name);
      return (options) => write(run, options);
    },
    publication,
    context,
  );
  const reports = run.parts.map(({ report }) => report);
  quoteUnparsedLines(reports, publication, context);
  return exitCode;
}

/** Quotes the lines of syntax errors on stderr. No report does, because what is a secret in them is unknown. */
function quoteUnparsedLines(
  reports: readonly Report[],
  { flags, isShown = false }: Publication,
  { stderr, quoted }: Context,
): void {
  if (quoted === undefined || isShown || flags.format !== 'text') return;
  for (const { place } of reports.flatMap(listManifestDiagnostics)) {
    if (place === undefined || quoted.reports.render(place) !== '') continue;
    const excerpt = quoted.stderr.render(place);
    if (excerpt !== '') stderr.write(`${toPrintable(place.file)}:${place.line}:${place.column}\n${excerpt}\n`);
  }
}

function listManifestDiagnostics(report: Report): readonly Diagnostic[] {
  if (report.about === 'validation') return report.validation.diagnostics;
  return report.about === 'failure' ? (report.failure.diagnostics ?? []) : [];
}

type LoadWriter = (name: FormatName) => Promise<(options: FormatOptions) => Iterable<string>>;

async function publishAs(load: LoadWriter, publication: Publication, context: Context): Promise<ExitCode> {
  const { flags, isShown = false, exitCode } = publication;
  const host = { ...createReportOptions(publication, context), describeRule: findCodeSection };
  if (!isShown) {
    const write = await load(flags.format);
    for (const chunk of write({ ...getTextOptions(context.stdout, context, flags), ...host }))
      showReportText(flags.format, chunk, context);
  }
  const failures: string[] = [];
  const { verbose = false, compact = false } = flags;
  const options: FormatOptions = { color: false, width: 0, verbose, compact, ...host };
  for (const target of flags.report ?? []) failures.push(...(await writeReport(load, target, { options, context })));
  for (const failure of failures) context.stderr.write(`edgewise: ${toPrintable(failure)}\n`);
  const isGood = exitCode === EXIT.success || exitCode === EXIT.changes;
  return failures.length > 0 && isGood ? EXIT.failed : exitCode;
}

/** Writes a report to stdout. The format `github` consists of job commands, which must not be escaped. */
function showReportText(format: FormatName, text: string, { stdout }: Context): void {
  if (format === 'github') stdout.writeCommands(text);
  else stdout.write(text);
}

/** Returns the facts about the run that formats for programs contain. */
function createReportOptions(
  { exitCode, applyCommand, locate, command, folder }: Publication,
  context: Context,
): Partial<FormatOptions> {
  const { env, cwd, now } = context;
  const root = readSetting('repositoryRoot', { env }) ?? '';
  return {
    exitCode,
    command,
    folder,
    version: VERSION,
    at: now(),
    pipeline: readCiJobLinks(env),
    applyCommand,
    locate,
    excerpts: context.quoted?.reports,
    toRepositoryPath: (file) => makeRelative(root, file, cwd),
    toOriginPath: (path, output) => makeRelative(root, resolveOrigin(path, output, context), cwd),
  };
}

/**
 * Finds a file that kustomize named. The path is relative to a kustomization whose folder is unknown. Tries the folder of
 * the output, which may lie as deep as that of the kustomization, then the working folder. Returns the path unchanged if
 * no such file exists.
 */
function resolveOrigin(path: string, output: string, context: Pick<Context, 'cwd' | 'uid'>): string {
  const { cwd } = context;
  const below = path.replace(/^(?:[.][.]?\/)+/, '');
  // Do not reveal which files exist outside the repository.
  const top = findRepository(cwd, context) ?? cwd;
  const isInside = (candidate: string) => !relative(top, resolve(cwd, candidate)).startsWith('..');
  return (
    [join(dirname(output), path), path, below].find((one) => isInside(one) && existsSync(resolve(cwd, one))) ?? path
  );
}

/** Returns the path of a file relative to `root`, with slashes. Returns `file` unchanged if it is not below `root`. */
function makeRelative(root: string, file: string, cwd: string): string {
  if (root === '') return file;
  const path = relative(root, resolve(cwd, file));
  return path.split(sep)[0] === '..' || isAbsolute(path) ? file : path.split(sep).join('/');
}

/** Throws if a file of `--report`, or the plan file, cannot be written. Called before the command does anything. */
export async function checkOutputFiles(
  { report = [], planFile }: FormatFlags & Pick<RunFlags, 'planFile'>,
  { cwd }: Pick<Context, 'cwd'>,
): Promise<void> {
  if (planFile !== undefined && planFile !== '') await refuseUnwritablePath(planFile, { what: 'The plan', cwd });
  const files = new Set<string>();
  for (const { format, file } of report) {
    const path = resolve(cwd, file);
    const createError = (why: string): StackError =>
      new StackError(`The report ${format}=${file} cannot be written: ${why}.`, {
        reason: 'invalid',
        output: file,
        remedy: 'Name another file. Nothing was written.',
      });
    if (files.has(path)) throw createError('another report goes into the same file');
    files.add(path);
    await refuseUnwritablePath(file, { what: `The report ${format}=${file}`, cwd });
  }
}

/** Throws if a file is in no folder that can be written to, or may not be written itself. Such a file gets no failure either. */
async function refuseUnwritablePath(
  file: string,
  { what, cwd }: { readonly what: string; readonly cwd: string },
): Promise<void> {
  const path = resolve(cwd, file);
  const folder = dirname(file);
  const stats = existsSync(path) ? statSync(path) : undefined;
  if (stats !== undefined && !stats.isFile() && !stats.isDirectory()) return; // a device or a pipe
  const refuse = (why: string, remedy: string): never => {
    const options = { reason: 'invalid', output: file, remedy: `${remedy} Nothing was written.` } as const;
    throw new StackError(`${what} cannot be written: ${why}.`, options);
  };
  const toCommand = (words: string, place: string): string => `${words} ${quoteForShell(place)}`;
  if (stats?.isDirectory()) refuse(`${file} is a folder`, 'Name a file in it.');
  if (!existsSync(dirname(path)))
    refuse(`there is no folder ${folder}`, `Create it (${toCommand('mkdir -p', folder)}), or name another file.`);
  const isDenied = async (place: string) =>
    access(place, constants.W_OK).then(
      () => false,
      () => true,
    );
  if (await isDenied(dirname(path)))
    refuse(`${folder} is not a folder that can be written to`, 'Name a file in a folder that you may write to.');
  if (stats !== undefined && (await isDenied(path)))
    refuse(`${file} is read-only`, `Make it writable (${toCommand('chmod u+w', file)}), or name another file.`);
}

async function writeReport(
  load: LoadWriter,
  { format: name, file }: ReportFileTarget,
  { options, context }: { readonly options: FormatOptions; readonly context: Context },
): Promise<readonly string[]> {
  if (await context.inputs?.has(file))
    return [`The report ${name}=${file} was not written: ${file} is a file that this run reads.`];
  const write = await load(name);
  try {
    await writeResultFile(file, write(options), context);
    return [];
  } catch (error) {
    if (!(error instanceof StackError || isFileError(error))) throw error;
    return [`The report ${name}=${file} cannot be written: ${describeWriteError(error)}`];
  }
}

export interface FailedCommandContext extends StackNameAndLocator {
  /** Absent for an unknown command. */
  readonly command?: string;
  readonly flags: FormatFlags & Pick<RunFlags, 'planFile'>;
}

/**
 * Shows why a command failed, and returns its exit code. stderr always gets a text. stdout (unless its format is text),
 * each file of `--report` and the plan file get a complete document, unless the command failed because of that file.
 */
export async function outputFailure(
  error: unknown,
  { command, stack, locate, service, flags: given }: FailedCommandContext,
  context: Context,
): Promise<ExitCode> {
  const refused = error instanceof StackError ? error.output : undefined;
  const { planFile, report: named = [] } = given;
  const targets = planFile === undefined ? named : [...named, { format: 'json', file: planFile } as const];
  const flags = { ...given, report: targets.filter(({ file }) => file !== refused) };
  const failure: Failure = {
    command,
    stack,
    service,
    ...getReportedErrorPart(error),
  };
  const isShown = flags.format === 'text';
  const exitCode = await outputReport(
    { about: 'failure', failure },
    {
      flags,
      isShown,
      exitCode: exitCodeOfError(error),
      locate,
    },
    context,
  );
  context.stderr.write(renderTextReport({ about: 'failure', failure }, getTextOptions(context.stderr, context, flags)));
  return exitCode;
}

export function getReportedErrorPart(error: unknown): Pick<Failure, 'diagnostics' | 'error'> {
  if (error instanceof InvalidManifests) return { diagnostics: error.diagnostics };
  if (!(error instanceof StackError)) return { error: error instanceof Error ? error : new Error(String(error)) };
  const { message, remedy } = error;
  return { error: { message, remedy } };
}
