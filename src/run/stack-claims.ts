import { join, resolve } from 'node:path';
import { isTokenFileOfId, toTokenFileName } from '../apply/token-sinks.ts';
import { findConflicts } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { describeOmittedDiagnostics, limitDiagnosticsPerCode } from '../manifest/bounded-yaml.ts';
import { isAttachment, listManifestClaims, type ManifestClaim } from '../manifest/claims.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { formatPath } from '../model/field-path.ts';
import type { Place } from '../model/place.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import type { DesiredResource, DesiredState } from '../model/state.ts';
import type { Host } from '../stack/host.ts';

/** A unique value that a stack claims in its manifests, or a file into which a token of the stack goes. */
export interface StackClaim extends Omit<ManifestClaim, 'range'> {
  readonly holder: StackFolder;
  /** Where the value must be unique: any value that is equal for stacks of one account, or the files of the whole run. */
  readonly scope: unknown;
  readonly resource: DesiredResource;
}

/**
 * Finds the values that several stacks of a run claim: the service would reject the second claim, or the stacks would
 * keep taking the value from each other. Maps each stack with conflicts to its errors. An error has the position of the
 * stack's claim, and names the positions of the other stacks' claims.
 */
export function listStackConflicts(claims: readonly StackClaim[]): ReadonlyMap<StackFolder, readonly Diagnostic[]> {
  const scopes = [...Map.groupBy(claims, ({ scope }) => scope).values()];
  const errors = scopes.flatMap(findConflicts).flatMap((all) => {
    const own = [...Map.groupBy(all, ({ holder }) => holder).values()].flatMap(([first]) => first ?? []);
    return own.map((claim) => ({ folder: claim.holder, error: describeConflict(claim, own) }));
  });
  const byFolder = Map.groupBy(errors, ({ folder }) => folder);
  return new Map(Array.from(byFolder, ([folder, ofFolder]) => [folder, limitErrors(ofFolder)]));
}

const CODE = 'duplicate-claim';

function limitErrors(found: readonly { readonly error: Diagnostic }[]): readonly Diagnostic[] {
  const { shown, more } = limitDiagnosticsPerCode(found.map(({ error }) => error));
  return [...shown, ...more.map(({ count }) => createClaimError(describeOmittedDiagnostics(CODE, count)))];
}

function createClaimError(more: Omit<Diagnostic, 'code' | 'severity'>): Diagnostic {
  return { code: CODE, severity: 'error', ...more };
}

/** The maximum number of other stacks that an error names, so that it stays one sentence. */
const MAX_NAMED = 3;

function describeConflict(own: StackClaim, claims: readonly StackClaim[]): Diagnostic {
  const all = claims.filter((claim) => claim !== own);
  const others = all.slice(0, MAX_NAMED);
  const more = all.length > others.length ? [`${all.length - others.length} more`] : [];
  const names = [...others.map(describeOther), ...more].join(', ');
  const { address } = own.resource;
  const { what, remedy } = describeClaim(own);
  return createClaimError({
    message: `${address}: ${what}, and so ${all.length === 1 ? 'does' : 'do'} ${names}`,
    remedy,
    address,
    place: locateClaim(own),
    related: others.map((other) => ({
      message: `the stack ${other.holder.name} claims it here`,
      place: locateClaim(other),
    })),
  });
}

function describeOther(claim: StackClaim): string {
  const { file, line } = locateClaim(claim);
  return `${claim.resource.address} of the stack ${claim.holder.name} (${file}:${line})`;
}

function locateClaim({ resource, path }: StackClaim): Place {
  return resource.locate(path);
}

/** Describes a claim as a clause, such as `spec.hostports[0] claims 1.tcp.example.net:20001`, and how to give it up. */
function describeClaim({ resource, path, given, scope }: StackClaim): {
  readonly what: string;
  readonly remedy: string;
} {
  if (scope === FILES)
    return {
      what: `its token goes to ${given}`,
      remedy: 'Give each stack a folder of its own, such as spec.tokens.default.directory: tokens/{stack}.',
    };
  const field = formatPath(path);
  if (isAttachment(resource.kind, { path }))
    return { what: `${field} attaches modules to ${given}`, remedy: 'Put the modules into one document.' };
  const move =
    'A resource that moves to another stack is described there only, with lifecycle.renamed_from: { stack: OLD, name: NAME }.';
  const remove = 'Remove it from one of them.';
  return { what: `${field} claims ${given}`, remedy: path[0] === 'spec' ? `${remove} ${move}` : remove };
}

/** The scope of the files that a run writes. */
const FILES = Symbol('files');

/** A stack, with what its claims come from: its manifests, and its token sinks. */
export interface StackWithClaims {
  readonly folder: StackFolder;
  /** Any value that is equal for stacks of one account. */
  readonly account: unknown;
  readonly state: DesiredState;
  readonly tokens: TokenSettings;
}

/** Lists the claims of a stack: unique values, adopted resources, resources taken over from other stacks, and files. */
export function listStackClaims(stack: StackWithClaims, { cwd }: Pick<Host, 'cwd'>): readonly StackClaim[] {
  const { folder, account, state } = stack;
  return [...state.resources.values()].flatMap((resource): readonly StackClaim[] => {
    const kind = findKind(resource.kind);
    if (kind === undefined) return [];
    const claims = listManifestClaims(kind, resource.spec, resource.lifecycle);
    const ofAccount = claims.filter(({ range }) => range === 'account');
    const file = findTokenFile(resource, kind, stack);
    return [
      ...ofAccount.map((claim) => ({ ...claim, holder: folder, scope: account, resource })),
      ...(file === undefined
        ? []
        : [
            {
              key: resolve(cwd, file),
              path: ['metadata', 'name'],
              given: file,
              holder: folder,
              scope: FILES,
              resource,
            },
          ]),
    ];
  });
}

function findTokenFile(
  { name }: DesiredResource,
  kind: Kind,
  { tokens, state }: Pick<StackWithClaims, 'tokens' | 'state'>,
): string | undefined {
  if (kind.oneTimeFields.length === 0) return undefined;
  const sink = Object.hasOwn(tokens.credentials, name) ? tokens.credentials[name] : tokens.default;
  if (sink === undefined || !('directory' in sink) || isTokenFileOfId(sink.file)) return undefined;
  return join(sink.directory, toTokenFileName({ name, id: '', stack: state.stack.name }, sink.file));
}
