import fc from 'fast-check';
import type { Kind } from '../../src/kinds/kind.ts';
import { isSameJson } from '../../src/model/json.ts';
import { arbitraryResource, arbitraryStack } from './arbitrary-manifests.ts';
import { withField } from './mutate-stack.ts';
import { settleStack } from './settle-stack.ts';
import type { TestResource, TestStack } from './stack.ts';
import { SUBJECTS } from './subjects.ts';

/** Every field that a manifest can change. */
export const EDITABLE_FIELDS = SUBJECTS.flatMap((kind) =>
  kind.specFields
    .filter(([, field]) => kind.role === 'owned' || field.lifecycle === 'mutable')
    .map(([field]) => ({ kind, label: `${kind.name} ${field}`, field })),
);

/** Whether the field of a live resource keeps its value although the manifest no longer sets it, or sets an equal value. */
export function isKept(kind: Kind, field: string, { spec, lifecycle }: TestResource): boolean {
  const isTime = Object.values(kind.validity ?? {}).includes(field);
  const isCovered = isTime && lifecycle.settings?.['valid_for'] !== undefined;
  return spec[field] === undefined && (isCovered || kind.fields[field]?.keepsLiveValue === true);
}

/** A stack, and the same stack with one field of its last resource from another resource. */
export function arbitraryEdit(
  kind: Kind,
  field: string,
): fc.Arbitrary<{ readonly before: TestStack; readonly after: TestStack }> {
  const parts = fc.tuple(arbitraryStack({ maxResources: 3 }), arbitraryResource([kind]), arbitraryResource([kind]));
  return parts
    .map(([others, subject, donor]) => {
      const before = settleStack([...others, subject]);
      const last = before.at(-1);
      const edited = last && { ...last, spec: withField(last.spec, field, donor.spec) };
      return { before, after: settleStack([...before.slice(0, -1), ...(edited === undefined ? [] : [edited])]) };
    })
    .filter(({ before, after }) => {
      const [old, edited] = [before.at(-1), after.at(-1)];
      if (old?.kind !== kind.name || edited?.kind !== kind.name || edited.name !== old.name) return false;
      // Values that do not fit beside the field are removed from the edited resource.
      return isSameJson(withField(old.spec, field, {}), withField(edited.spec, field, {}));
    });
}
