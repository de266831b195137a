import { getKind } from '../../src/kinds/tables/registry.ts';
import type { Spec } from '../../src/model/state.ts';
import { settleStack } from './settle-stack.ts';
import type { TestResource, TestStack } from './stack.ts';

/** A small change of a stack. `at` and `field` are taken modulo the length, so that every number is valid for every stack. */
export type Mutation =
  | { readonly act: 'add'; readonly donor: TestResource }
  | { readonly act: 'remove'; readonly at: number }
  | { readonly act: 'rename'; readonly at: number; readonly name: string }
  /** One field as the donor has it, of a resource of the donor's kind. */
  | { readonly act: 'set'; readonly at: number; readonly field: number; readonly donor: TestResource }
  | { readonly act: 'lifecycle'; readonly at: number; readonly donor: TestResource }
  /** What only one resource can have goes from each to the next of its kind. */
  | { readonly act: 'swap'; readonly at: number; readonly count: number };

/** The stack after a change. */
export function mutateStack(stack: TestStack, mutation: Mutation): TestStack {
  return settleStack(mutate(stack, mutation));
}

function mutate(stack: TestStack, mutation: Mutation): TestStack {
  switch (mutation.act) {
    case 'add':
      return [...stack, mutation.donor];
    case 'remove':
      return stack.filter((_, index) => index !== mutation.at % stack.length);
    case 'rename':
      return change(stack, stack[mutation.at % stack.length], ({ name: _, ...rest }) => ({
        ...rest,
        name: mutation.name,
      }));
    case 'set':
      return change(stack, pick(stack, mutation.donor.kind, mutation.at), (resource) =>
        setField(resource, mutation.field, mutation.donor),
      );
    case 'lifecycle':
      return change(stack, pick(stack, mutation.donor.kind, mutation.at), (resource) => ({
        ...resource,
        lifecycle: mutation.donor.lifecycle,
      }));
    case 'swap':
      return rotate(stack, mutation.at, mutation.count);
  }
}

function pick(stack: TestStack, kind: string, at: number): TestResource | undefined {
  const ofKind = stack.filter((resource) => resource.kind === kind);
  return ofKind[at % ofKind.length];
}

function change(
  stack: TestStack,
  subject: TestResource | undefined,
  toChanged: (resource: TestResource) => TestResource,
): TestStack {
  return stack.map((resource) => (resource === subject ? toChanged(resource) : resource));
}

function setField(resource: TestResource, at: number, donor: TestResource): TestResource {
  const fields = getKind(resource.kind).specFields;
  const [name] = fields[at % fields.length] ?? [''];
  return { ...resource, spec: withField(resource.spec, name, donor.spec) };
}

/** The spec with one field of another spec, or without the field. */
export function withField(spec: Spec, name: string, donor: Spec): Spec {
  const { [name]: _, ...rest } = spec;
  const value = donor[name];
  return value === undefined ? rest : { ...rest, [name]: value };
}

function rotate(stack: TestStack, at: number, count: number): TestStack {
  const kinds = [...new Set(stack.map(({ kind }) => kind))];
  const kind = kinds[at % kinds.length];
  const [name] = kind === undefined ? [] : (getKind(kind).specFields.filter(([, { unique }]) => unique)[0] ?? []);
  const ring = stack.filter((resource) => resource.kind === kind).slice(0, count);
  if (name === undefined) return stack;
  return stack.map((resource) => {
    const next = ring[(ring.indexOf(resource) + 1) % ring.length];
    if (!ring.includes(resource) || next === undefined) return resource;
    return { ...resource, spec: withField(resource.spec, name, next.spec) };
  });
}
