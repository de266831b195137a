import type { CelProgram } from '../cel/environment.ts';
import type { SourcePlace } from '../model/diagnostic.ts';
import type { PolicyDocument } from '../model/policy.ts';

/** A policy whose expressions have been read, with all that they name being there and of the right type. */
export interface Policy {
  readonly document: PolicyDocument;
  /** Names of the kinds that it is about. */
  readonly kinds: ReadonlySet<string>;
  readonly require: CelProgram;
  /** Texts, and what is filled in between them. */
  readonly message: readonly (string | CelProgram)[];
  /** Everything that its expressions name, with what is selected of it: `after.acl`. */
  readonly names: readonly string[];
  /** Where the rule stands; found once. */
  readonly locateRule: () => SourcePlace;
}

/** Whether its expressions name a variable, or what stands in one. */
export function doesName({ names }: Policy, variable: string): boolean {
  return names.some((name) => name === variable || name.startsWith(`${variable}.`));
}
