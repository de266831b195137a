import { dirname, resolve } from 'node:path';
import { createReadBudget, type ReadBudget, readInput } from '../../files/read-input.ts';
import { STDIN_FILE_NAME } from '../../manifest/environment.ts';
import { hasDrift, isEveryTargetCompared } from '../../model/drift.ts';
import { getErrorMessage } from '../../model/errors.ts';
import { checkJsonLimits, isJsonObject, type JsonObject, parseJson } from '../../model/json.ts';
import type { ApplyResult, Outcome } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import { parseRenderCommandAndPosition } from '../../model/stack.ts';
import type { Report, StackReportPart, StacksRunReport } from '../../report/report.ts';
import {
  APPLY_RESULT_SCHEMA,
  DRIFT_RESULT_SCHEMA,
  FAILURE_RESULT_SCHEMA,
  MULTI_STACK_RESULT_SCHEMA,
  parseResultDocument,
  VALIDATION_RESULT_SCHEMA,
} from '../../schemas/results.ts';
import { parsePlan } from '../../stack/parse-plan.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode, exitCodeOfValidation } from '../exit-code.ts';
import { exitCodeOfPlan } from './plan-flags.ts';

/** Results of several files, joined as if they came from one run. */
type JoinedResults = Pick<StacksRunReport, 'command' | 'root' | 'parts' | 'removals'>;

/** Reads files with JSON results of runs on one or many stacks. Throws if a file is not such a result. */
export function joinResultFiles(files: readonly string[], context: Pick<Context, 'cwd' | 'onInput'>): JoinedResults {
  const budget = createReadBudget(RESULT_LIMITS);
  const read = files.map((file) => readResult(file, { ...context, budget }));
  // The root identifies the comment that `post` updates, so it must not depend on the number of results.
  const roots = new Set(read.map(({ root }) => root));
  const [root = UNKNOWN_ROOT] = roots.size === 1 ? roots : [];
  const parts = read.flatMap((one) => one.parts);
  return { command: read[0]?.command ?? 'join', root, parts, removals: joinRemovals(read) };
}

/** Each shard names all removed stacks. */
function joinRemovals(read: readonly JoinedResults[]): StacksRunReport['removals'] {
  const [first, ...more] = read.flatMap(({ removals }) => removals ?? []);
  if (first === undefined) return undefined;
  return { since: first.since, removed: [...new Set([first, ...more].flatMap(({ removed }) => removed))] };
}

/** Limits on the files that one run joins: the bytes that a run may read, and a file for each of 10,000 stacks. */
const RESULT_LIMITS = { maxBytes: 256 * 1024 * 1024, maxFiles: 10_000, of: 'one run' };

/** The root if the results have different roots, or none. */
const UNKNOWN_ROOT = '.';

function readResult(
  file: string,
  { cwd, onInput, budget }: Pick<Context, 'cwd' | 'onInput'> & { readonly budget: ReadBudget },
): JoinedResults {
  onInput?.(file);
  const document = parseFile(file, { cwd, budget });
  if (!Array.isArray(document['stacks'])) {
    const { report, exitCode } = parseReport(document, file, undefined);
    const plan = 'plan' in report ? report.plan : undefined;
    const name = String(document['stack'] ?? plan?.stack ?? '');
    const folder = plan === undefined ? undefined : findFolder(plan);
    return {
      command: getCommandName(report),
      root: UNKNOWN_ROOT,
      parts: [{ name, folder: folder ?? file, exitCode, report, options: {} }],
    };
  }
  const run = parseResultDocument(MULTI_STACK_RESULT_SCHEMA, document, createResultRefusal(file));
  const parts = run.stacks.map(({ stack, folder, keyEnv, exitCode, report }): StackReportPart => {
    return {
      name: stack,
      folder,
      keyEnv,
      exitCode,
      report: parseReport(report, `${file}: ${folder}`, exitCode).report,
      options: {},
    };
  });
  const { command, root, since, removed = [] } = run;
  const removals = since === undefined ? undefined : { since, removed };
  return { command, root, parts, removals };
}

/**
 * Finds the innermost folder that contains all manifest files of a plan. `undefined`: there is none, for example if the
 * manifests came from standard input.
 */
function findFolder({ inputs }: Pick<Plan, 'inputs'>): string | undefined {
  const folders = inputs.flatMap(({ file }) =>
    file === STDIN_FILE_NAME || parseRenderCommandAndPosition(file) !== undefined ? [] : [dirname(file).split('/')],
  );
  const [first = []] = folders;
  const end = first.findIndex((step, index) => folders.some((steps) => steps[index] !== step));
  const common = (end < 0 ? first : first.slice(0, end)).join('/');
  return common === '' ? undefined : common;
}

