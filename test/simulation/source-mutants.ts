import type { BrokenSource } from '../broken-source.ts';

/** A fixed bug, as a change of the source that brings it back, and the tests that notice it. */
export interface SourceMutant extends BrokenSource {
  /** The message of the simulation about it. */
  readonly noticedAs: RegExp;
  readonly seenAt?: number;
  /** Whether only walks with several stacks notice it. */
  readonly needsSeveral?: boolean;
  /** Files below `test` whose tests fail without the fix, even if no walk notices it. */
  readonly failingTests: readonly string[];
}

const OF_ORDER = ['repository/order-of-applies'];
const OF_HAND_OVER = ['repository/hand-over'];

/** Edgewise without each of its fixes. */
export const SOURCE_MUTANTS: Readonly<Record<string, SourceMutant>> = {
  'a left-out field is unknown although other responses show it': {
    file: 'src/kinds/observed-response-fields.ts',
    from: "canonical(kind, live.spec, kind.role === 'attached' ? ofReadModules(leftOut) : leftOut)",
    to: 'live.spec',
    noticedAs: /a plan from faulty responses/,
    seenAt: 206,
    failingTests: ['laws/omitted-fields'],
  },
  'a list that changed between pages is not read again': {
    file: 'src/client/read-pages.ts',
    from: 'reading === MAX_READINGS',
    to: 'reading > 0',
    noticedAs: /cannot read a list, although there is no fault/,
    seenAt: 42,
    failingTests: ['client/pages'],
  },
  'predicts no rejected write': {
    file: 'src/rehearse/findings.ts',
    from: 'failed.filter(isCertain)',
    to: 'failed.slice(0, 0)',
    noticedAs: /a rejected delete is not predicted/,
    failingTests: ['laws/rejected-writes'],
  },
  'a resource in use is deleted with all others': {
    file: 'src/run/passes.ts',
    from: 'isDelete(write) || write.last ||',
    to: 'write.last ||',
    noticedAs: /something is left to do after/,
    seenAt: 1818,
    needsSeveral: true,
    failingTests: OF_ORDER,
  },
  'a delete that another stack of the run blocks stops its stack': {
    file: 'src/run/plan-stacks.ts',
    from: 'other !== folder && other.name === name',
    to: 'false',
    noticedAs: /something is left to do after/,
    seenAt: 480,
    needsSeveral: true,
    failingTests: OF_ORDER,
  },
  'references do not follow a hand-over of the run': {
    file: 'src/run/planned-resources.ts',
    from: 'return resources.get(toKey(reference)) ??',
    to: 'return',
    noticedAs: /something is left to do after/,
    needsSeveral: true,
    failingTests: ['repository/cross-stack-references'],
  },
  'a run prunes a resource that an unreadable stack takes over': {
    file: 'src/model/stack-tree.ts',
    from: 'return one.serviceId === undefined || other.serviceId === undefined || one.serviceId === other.serviceId;',
    to: 'return false;',
    noticedAs: /which is not its own/,
    needsSeveral: true,
    failingTests: OF_HAND_OVER,
  },
  'a copy of a resource that was handed over is kept without a warning': {
    file: 'src/plan/handed-over.ts',
    from: 'taker !== undefined && hasTaken(taker, live) ? undefined : taker',
    to: 'taker',
    noticedAs: /the marked resources differ from the manifests/,
    seenAt: 390,
    needsSeveral: true,
    failingTests: OF_HAND_OVER,
  },
  'plans of an earlier run stay in their folder': {
    file: 'src/cli/reconcile/plan-folder.ts',
    from: 'for (const file of files) await removeFile(file, context);',
    to: '',
    noticedAs: /a folder has plans of an earlier run/,
    seenAt: 36,
    needsSeveral: true,
    failingTests: ['repository/plan-folder'],
  },
  'a circle of stacks stops the others too': {
    file: 'src/run/session.ts',
    from: 'const circle = circles.get(session.folder);',
    to: 'const [circle] = circles.values();',
    noticedAs: /a circle of two stacks stops/,
    needsSeveral: true,
    failingTests: OF_ORDER,
  },
  'a credential is handed over without its token': {
    file: 'src/plan/renewal.ts',
    from: 'isOwn || isTakenOver ?',
    to: 'isOwn ?',
    noticedAs: /counts as not delivered|something is left to do after/,
    seenAt: 90,
    needsSeveral: true,
    failingTests: OF_HAND_OVER,
  },
  'a module is removed before the mark is taken': {
    file: 'src/plan/writes.ts',
    from: "const purpose = isAdoptOrTakeOverAction(action) ? action : 'update';",
    to: "const purpose = 'update';",
    noticedAs: /before its mark was taken/,
    seenAt: 288,
    needsSeveral: true,
    failingTests: OF_HAND_OVER,
  },
  'a URL in capitals is another account': {
    file: 'src/settings/base-url.ts',
    from: 'URL.canParse(baseUrl) ? new URL(baseUrl).href : baseUrl',
    to: 'baseUrl',
    noticedAs: /sends more than/,
    seenAt: 72,
    needsSeveral: true,
    failingTests: ['repository/many-plans'],
  },
  'a Stack that differs does not count for the stack around it': {
    file: 'src/repository/read-changes.ts',
    from: 'file === undefined || compareFile(file, files) !== undefined) continue;',
    to: 'file === undefined) continue;',
    noticedAs: /counts as changed/,
    seenAt: 36,
    needsSeveral: true,
    failingTests: ['repository/stacks-command'],
  },
};
