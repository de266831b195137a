import { resolve } from 'node:path';
import { findRepository } from '../../files/boundary.ts';
import { resolveLinks } from '../../files/real-path.ts';
import { suggestRemedy } from '../../manifest/suggest.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { countSkipped } from '../../model/plan.ts';
import type { StackTree } from '../../model/stack-tree.ts';
import type { DesiredState } from '../../model/state.ts';
import { isPolicyMatch, type Policy } from '../../policy/evaluate.ts';
import { refuseTakeOverWithOldManifest } from '../../run/hand-over.ts';
import { findStackAmongOthers, NO_TREE, type StackAmongOthers } from '../../run/neighbours.ts';
import { noteConflicts } from '../../run/plan-stacks.ts';
import { forEachSession, type Session } from '../../run/session.ts';
import { findSetting } from '../../settings/resolve.ts';
import { createAccountKeyContainingSecret } from '../../stack/account-key.ts';
import { readManifests } from '../../stack/read-manifests.ts';
import { resolveServiceSettings } from '../../stack/settings.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../exit-code.ts';
import { refuseOverwrittenInputs } from '../output/output-files.ts';
import { createParts, reportStacksRun, sayValidation } from './report-run.ts';
import {
  createReadingContext,
  listPathsOf,
  recordClaims,
  type StacksFlags,
  type StacksRun,
  withStacks,
} from './with-stacks.ts';

interface ValidationRun {
  readonly flags: StacksFlags & { readonly strict?: boolean };
  /** Turns a diagnostic into the one to show. */
  readonly toShown: (diagnostic: Diagnostic) => Diagnostic;
}

/** Validates stacks. Sends no request. */
export async function runValidate(
  paths: readonly string[],
  { flags, toShown }: ValidationRun,
  context: Context,
): Promise<ExitCode> {
  return withStacks(paths, { flags, command: 'validate' }, context, async (run) => {
    await forEachSession(run, (session) => validate(run, session, toShown));
    noteConflicts(run);
    return reportStacksRun(run, createParts(run, sayValidation));
  });
}

/** Makes the checks of a plan that need neither a key nor a request. The base URL may be that of another environment. */
async function checkLikePlan(
  run: StacksRun,
  { folder }: Session,
  { state, found }: { readonly state: DesiredState; readonly found: StackAmongOthers | undefined },
): Promise<void> {
  const { context, flags, accounts, selected } = run;
  const sources = { flags, env: context.env, layers: state.stack.layers };
  const hasBaseUrl = findSetting('baseUrl', sources) !== undefined;
  const settings = hasBaseUrl ? resolveServiceSettings(sources) : undefined;
  if (settings !== undefined && run.isOfMany) accounts.checkSettings(settings, folder.file);
  await refuseOverwrittenInputs(flags, settings ?? {}, context);
  await refuseTakeOverWithOldManifest(found?.folder ?? folder, found?.tree ?? selected.tree, context);
  const account = createAccountKeyContainingSecret(folder, context);
  recordClaims({ folder, account, state, tokens: state.stack.tokens }, run);
}

/** Returns all stacks of the repository. `undefined` if the run sees only some of them, or if there is no repository. */
function findWholeTree(run: StacksRun, found: StackAmongOthers | undefined): StackTree | undefined {
  const { selected, context } = run;
  const { cwd } = context;
  if (!run.isOfMany)
    return found !== undefined && findRepository(resolve(cwd, found.folder.folder), context) !== undefined
      ? found.tree
      : undefined;
  const root = resolveLinks(resolve(cwd, selected.tree.root));
  return findRepository(root, context) === root ? selected.tree : undefined;
}

/** Warns of policies whose `match.stacks` matches no stack of the repository. A name that cannot be read matches all. */
function listUnusedStackPatterns(policies: readonly Policy[], tree: StackTree | undefined): readonly Diagnostic[] {
  const { stacks, unread } = tree ?? NO_TREE;
  const names = stacks.map(({ name }) => name);
  if (names.length === 0 || unread.length > 0 || names.includes('')) return [];
  return policies.flatMap(({ document: { name, match, locate } }) =>
    (match.stacks ?? []).flatMap((pattern, index): readonly Diagnostic[] => {
      if (names.some((one) => isPolicyMatch(pattern, one))) return [];
      return [
        {
          code: 'pattern-unused',
          severity: 'warning',
          message: `Policy/${name}: spec.match.stacks has \`${pattern}\`, which matches no stack of the repository`,
          remedy: suggestRemedy(pattern, names) ?? 'Correct it, or remove it. `*` stands for any text.',
          place: locate(['spec', 'match', 'stacks', index]),
        },
      ];
    }),
  );
}

async function validate(run: StacksRun, session: Session, toShown: ValidationRun['toShown']): Promise<void> {
  const { folder } = session;
  const { isOfMany, flags, context } = run;
  const options = { requireStack: isOfMany, lint: 'all', policies: flags.policies ?? [] } as const;
  const read = await readManifests(listPathsOf(run, folder), createReadingContext(run), options);
  const { state, files, subject } = read;
  const isNamed = state !== undefined && !isOfMany && subject.stack !== undefined;
  const found = isNamed ? findStackAmongOthers({ state, locate: subject.locate }, context, flags) : undefined;
  if (state !== undefined) await checkLikePlan(run, session, { state, found });
  const unused = listUnusedStackPatterns(read.policies, findWholeTree(run, found));
  const diagnostics = [...read.diagnostics, ...(found?.diagnostics ?? []), ...unused].map(toShown);
  const addresses = [...(state?.resources.keys() ?? [])];
  const name = isOfMany ? folder.name || undefined : subject.stack;
  const stack = name === undefined ? {} : { stack: name };
  session.locate = subject.locate;
  session.validation = {
    ...{ diagnostics, files, resources: addresses.length, addresses, skipped: countSkipped(read) },
    ...stack,
  };
}
