import type { Diagnostic, SourcePlace } from '../../model/diagnostic.ts';
import { toPrintable } from '../../model/printable.ts';
import { toPrintableLines } from './escape.ts';

/** The diagnostic with every text of it printable. Only excerpts and remedies have line breaks. */
export function toPrintableDiagnostic(diagnostic: Diagnostic): Diagnostic {
  const { message, remedy, address, place, related } = diagnostic;
  return {
    ...diagnostic,
    message: toPrintable(message),
    ...(remedy !== undefined && { remedy: toPrintableLines(remedy).join('\n') }),
    ...(address !== undefined && { address: toPrintable(address) }),
    ...(place !== undefined && { place: toPrintablePlace(place) }),
    ...(related !== undefined && {
      related: related.map((one) => ({ message: toPrintable(one.message), place: toPrintablePlace(one.place) })),
    }),
  };
}

/** A tab is a space here: an escape of more columns would move what the caret points at. */
function toPrintablePlace(place: SourcePlace): SourcePlace {
  const lines = toPrintableLines(place.excerpt.replaceAll('\t', ' '));
  return { ...place, file: toPrintable(place.file), excerpt: lines.join('\n') };
}
