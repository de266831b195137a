import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import { isSecretValue, listConcealed, listSecretNames } from '../model/secret-value.ts';
import type { DesiredState, FieldPath } from '../model/state.ts';
import type { Write } from '../model/write.ts';

/** A secret that a write needs and whose value is not known here: its variable is not set, or not offered. */
export interface UnknownSecret {
  readonly name: string;
  readonly address: string;
}

/** Lists the unknown secrets of writes, each once for an address. */
export function listUnknownSecrets(writes: readonly Write[]): readonly UnknownSecret[] {
  return writes.flatMap(({ address, body }) =>
    listUnknownSecretNames(body ?? {}).map((name): UnknownSecret => ({ name, address })),
  );
}

export function listUnknownSecretNames(value: Json): readonly string[] {
  const unknown = listConcealed(value)
    .filter(isSecretValue)
    .filter(({ number }) => number === undefined);
  return [...new Set(unknown.flatMap(({ template }) => listSecretNames(template)))];
}

/** Lists a warning for each unknown secret that an apply of the writes needs. */
export function listUnknownSecretWarnings(
  writes: readonly Write[],
  { resources }: Pick<DesiredState, 'resources'>,
): readonly Diagnostic[] {
  const byName = Map.groupBy(listUnknownSecrets(writes), ({ name }) => name);
  return [...byName]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, found]) => {
      const addresses = [...new Set(found.map(({ address }) => address))];
      const [first = ''] = addresses;
      const rest = addresses.length === 1 ? '' : ` and ${addresses.length - 1} more`;
      const desired = [...resources.values()].find(({ address }) => address === first);
      return {
        code: 'secret-missing',
        severity: 'warning',
        message: `an apply needs the value of ${name}, which is not set or not offered here, for ${first}${rest}`,
        remedy: `Where the plan is applied, set ${name}, and offer it with \`--secret ${name}\`.`,
        place: desired?.locate(['spec', ...(findSecretPath(desired.spec, name) ?? [])]),
      };
    });
}

function findSecretPath(value: Json, name: string): FieldPath | undefined {
  if (isSecretValue(value)) return listSecretNames(value.template).includes(name) ? [] : undefined;
  if (!isJsonArray(value) && !isJsonObject(value)) return undefined;
  for (const [step, member] of isJsonArray(value) ? value.entries() : Object.entries(value)) {
    const path = findSecretPath(member, name);
    if (path !== undefined) return [step, ...path];
  }
  return undefined;
}
