import { join, resolve } from 'node:path';
import { toTokenFile } from '../apply/directory-sink.ts';
import { listClaims } from '../kinds/claims.ts';
import { type Kind, listOneTimeFields } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { type Address, isAddress, toAddress } from '../model/address.ts';
import { toPathText } from '../model/field-path.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { DesiredResource, DesiredState, FieldPath } from '../model/state.ts';
import type { Surroundings } from '../stack/surroundings.ts';

/** Something that one resource of a run may have at most, as a manifest asks for it. */
export interface StackClaim {
  /** Equal for claims that exclude each other, different for all others of the same range. */
  readonly key: string;
  /** What is claimed is unique in an account, or a file, whatever account it is for. */
  readonly range: 'account' | 'files';
  readonly address: Address;
  /** Where the document says it. */
  readonly path: FieldPath;
  /** What the document does, such as `spec.hostports[0] claims 1.tcp.example.net:20001`. */
  readonly said: string;
  readonly remedy: string;
}

/** What is claimed by a stack, and where its tokens go. */
export interface ClaimSource {
  readonly state: DesiredState;
  readonly tokens: TokenSettings;
}

/** The values, ids, former names and files that a stack claims for its resources. */
export function listStackClaims(
  { state, tokens }: ClaimSource,
  { cwd }: Pick<Surroundings, 'cwd'>,
): readonly StackClaim[] {
  return [...state.resources.values()].flatMap((resource) => {
    const kind = findKind(resource.kind);
    if (kind === undefined) return [];
    return [
      ...listValues(resource, kind),
      ...listTaken(resource, kind),
      ...listWrittenFiles(resource, kind, cwd),
      ...listTokenFiles(resource, kind, { tokens, cwd }),
    ];
  });
}

const REMOVE =
  'Remove it from one of them. A resource that moves to another stack is described there only, with lifecycle.renamed_from: { stack: OLD, name: NAME }.';

function listValues({ address, spec }: DesiredResource, kind: Kind): readonly StackClaim[] {
  // An id that is not known yet has a name that means something else in each stack.
  const claims = listClaims(kind, spec).filter(({ given }) => !isAddress(given));
  return claims.map(({ key, path, given }) => {
    const place = ['spec', ...path];
    const isAttachment = kind.role === 'attached';
    const said = isAttachment
      ? `${toPathText(place)} attaches modules to ${given}`
      : `${toPathText(place)} claims ${given}`;
    const remedy = isAttachment ? 'Put the modules into one document.' : REMOVE;
    return { key, range: 'account', address, path: place, said, remedy };
  });
}

/** An existing resource can be taken by one document only. */
function listTaken({ address, lifecycle: { adopt, takenFrom } }: DesiredResource, kind: Kind): readonly StackClaim[] {
  const take = (name: string, what: string): StackClaim => {
    const path = ['lifecycle', name];
    const key = `${kind.name} ${name} ${what}`;
    const said = `lifecycle.${name} takes ${what}`;
    return { key, range: 'account', address, path, said, remedy: 'Remove it from one of them.' };
  };
  const former = takenFrom && `${toAddress(kind.name, takenFrom.name)} of the stack ${takenFrom.stack}`;
  return [
    ...(adopt === undefined ? [] : [take('adopt', adopt)]),
    ...(former === undefined ? [] : [take('renamed_from', former)]),
  ];
}

function listWrittenFiles(
  { address, lifecycle: { settings } }: DesiredResource,
  kind: Kind,
  cwd: string,
): readonly StackClaim[] {
  const paths = Object.entries(kind.lifecycle).filter(([, { type }]) => type.type === 'text' && type.isPath);
  return paths.flatMap(([name]): readonly StackClaim[] => {
    const path = settings[name];
    if (typeof path !== 'string') return [];
    const said = `lifecycle.${name} writes to ${path}`;
    const remedy = 'Choose another file for one of them.';
    return [{ key: resolve(cwd, path), range: 'files', address, path: ['lifecycle', name], said, remedy }];
  });
}

function listTokenFiles(
  { address, name }: DesiredResource,
  kind: Kind,
  { tokens, cwd }: { readonly tokens: TokenSettings; readonly cwd: string },
): readonly StackClaim[] {
  if (listOneTimeFields(kind).length === 0) return [];
  const sink = Object.hasOwn(tokens.credentials, name) ? tokens.credentials[name] : tokens.default;
  if (sink === undefined || !('directory' in sink)) return [];
  const file = join(sink.directory, toTokenFile(name));
  const said = `its token goes to ${file}`;
  const remedy = 'Give each stack a folder of its own, such as spec.tokens.default.directory: tokens/{stack}.';
  return [{ key: resolve(cwd, file), range: 'files', address, path: ['metadata', 'name'], said, remedy }];
}
