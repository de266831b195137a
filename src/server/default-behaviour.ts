import type { FieldType } from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import { type Kind, listOneTimeFields, listSpecFields } from '../kinds/kind.ts';
import { toEmpty } from '../kinds/normalize.ts';
import type { Submission } from '../kinds/submission.ts';
import { assertNever } from '../model/errors.ts';
import { isJsonArray, type Json, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { ApiKey } from './api-key.ts';
import type { Behaviour } from './behaviour.ts';
import { toTimestamp } from './timestamp.ts';

const DAY_MS = 24 * 3_600_000;

/** What the server does for every kind: it chooses and issues what a table leaves to the service, and shows once what is shown once. */
export function createDefaultBehaviour(kind: Kind): Behaviour {
  const chosen = listSpecFields(kind).filter(([, { serviceDefault }]) => serviceDefault);
  const revealed = listOneTimeFields(kind);
  return {
    complete: (spec, caller, now) => {
      if (chosen.length === 0) return spec;
      const start = new Date(String(spec[kind.validity?.after ?? ''] ?? now.toISOString()));
      const end = new Date(start.getTime() + DAY_MS);
      const entries = chosen.map(([name, { type }]): [string, Json] => [
        name,
        chooseValue(type, { caller, at: name === kind.validity?.until ? end : now }),
      ]);
      return { ...Object.fromEntries(entries.filter(([, value]) => value !== null)), ...spec };
    },
    compute: ({ id, spec }) => ({
      ...(kind.fileField !== undefined && { [kind.fileField]: `${kind.title} ${id}` }),
      ...(kind.submission !== undefined && toUndecided(kind.fields, kind.submission, spec)),
    }),
    reveal: ({ id }, { identities }) => Object.fromEntries(revealed.map((name) => [name, identities.toToken(id)])),
  };
}

/** What was submitted, before anything about it is decided: each word is a part. */
function toUndecided(fields: Kind['fields'], { words, status, parts }: Submission, spec: Spec): JsonObject {
  const [open = ''] = Object.keys(parts.decisions);
  const given = spec[words];
  const type = fields[status.field]?.type;
  return {
    [status.field]: type?.type === 'enum' ? (type.values[0] ?? null) : null,
    [parts.field]: isJsonArray(given) ? given.map((word) => ({ [parts.name]: word, [parts.status]: open })) : [],
  };
}

/** A value that a service might choose; null: it chooses none. */
function chooseValue(type: FieldType, { caller, at }: { readonly caller: ApiKey; readonly at: Date }): Json {
  switch (type.type) {
    case 'text':
      return type.format === undefined ? '' : FORMATS[type.format].example;
    case 'enum':
      return type.values[0] ?? null;
    case 'boolean':
      return false;
    case 'number':
      return type.min;
    case 'timestamp':
      return toTimestamp(at);
    case 'reference':
      return type.prefixes.some((prefix) => caller.userId.startsWith(`${prefix}_`)) ? caller.userId : null;
    case 'list':
    case 'map':
    case 'object':
    case 'json':
    case 'metadata':
      return toEmpty(type);
    default:
      return assertNever(type);
  }
}
