import { isRotatable } from '../kinds/kind.ts';
import { formatKindTitles } from '../kinds/tables/registry.ts';
import type { Plan, SafetyViolation } from '../model/plan.ts';
import type { OptionTopic } from './setting.ts';

/**
 * What a run is asked about its plan, beside its settings. The flags and their help, the options of the library, what an
 * approval binds, the consents and the command to copy are derived from this table. What a run knows without being asked,
 * such as what other stacks do, is not in it.
 */

/** An option of a plan: every way to give it, and what is said about it. */
export interface RequestOption {
  /** Such as `--target <address>`. With `--no-` it takes away what is the default. Absent: only programs and answers give it. */
  readonly flag?: string | undefined;
  /** What follows the flag, each time that it is given. */
  readonly value: 'none' | 'address' | 'stack' | 'path';
  /** The description of the flag. */
  readonly about?: string | undefined;
  /** The help topic of the flag. Absent: the help of each command explains the flag. */
  readonly topic?: OptionTopic | undefined;
  /** Whether it is for a single stack: it has addresses, which several stacks may have. */
  readonly isForOneStack?: true | undefined;
  /** Whether the plan says it, so that an approval binds it. */
  readonly isApproved?: true | undefined;
  /** The safety rules that it lets a plan break. A consent is never part of a plan: the run that applies gives it. */
  readonly allows?: readonly SafetyViolation['rule'][] | undefined;
}

/** All options of a plan, in the order in which a command to copy repeats them. A name is that of the library. */
export const REQUEST_OPTIONS = {
  /** Addresses to plan, together with their dependencies. Default: all addresses. */
  targets: defineOption({
    flag: '--target <address>',
    value: 'address',
    about: 'only this resource and its dependencies',
    isForOneStack: true,
    isApproved: true,
  }),
  /** Addresses to leave out, together with everything that depends on them. Default: no addresses. */
  exclusions: defineOption({
    flag: '--exclude <address>',
    value: 'address',
    about: 'leave out this resource and everything that depends on it',
    topic: 'safety',
    isForOneStack: true,
    isApproved: true,
  }),
  /** Addresses to replace even if nothing differs. Default: no addresses. */
  rotate: defineOption({
    flag: '--rotate <address>',
    value: 'address',
    about: `replace this ${formatKindTitles(isRotatable)}; the new one is created first`,
    topic: 'tokens',
    isForOneStack: true,
    isApproved: true,
  }),
  /** Addresses whose old credential or certificate is deleted now, or not kept by a replace. Default: no addresses. */
  retire: defineOption({
    flag: '--retire <address>',
    value: 'address',
    about: 'delete its old one now (lifecycle.keep_old_for); with --rotate: keep none',
    topic: 'tokens',
    isForOneStack: true,
    isApproved: true,
  }),
  /** If false, the plan is not rehearsed. Default: true. */
  rehearsal: defineOption({
    flag: '--no-rehearsal',
    value: 'none',
    about: 'do not try the plan on a copy of the account in memory first',
    topic: 'safety',
  }),
  /** Files and folders with more policies to check. Default: none. */
  policies: defineOption({
    flag: '--policies <path>',
    value: 'path',
    about: 'file or folder with more policies to check',
    topic: 'safety',
  }),
  /** Consents to more deletes than the guard allows. Default: false. */
  allowDeletes: defineOption({
    flag: '--allow-deletes',
    value: 'none',
    about: 'allow more deletes than the guard does',
    topic: 'safety',
    allows: ['delete-share', 'nothing-described', 'manifests-missing'],
  }),
  /** Addresses of protected resources that may be deleted, replaced or released. Default: no addresses. */
  allowProtected: defineOption({
    flag: '--allow-protected <address>',
    value: 'address',
    about: 'let this protected resource be deleted, replaced or released',
    topic: 'safety',
    isForOneStack: true,
    allows: ['protect'],
  }),
  /** Names of stacks whose resources may be taken over. Default: no stacks. */
  allowTakeOver: defineOption({
    flag: '--allow-take-over <stack>',
    value: 'stack',
    about: 'let this stack take over resources of that one, as renamed_from says',
    topic: 'many-stacks',
    allows: ['take-over'],
  }),
  /**
   * Addresses of adopted resources that are deleted if their manifests are gone, although edgewise has changed nothing on
   * them. Default: they are kept.
   */
  allowAdopted: defineOption({
    flag: '--allow-adopted <address>',
    value: 'address',
    about: 'delete this resource, which was adopted and never changed, if its manifest is gone',
    topic: 'safety',
  }),
  /** Addresses whose writes are sent even if the service rejected them in the rehearsal. Default: no addresses. */
  allowRejected: defineOption({
    flag: '--allow-rejected <address>',
    value: 'address',
    about: 'send the writes of this resource although the service will reject them; failures are reported',
    topic: 'safety',
    isForOneStack: true,
    allows: ['rejected-write', 'claimed-elsewhere'],
  }),
  /** Addresses of credentials and certificates that may be renamed back, and keep what was handed out. Default: no addresses. */
  allowRenamedBack: defineOption({ value: 'address', allows: ['renamed-back'] }),
} as const;

/** Keeps the types of an option's members. */
function defineOption<const One extends RequestOption>(option: One): One {
  return option;
}

type Options = typeof REQUEST_OPTIONS;

export type RequestOptionName = keyof Options;

/** The options of a plan, as a program or a command line gives them. */
type GivenOptions = {
  readonly [Name in RequestOptionName]?:
    | (Options[Name]['value'] extends 'none' ? boolean : readonly string[])
    | undefined;
};

/** What a run is asked. */
export interface Request extends GivenOptions {
  /**
   * `destroy` deletes everything that the stack owns. `release` removes the stack's marks and leaves the resources.
   * Default: `apply`.
   */
  readonly mode?: Plan['mode'] | undefined;
}

type ConsentName = {
  [Name in RequestOptionName]: Options[Name] extends { readonly allows: unknown } ? Name : never;
}[RequestOptionName];

/** What the user of a run allows. */
export type Consents = Pick<Request, ConsentName>;

const NAMES = Object.keys(REQUEST_OPTIONS) as readonly RequestOptionName[]; // the keys of a literal

/** What limits a plan, or a report of drift. */
export type RequestScope = Pick<Request, 'targets' | 'exclusions'>;

/** What a plan is made from. Policies come with the manifests, and consents say what may be applied. */
export type PlanningRequest = Omit<Request, ConsentName | 'policies'>;

/** All options, with their names, in the order of the table. */
export const NAMED_REQUEST_OPTIONS: readonly (RequestOption & { readonly name: RequestOptionName })[] = NAMES.map(
  (name) => ({ name, ...REQUEST_OPTIONS[name] }),
);

/** The options that are consents. */
export const CONSENT_OPTIONS: readonly (RequestOption & { readonly name: ConsentName })[] =
  NAMED_REQUEST_OPTIONS.filter(
    (option): option is typeof option & { readonly name: ConsentName } => 'allows' in option,
  );

/** The flag of an option without its value, such as `--target`. */
export function getRequestFlag(name: RequestOptionName): string {
  const { flag = '' }: RequestOption = REQUEST_OPTIONS[name];
  return flag.split(' ')[0] ?? '';
}