function parseFile(file: string, { cwd, budget }: Pick<Context, 'cwd'> & { readonly budget: ReadBudget }): JsonObject {
  try {
    const text = readInput(resolve(cwd, file), { budget }).toString('utf8');
    const value = checkJsonLimits(text) === undefined ? parseJson(text) : undefined;
    if (value !== undefined && isJsonObject(value)) return value;
  } catch (cause) {
    throw new CommandError(`${file} cannot be read: ${getErrorMessage(cause)}`, { exitCode: EXIT.invalid, cause });
  }
  throw createResultError(file, 'it is not a JSON object');
}

/** Parses the result of one stack. `exitCode`: the exit code in the file. If `undefined`, it is computed. */
function parseReport(
  document: JsonObject,
  file: string,
  exitCode: number | undefined,
): { readonly report: Report; readonly exitCode: number } {
  if ('writes' in document && 'changes' in document) {
    const plan = parsePlan(JSON.stringify(document), file);
    const isRefused = exitCode === undefined ? plan.violations.length > 0 : exitCode === EXIT.refused;
    const report = { about: 'plan', plan, blocking: isRefused ? plan.violations : [] } as const;
    return { report, exitCode: exitCode ?? exitCodeOfPlan(plan, report.blocking, {}) };
  }
  const report = parseOtherReport(document, file);
  return { report, exitCode: exitCode ?? computeExitCode(report, document['ok'] === true) };
}

/**
 * Computes the exit code of a run on one stack from its result. It may be less specific than the real one, such as 1
 * instead of 4, because runs with different exit codes can have equal results. `isGood`: `ok` in the result.
 */
function computeExitCode(report: Report, isGood: boolean): ExitCode {
  switch (report.about) {
    case 'drift':
      if (!isEveryTargetCompared(report.drift)) return EXIT.invalid;
      return hasDrift(report.drift) ? EXIT.changes : EXIT.success;
    case 'validation':
      return exitCodeOfValidation(report.validation.diagnostics);
    case 'failure':
      return report.failure.error === undefined ? exitCodeOfValidation(report.failure.diagnostics ?? []) : EXIT.failed;
    case 'apply':
      if (report.result.interrupted) return EXIT.interrupted;
      return isGood ? EXIT.success : EXIT.failed;
    default:
      return isGood ? EXIT.success : EXIT.failed;
  }
}

function parseOtherReport(document: JsonObject, file: string): Report {
  if ('outcomes' in document) return parseApply(document, file);
  if ('unowned' in document)
    return { about: 'drift', drift: parseResultDocument(DRIFT_RESULT_SCHEMA, document, createResultRefusal(file)) };
  if (document['command'] === 'validate' && 'files' in document) {
    const { files, resources, diagnostics, stack, skipped } = parseResultDocument(
      VALIDATION_RESULT_SCHEMA,
      document,
      createResultRefusal(file),
    );
    const validation = { files, resources, diagnostics, skipped, stack };
    return { about: 'validation', command: 'validate', validation };
  }
  const { command, stack, diagnostics, error } = parseResultDocument(
    FAILURE_RESULT_SCHEMA,
    document,
    createResultRefusal(file),
  );
  return {
    about: 'failure',
    failure: {
      command: command ?? undefined,
      stack,
      diagnostics,
      error,
    },
  };
}

function parseApply(document: JsonObject, file: string): Report {
  const {
    outcomes,
    tokens,
    lookUps,
    diagnostics,
    interrupted,
    plan: shown,
  } = parseResultDocument(APPLY_RESULT_SCHEMA, document, createResultRefusal(file));
  const plan = parsePlan(JSON.stringify(shown), file);
  const writes = new Map<string, Outcome['write']>(plan.writes.map((write) => [write.id, write]));
  const found = outcomes.map((outcome) => {
    const write = writes.get(outcome.write);
    if (write === undefined) throw createResultError(file, `${outcome.write} is not a write of its plan`);
    return { ...outcome, write };
  });
  const result = { outcomes: found, tokens, lookUps, diagnostics, interrupted };
  return { about: 'apply', plan, result: result as unknown as ApplyResult }; // the schema checked it
}

function createResultRefusal(file: string): (why: string) => CommandError {
  return (why) => createResultError(file, why);
}

function createResultError(file: string, why: string): CommandError {
  return new CommandError(`${file} is not a result of edgewise: ${why}.`, {
    exitCode: EXIT.invalid,
    remedy: 'Make it with --format json, or --report json=FILE.',
  });
}

function getCommandName(report: Report): string {
  switch (report.about) {
    case 'apply':
      return report.plan.mode;
    case 'failure':
      return report.failure.command ?? 'join';
    case 'validation':
      return 'validate';
    default:
      return report.about;
  }
}
