import { renderTimeSpan, toDurationMs } from '../kinds/duration.ts';
import { listReferences } from '../kinds/references.ts';
import { isAddress } from '../model/address.ts';
import { toPathText } from '../model/field-path.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import type { Hit, RuleContext, Subject } from './rule.ts';

/** What is valid for longer than the Stack allows, from its own start or from now. */
export function checkValidity({ kind, resource }: Subject, { settings, now }: RuleContext): readonly Hit[] {
  const { validity } = kind;
  if (validity === undefined) return [];
  const span = toValidity(resource.spec, { ...validity, settings: resource.lifecycle.settings, now });
  if (span === undefined || span.ms <= settings.maxValidityMs) return [];
  const limit = renderTimeSpan(settings.maxValidityMs);
  return [{ path: span.path, message: `it is valid for ${renderTimeSpan(span.ms)}; the limit is ${limit}` }];
}

interface ValidityContext {
  readonly after: string;
  readonly until: string;
  readonly settings: Spec;
  readonly now: Date;
}

/** How long something is valid, and what says so; `undefined`: as long as the service chooses. */
function toValidity(
  spec: Spec,
  { after, until, settings, now }: ValidityContext,
): { readonly ms: number; readonly path: FieldPath } | undefined {
  const validFor = toDurationMs(String(settings['valid_for'] ?? ''));
  if (validFor !== undefined) return { ms: validFor, path: ['lifecycle', 'valid_for'] };
  const end = Date.parse(String(spec[until] ?? ''));
  const start = spec[after] === undefined ? now.getTime() : Date.parse(String(spec[after]));
  return Number.isNaN(end - start) ? undefined : { ms: end - start, path: ['spec', until] };
}

/** Resources that can lock out the caller that applies them. */
export function checkLockout({ kind, resource }: Subject): readonly Hit[] {
  if (!kind.canLockOut(resource.spec)) return [];
  const message = 'it restricts the API, the dashboard or agents, and may lock out whoever applies it';
  return [{ path: ['spec'], message }];
}

/** Ids that are written out although a document names them. */
export function checkLiterals({ kind, resource }: Subject, { names }: RuleContext): readonly Hit[] {
  if (names.size === 0) return [];
  return listReferences(kind, resource.written).flatMap(({ path, value }): Hit[] => {
    const name = isAddress(value) ? undefined : names.get(value);
    if (name === undefined || name.address === resource.address) return [];
    const { address, locate } = name;
    const at = path.at(-1) === value ? path.slice(0, -1) : path;
    return [
      {
        path: ['spec', ...path],
        message: `${toPathText(['spec', ...at])} is the literal id ${value} of ${address}`,
        remedy: `Write ${address}.`,
        related: locate === undefined ? undefined : { message: 'the document that names it', locate },
      },
    ];
  });
}
