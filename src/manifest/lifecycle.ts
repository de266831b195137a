import { parseIgnoredPart } from '../kinds/ignored-parts.ts';
import { findKind } from '../kinds/tables/registry.ts';
import type { Finding } from '../model/finding.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import { MARK_KEY } from '../model/mark.ts';
import type { ResourceLifecycle } from '../model/state.ts';
import { readFormer } from './claims.ts';
import type { DocumentFinding, ManifestDocument } from './finding.ts';
import type { ResolvedReferences } from './references.ts';

/** The `lifecycle` of a document. `ignored`: the paths in `lifecycle.ignore`, with known ids in place of addresses. */
export function readLifecycle(document: ManifestDocument, ignored: readonly string[]): ResourceLifecycle {
  const { value, kind } = document;
  const lifecycle = isJsonObject(value['lifecycle']) ? value['lifecycle'] : {};
  const settings = findKind(kind)?.lifecycle ?? {};
  return {
    protect: lifecycle['protect'] === true,
    ignore: [...new Set(ignored)].filter((path) => !isInIgnoredField(path, ignored)),
    ...readFormer(document),
    settings: Object.fromEntries(Object.entries(lifecycle).filter(([name]) => Object.hasOwn(settings, name))),
  };
}

/** Whether a path is a member of a field that is ignored as a whole. */
function isInIgnoredField(path: string, ignored: readonly string[]): boolean {
  const { field, member } = parseIgnoredPart(path);
  return member !== undefined && ignored.includes(field);
}

/** Finds ignored members of fields that can have no members: of a module that is not set, or of metadata that is a text. */
export function listIgnoredMemberFindings(ignored: ResolvedReferences['ignored']): readonly DocumentFinding[] {
  return [...ignored].flatMap(([document, paths]) => listFindingsOf(document, paths));
}

function listFindingsOf(subject: ManifestDocument, ignored: readonly string[]): readonly DocumentFinding[] {
  const kind = findKind(subject.kind);
  const spec = isJsonObject(subject.value['spec']) ? subject.value['spec'] : {};
  if (kind === undefined || !subject.isValid) return [];
  return ignored.flatMap((path, index): readonly DocumentFinding[] => {
    const { field, member } = parseIgnoredPart(path);
    if (member === undefined) return [];
    const refusal = refuseIgnoredMember({ field, member, type: kind.fields[field]?.type.type }, spec[field]);
    if (refusal === undefined) return [];
    const finding: Finding = {
      code: 'bad-value',
      message: `lifecycle.ignore[${index}] is \`${path}\`, but spec.${field} ${refusal.why}`,
      remedy: `${refusal.otherwise}, or ignore it as a whole: \`${field}\`.`,
      path: ['lifecycle', 'ignore', index],
    };
    return [{ subject, finding }];
  });
}

/** Returns why a member cannot be ignored, and what the user can do instead. `undefined` if it can be ignored. */
function refuseIgnoredMember(
  { field, member, type }: { readonly field: string; readonly member: string; readonly type: string | undefined },
  value: Json | undefined,
): { readonly why: string; readonly otherwise: string } | undefined {
  if (typeof value === 'string' && value !== '')
    return { why: 'is a text, which has no members', otherwise: 'Write it as a mapping' };
  if (type === 'metadata' && member === MARK_KEY)
    return { why: `has the mark under ${MARK_KEY}`, otherwise: 'Name another key' };
  if (type === 'object' && (value ?? undefined) === undefined)
    return { why: 'is not set', otherwise: `Set spec.${field}` };
  return undefined;
}
