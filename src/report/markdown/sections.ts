import { formatCount } from '../view/wording.ts';
import { renderDetailsStart, type Summary } from './text.ts';

/** A section of a comment. It can be omitted without breaking the Markdown of other sections. */
export interface Section {
  readonly text: string;
  /** Sections with a lower weight are omitted first. */
  readonly weight: Weight;
  /** Nouns that name the section in the note on omitted sections. Absent if the note does not mention it. */
  readonly names?: readonly [one: string, several: string];
  /** The start or the end of a fold. Both are omitted if no section remains between them. */
  readonly fold?: 'start' | 'end';
}

/** All weights in ascending order. Sections with the last weight are never omitted. */
const WEIGHTS = [
  'rest',
  'fields',
  'gain',
  'fields-of-losses',
  'change',
  'warning',
  'error',
  'loss',
  'refusal',
  'always',
] as const;

export type Weight = (typeof WEIGHTS)[number];

/** Puts sections into one fold. If all of them are omitted, the fold is omitted too. */
export function* wrapInFold(summary: Summary, sections: Iterable<Section>): Generator<Section> {
  yield { text: renderDetailsStart(summary), weight: 'always', fold: 'start' };
  yield* sections;
  yield { text: '</details>\n\n', weight: 'always', fold: 'end' };
}

/**
 * The maximum length of a comment on GitHub, in characters. Edgewise counts UTF-16 units; a text has at least as many
 * of them as characters.
 */
export const MAX_COMMENT_LENGTH = 65_536;

/** Characters reserved for the note on omitted sections, which names each kind of section once. */
const RESERVE = 1500;

/** Sections are omitted while they arrive too, so that never more than a few comments are in memory. */
const MAX_LENGTH_IN_MEMORY = 8 * MAX_COMMENT_LENGTH;

/**
 * Writes the head, then the sections. If they are too long for a comment, omits sections with a lower weight first and,
 * among equal weights, the last sections first. A note below the head names them.
 */
export function writeWithinCommentLimit(head: readonly string[], sections: Iterable<Section>): readonly string[] {
  const room = MAX_COMMENT_LENGTH - head.join('').length;
  const omitted = new Map<string, OmittedSections>();
  let kept: readonly Section[] = [];
  let recent: Section[] = [];
  let length = 0;
  for (const section of sections) {
    recent.push(section);
    length += section.text.length;
    if (length < MAX_LENGTH_IN_MEMORY) continue;
    kept = omitSections([...kept, ...recent], room - RESERVE, omitted);
    recent = [];
    length = measure(kept);
  }
  kept = [...kept, ...recent];
  if (length > room) kept = omitSections(kept, room - RESERVE, omitted);
  const texts = withoutEmptyFolds(kept).map(({ text }) => text);
  const [last = '', ...before] = texts.toReversed();
  return [...head, renderOmitted(omitted), ...before.toReversed(), `${last.trimEnd()}\n`];
}

interface OmittedSections {
  readonly names: readonly [one: string, several: string];
  readonly count: number;
}

function measure(sections: readonly Section[]): number {
  return sections.reduce((sum, { text }) => sum + text.length, 0);
}

/** Returns the sections that fit into the room, and counts the others by name in `omitted`. */
function omitSections(
  sections: readonly Section[],
  room: number,
  omitted: Map<string, OmittedSections>,
): readonly Section[] {
  let length = measure(sections);
  const left = new Set<Section>();
  for (const section of listByWeight(sections)) {
    if (length <= room) break;
    left.add(section);
    length -= section.text.length;
    const { names } = section;
    if (names !== undefined) omitted.set(names[0], { names, count: (omitted.get(names[0])?.count ?? 0) + 1 });
  }
  return sections.filter((section) => !left.has(section));
}

function listByWeight(sections: readonly Section[]): readonly Section[] {
  const groups = Map.groupBy(sections, ({ weight }) => weight);
  return WEIGHTS.filter((weight) => weight !== 'always').flatMap((weight) => (groups.get(weight) ?? []).toReversed());
}

function withoutEmptyFolds(sections: readonly Section[]): readonly Section[] {
  const isEmpty = (index: number): boolean => sections[index]?.fold === 'start' && sections[index + 1]?.fold === 'end';
  return sections.filter((_, index) => !isEmpty(index) && !isEmpty(index - 1));
}

function renderOmitted(omitted: ReadonlyMap<string, OmittedSections>): string {
  const parts = Array.from(omitted.values(), ({ names, count }) => formatCount(count, ...names));
  return parts.length === 0 ? '' : `> [!NOTE]\n> Too long for a comment. Left out: ${parts.join(', ')}.\n\n`;
}
