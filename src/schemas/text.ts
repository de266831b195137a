import { z } from 'zod';
import type { ReferenceType, TextType } from '../kinds/field.ts';
import { FORMATS, type FormatRule } from '../kinds/formats.ts';
import { describeIds, describeMalformedId, isIdOf, toIdPattern } from '../kinds/ids.ts';
import { listReferableKinds } from '../kinds/references.ts';
import { parseAddress } from '../model/address.ts';
import { assertNever } from '../model/errors.ts';
import { toByteLength } from '../model/json.ts';
import { once } from '../model/once.ts';
import { STORABLE_PATTERN } from '../model/storable-text.ts';
import { toPart } from './parts.ts';

/** Schemas of single values that are text: what stands in a field, or is a key of a map. */

/** Who reads a schema: see field.ts. */
export type SchemaUse = 'manifest' | 'request' | 'response' | 'document';

/** The form of a text that is only known once the environment is. */
export const FROM_ENVIRONMENT = '\\$\\{env:';

/** How a schema's own findings name themselves, for the diagnostic that is made of them. */
export type SchemaFinding = 'bad-value' | 'too-long' | 'wrong-reference';

/** Text, as a field of the type takes it. That it can be stored is checked for all texts at once, where they come from. */
export function toText(type: TextType, use: SchemaUse): z.ZodType<string> {
  const { maxBytes, format, isPath, known } = type;
  let schema = isPath ? z.string().min(1) : z.string();
  if (maxBytes !== undefined) schema = toLimited(schema, maxBytes);
  if (known !== undefined && use === 'manifest') return schema.meta(toAdvice(known));
  if (format === undefined) return use === 'request' ? schema.meta({ pattern: STORABLE_PATTERN }) : schema;
  const rule = FORMATS[format];
  return schema
    .superRefine((text, context) => {
      const wrong = rule.check(text);
      if (wrong !== undefined)
        context.addIssue({ code: 'custom', message: `\`${text}\` ${wrong}`, params: { code: 'bad-value' } });
    })
    .meta({ examples: [rule.example], ...toStated(rule, use) });
}

/** What JSON Schema can say of a form of text, and for manifests what editors say instead of a pattern. */
function toStated({ pattern, maxLength, format, expected }: FormatRule, use: SchemaUse) {
  if (use === 'manifest') return pattern === undefined ? {} : { pattern, patternErrorMessage: `Must be ${expected}.` };
  return {
    pattern: pattern ?? STORABLE_PATTERN,
    ...(maxLength !== undefined && { maxLength }),
    ...(format !== undefined && { format }),
  };
}

/** Values to offer. Other values only get a warning, because the service stores them; in JSON Schema only a deprecation is a warning. */
function toAdvice(known: readonly string[]) {
  const words = known.map((word) => `\`${word}\``).join(', ');
  const deprecationMessage = `Not known to have an effect. Known: ${words}.`;
  return {
    examples: [...known],
    if: { anyOf: [{ enum: known }, { pattern: FROM_ENVIRONMENT }] },
    else: { deprecationMessage },
  };
}

/** What stands for a text that is in a file. */
export function toFile(): z.ZodType {
  const file = z.string().min(1).describe('Path of a file with the value, relative to the folder of the manifest.');
  return z.strictObject({ file });
}

/** Text of limited length: in bytes, for the check; in characters, which are never more, for JSON Schema. */
export function toLimited(schema: z.ZodString, maxBytes: number): z.ZodString {
  return schema
    .refine((text) => toByteLength(text) <= maxBytes, {
      params: { code: 'too-long' satisfies SchemaFinding, maxBytes },
      error: ({ input }) => `is ${toByteLength(String(input))} bytes long; the limit is ${maxBytes} bytes of UTF-8`,
    })
    .meta({ maxLength: maxBytes });
}

/** The times that a request may state: what is made of them counts from 1970 on. */
export const TIMES_TAKEN = '^(19[7-9][0-9]|[2-9][0-9]{3})-';

/** A time. */
export function toTimestamp(use: SchemaUse): z.ZodType {
  const time = z.iso.datetime({ offset: true, error: 'is not an RFC 3339 time such as 2026-01-31T12:00:00Z' });
  return use === 'request' ? time.meta({ pattern: TIMES_TAKEN }) : time;
}

/** An id of something, or what stands for one. */
export function toReference(type: ReferenceType, use: SchemaUse): z.ZodType {
  switch (use) {
    case 'manifest':
      return toIdText((value) => findReferenceFault(type, value), toReferencePattern(type)).meta({
        patternErrorMessage: `Must be ${describeReference(type)}.`,
      });
    case 'request':
      return toIdText((value) => findIdFault(type, value), `^${toIdPattern(type)}$`);
    case 'response':
      return type.asRef ? z.union([z.looseObject({ id: z.string().nullish() }), z.string()]) : z.string();
    case 'document':
      return type.asRef ? toRef() : z.string();
    default:
      return assertNever(use);
  }
}

/** Text with an id in it, or what stands for one; `findFault` says what is wrong, to be read behind what it stands in. */
export function toIdText(findFault: (text: string) => string | undefined, pattern: string): z.ZodType<string> {
  return z
    .string()
    .superRefine((text, context) => {
      const message = findFault(text);
      const params = { code: 'wrong-reference' satisfies SchemaFinding };
      if (message !== undefined) context.addIssue({ code: 'custom', message, params });
    })
    .meta({ pattern });
}

/** What stands for an id in responses. */
const toRef = once(() => toPart('Ref', z.strictObject({ id: z.string(), uri: z.string() })));

/** The kind of an address is checked later, together with the other documents, with a better message. */
function findReferenceFault(type: ReferenceType, text: string): string | undefined {
  if (parseAddress(text) !== undefined || isIdOf(type, text)) return undefined;
  return describeMalformedId(type, text) ?? `must be ${describeReference(type)}`;
}

function findIdFault(type: ReferenceType, text: string): string | undefined {
  if (isIdOf(type, text)) return undefined;
  return describeMalformedId(type, text) ?? `must be an id ${describeIds(type)}`;
}

/** For editors, which are told of a kind that does not fit too. */
function toReferencePattern(type: ReferenceType): string {
  return `^((${listReferableNames(type).join('|')})/[^/\\s]+|${toIdPattern(type)})$`;
}

function describeReference(type: ReferenceType): string {
  return `${listReferable(type)}, or an id ${describeIds(type)}`;
}

function listReferable(type: ReferenceType): string {
  return listReferableNames(type)
    .map((name) => `${name}/name`)
    .join(' or ');
}

function listReferableNames(type: ReferenceType): readonly string[] {
  return [...listReferableKinds(type).map(({ name }) => name), 'External'];
}
