import { normalizeField } from '../kinds/canonical.ts';
import { isSpellingOf } from '../kinds/spelling.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isSameJson, type Json } from '../model/json.ts';
import { splitMetadata } from '../model/mark.ts';
import { type Applied, createFailedOutcome, type Outcome } from '../model/outcome.ts';
import { getSentFields, type Write } from '../model/write.ts';
import type { ApplyRun } from './apply-run.ts';
import { type ComparedResponse, formatComparedValue } from './check-response.ts';

/**
 * Checks the texts for people in a response: descriptions, and the metadata of the user. Warns of those that the service
 * spells otherwise, once for each field. If it keeps another text, the write has failed, although the rest of it took
 * effect: nothing can cure that but the user, so what depends on it is sent all the same.
 */
export function checkTexts(
  outcome: Applied,
  shown: ComparedResponse,
  { planned, note, namedTexts, followable }: Pick<ApplyRun, 'planned' | 'note' | 'namedTexts' | 'followable'>,
): Outcome {
  const { write } = outcome;
  const unnamed = listOtherTexts(write, shown).filter(({ name }) => !namedTexts.has(`${write.address} ${name}`));
  for (const { name } of unnamed) namedTexts.add(`${write.address} ${name}`);
  const before = planned.find(shown.live.id)?.spec;
  for (const text of unnamed) {
    // The plan has listed a spelling that was live before.
    const isNew = !isSameJson(before?.[text.name] ?? null, text.shown);
    if (text.isSpelling && isNew) note(createSpellingWarning(write, text));
  }
  const others = unnamed.filter(({ isSpelling }) => !isSpelling);
  if (others.length === 0) return outcome;
  followable.set(write.id, 'all');
  return createFailedOutcome(write, others.map(describeOtherText).join('; '));
}

/** A text that came back otherwise than it was sent. Both are in normal form. */
interface OtherText {
  readonly name: string;
  readonly sent: Json;
  readonly shown: Json;
  /** Whether only the spelling differs. */
  readonly isSpelling: boolean;
}

function listOtherTexts(write: Write, { body = {}, live }: ComparedResponse): readonly OtherText[] {
  const fields = getSentFields({ ...write, body });
  return getKind(write.kind).specFields.flatMap(([name, field]): readonly OtherText[] => {
    const shown = live.spec[name];
    if (!field.mayBeSpelledOtherwise || !Object.hasOwn(fields, name) || shown === undefined) return [];
    const value = fields[name];
    const sent = normalizeField(field, name === 'metadata' ? splitMetadata(String(value)).user : value);
    return isSameJson(sent, shown) ? [] : [{ name, sent, shown, isSpelling: isSpellingOf(field, shown, sent) }];
  });
}

function createSpellingWarning({ address }: Write, { name, sent, shown }: OtherText): Diagnostic {
  return {
    code: 'shown-otherwise',
    severity: 'warning',
    message: `${address}: ${name} is spelled differently at the service: ${formatComparedValue(sent)} was sent, ${formatComparedValue(shown)} came back`,
    remedy: 'Another spelling is not a difference, and needs no action.',
    address,
  };
}

function describeOtherText({ name, sent, shown }: OtherText): string {
  return `the service stores another ${name}: ${formatComparedValue(sent)} was sent, ${formatComparedValue(shown)} came back. To leave the field to the service, set lifecycle.ignore: [${name}]`;
}
