import { findNamePart } from '../cel/name-part.ts';
import { suggest } from '../manifest/suggest.ts';
import { toPathText } from '../model/field-path.ts';
import type { FieldPath } from '../model/state.ts';
import type { Hit, RuleContext, Subject } from './rule.ts';

/** Expressions that cannot be parsed. */
export function checkCelSyntax({ spots }: Subject, { readCel }: RuleContext): readonly Hit[] {
  return listExpressions(spots).flatMap(({ path, text }): Hit[] => {
    const reading = readCel(text);
    if (!('fault' in reading)) return [];
    const fault = reading.fault.replace(/\.$/, '');
    const message = `${toPathText(path)} is not valid CEL at character ${reading.column}: ${fault}`;
    const start = Math.max(0, Math.min(reading.column, text.length) - 1);
    return [{ path, part: { of: text, start, length: 1 }, message }];
  });
}

/** Variables that are not known for their traffic. */
export function checkCelVariables({ spots }: Subject, { readCel, settings }: RuleContext): readonly Hit[] {
  return listExpressions(spots).flatMap(({ path, text, variables }) => {
    const reading = readCel(text);
    const known = [...variables, ...settings.celVariables];
    const unknown = 'names' in reading ? reading.names.filter((name) => !isKnown(name, known)) : [];
    return unknown.map((name) => {
      const part = findNamePart(text, name);
      return {
        path,
        ...(part !== undefined && { part }),
        message: `${toPathText(path)} uses the unknown variable \`${name}\``,
        remedy: toVariableRemedy(name, known),
      };
    });
  });
}

interface Expression {
  readonly path: FieldPath;
  readonly text: string;
  readonly variables: readonly string[];
}

function listExpressions(spots: Subject['spots']): readonly Expression[] {
  const found: Expression[] = [];
  for (const { path, type, value } of spots)
    if (type.type === 'text' && type.cel !== undefined && typeof value === 'string')
      found.push({ path, text: value, variables: type.cel });
  return found;
}

/** Also what is selected of a variable, and what several variables stand in: their names may be computed. */
function isKnown(name: string, known: readonly string[]): boolean {
  return known.some((variable) => {
    const base = variable.replace(/\.\*$/, '');
    return name === base || name.startsWith(`${base}.`) || base.startsWith(`${name}.`);
  });
}

function toVariableRemedy(name: string, known: readonly string[]): string {
  const nearest = suggest(name, known);
  const ending = 'or add the name to spec.lint.cel_variables of the Stack';
  return nearest === undefined
    ? `Known variables: ${known.join(', ')}. Use one of them, ${ending}.`
    : `Did you mean \`${nearest}\`? If not, use another variable, ${ending}.`;
}
