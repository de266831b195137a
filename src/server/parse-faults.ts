import { parseDocuments } from '../manifest/parse.ts';
import { toPathText } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { ServerFaults } from '../model/server-faults.ts';
import type { FieldPath } from '../model/state.ts';
import { FAULTS_SCHEMA } from '../schemas/faults.ts';
import { listFindings } from '../schemas/findings.ts';

/** Faults from their text, YAML or JSON. Throws `RangeError`, with everything that is wrong and the rule that it is in, on a bad one. */
export function parseServerFaults(text: string): ServerFaults {
  const value = parseOne(text);
  const problems = listFindings(FAULTS_SCHEMA, value).map(
    ({ path, message }) => `${toPathText(path)}${nameRule(value, path)} ${message}`,
  );
  if (problems.length > 0) throw new RangeError(problems.map((problem) => problem.trim()).join('\n'));
  return value as unknown as ServerFaults; // the schema has said so
}

function parseOne(text: string): Json {
  const [first, second] = parseDocuments(text, {});
  const [fault] = first?.faults ?? [];
  if (first === undefined || first.value === null) throw new RangeError('It is empty');
  if (fault !== undefined) throw new RangeError(`It is not YAML: ${fault.message}`);
  if (second !== undefined) throw new RangeError('It contains more than one document');
  return first.value;
}

/** A rule is named by what it matches: ` (GET *)`. */
function nameRule(value: Json, [first, index]: FieldPath): string {
  const rules = isJsonObject(value) && first === 'rules' ? value['rules'] : undefined;
  const rule = isJsonArray(rules) ? rules[Number(index)] : undefined;
  const on = isJsonObject(rule) ? rule['on'] : undefined;
  return typeof on === 'string' ? ` (${on})` : '';
}
