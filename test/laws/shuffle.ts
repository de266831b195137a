import type { Field, FieldType } from '../../src/kinds/field.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { isJsonArray, isJsonObject, type Json } from '../../src/model/json.ts';
import type { TestStack } from './stack.ts';

/** The same stack with documents, keys and members of unordered lists in another order. */
export function shuffleStack(stack: TestStack): TestStack {
  return stack.toReversed().map((resource) => {
    const { fields } = getKind(resource.kind);
    const spec = reverseEntries(resource.spec, (name, value) => shuffleField(fields[name], value));
    return { ...resource, spec, lifecycle: { ...resource.lifecycle, ignore: resource.lifecycle.ignore.toReversed() } };
  });
}

function shuffleField(field: Field | undefined, value: Json): Json {
  return field === undefined ? value : shuffleValue(field.type, value);
}

function shuffleValue(type: FieldType, value: Json): Json {
  if (type.type === 'list' && isJsonArray(value)) {
    const members = value.map((member) => shuffleValue(type.of, member));
    return type.unordered ? members.toReversed() : members;
  }
  if (type.type === 'list') return shuffleValue(type.of, value);
  if (!isJsonObject(value)) return value;
  if (type.type !== 'object') return reverseEntries(value, (_, member) => member);
  return reverseEntries(value, (name, member) =>
    shuffleField(Object.hasOwn(type.fields, name) ? type.fields[name] : undefined, member),
  );
}

function reverseEntries(value: Readonly<Record<string, Json>>, toMember: (name: string, member: Json) => Json) {
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, toMember(name, member)]),
  );
}
