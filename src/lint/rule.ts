import type { CelReading } from '../cel/read-cel.ts';
import type { Kind } from '../kinds/kind.ts';
import type { SourcePlace, TextPart } from '../model/diagnostic.ts';
import type { LintCode } from '../model/diagnostic-codes.ts';
import type { LintSettings, RuleSeverity } from '../model/stack.ts';
import type { DesiredResource, FieldPath } from '../model/state.ts';
import type { Spot } from './spots.ts';

/** A lint rule: finds what is valid, but most likely not what was meant. Its sentence is that of its code. */
export interface Rule {
  readonly id: LintCode;
  readonly severity: RuleSeverity;
  /** What to do, unless a hit has its own remedy. */
  readonly remedy: string;
  readonly check: (subject: Subject, context: RuleContext) => readonly Hit[];
  /** It needs a CEL reader. */
  readonly needsCel?: true;
  /** A plan that would do it has its own warning. */
  readonly isToldByPlan?: true;
}

/** A resource under check. */
export interface Subject {
  readonly kind: Kind;
  readonly resource: DesiredResource;
  readonly spots: readonly Spot[];
}

/** What rules know in addition to the resource. */
export interface RuleContext {
  readonly settings: LintSettings;
  readonly now: Date;
  readonly readCel: (text: string) => CelReading;
  /** The documents that name ids, by the id. */
  readonly names: ReadonlyMap<string, IdName>;
}

/** An address that stands for an id that a document states. */
export interface IdName {
  readonly address: string;
  /** Where the id stands, as far as that is known. */
  readonly locate?: (() => SourcePlace) | undefined;
}

/** What a rule found, at a path of the document. */
export interface Hit {
  readonly path: FieldPath;
  /** The part of the text there that it is about. */
  readonly part?: TextPart;
  /** What is wrong, without the address. */
  readonly message: string;
  readonly remedy?: string | undefined;
  readonly related?: { readonly message: string; readonly locate: () => SourcePlace } | undefined;
}
