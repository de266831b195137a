import { stripDuplicateId } from '../../model/address.ts';
import { assertNever } from '../../model/errors.ts';
import { toManifestPath } from '../../model/field-path.ts';
import type { Block, Document, ShownFinding } from '../document.ts';
import { toPrintablePlace } from '../view/finding-wording.ts';

/** The findings of a document: of each stack the errors first, then what concerns no stack. */
export function listFindings(document: Document): readonly ShownFinding[] {
  const ofStacks = document.blocks.flatMap((block) => {
    if (block.block !== 'part' || !block.isStack || block.document === undefined) return [];
    return listOwnFindings(block.document).map((finding) => ({ ...finding, stack: block.title }));
  });
  return [...ofStacks, ...listOwnFindings(document)];
}

const LEVELS = ['error', 'warning', 'notice'] as const;

/** Without those of stacks. An error that a block has is the result of the command, so it is before the errors of manifests. */
export function listOwnFindings(document: Document): readonly ShownFinding[] {
  const { blocks, findings, locate } = document;
  // A reader sees dangers first. Here, those of a resource follow what happens to it.
  const changes = blocks.filter(({ block }) => block !== 'dangers');
  const dangers = blocks.filter(({ block }) => block === 'dangers');
  const found = [...changes, ...dangers]
    .flatMap(listOfBlock)
    .toSorted((left, right) => (left.order ?? 0) - (right.order ?? 0));
  const ofBlocks = Map.groupBy(found, ({ level }) => level === 'error');
  const all = [...(ofBlocks.get(true) ?? []), ...findings.map(joinRefusal), ...(ofBlocks.get(false) ?? [])];
  const fallback = locate?.();
  return LEVELS.flatMap((level) => all.filter((finding) => finding.level === level)).map((finding) => ({
    ...finding,
    place: finding.place ?? findPlace(finding, locate),
    fallback,
  }));
}

function listOfBlock(block: Block): readonly ShownFinding[] {
  switch (block.block) {
    case 'entries':
      return block.entries.flatMap((entry) => entry.listFindings());
    case 'error':
    case 'dangers':
    case 'messages':
    case 'list':
      return block.findings ?? [];
    case 'part':
      // What an apply has planned is not told again: its writes have their results.
      return block.isStack ? [] : (block.document?.findings ?? []);
    case 'findings':
    case 'counts':
    case 'table':
      return [];
    default:
      return assertNever(block);
  }
}

/** The position of the field that the finding is about or, without a field, of its resource's manifest. */
function findPlace({ address, field }: ShownFinding, locate: Document['locate']): ShownFinding['place'] {
  const place = address === undefined ? undefined : locate?.(stripDuplicateId(address), toManifestPath(field));
  return place && toPrintablePlace(place);
}

/** The maximum number of addresses that the message of a refusal lists. The report has all. */
const MAX_LISTED = 10;

/**
 * A refusal as one text with one position: the first place is the resource's manifest. If a policy refuses no resource,
 * its only place is the policy.
 */
function joinRefusal(finding: ShownFinding): ShownFinding {
  const { rule, nature, message, addresses = [], related = [] } = finding;
  if (nature !== 'refusal') return finding;
  const more = addresses.length > MAX_LISTED ? [`${addresses.length - MAX_LISTED} more`] : [];
  const listed = [...addresses.slice(0, MAX_LISTED), ...more].join(', ');
  const [own, ...others] = related.length > 1 || rule !== 'policy' ? related : [undefined, ...related];
  return {
    ...finding,
    message: addresses.length > 1 ? `${message} They are ${listed}.` : message,
    address: addresses[0],
    place: own?.place,
    related: others.flatMap((one) => one ?? []),
  };
}

/** Replaces the findings that one sentence says together by one with that sentence. */
export function joinFindings(findings: readonly ShownFinding[]): readonly ShownFinding[] {
  const first = new Map<string, ShownFinding>();
  return findings.flatMap((finding) => {
    const { together, rule, level, stack, fallback } = finding;
    if (together === undefined) return [finding];
    const key = JSON.stringify([stack, together]);
    if (first.has(key)) return [];
    first.set(key, finding);
    return [{ rule, level, stack, fallback, message: together }];
  });
}

/** The related places of a finding, one text for each, for formats that show only one place. */
export function listRelatedPlaceTexts({ related = [] }: ShownFinding): readonly string[] {
  return related.map(({ message, place: { file, line, column } }) => `${message}: ${file}:${line}:${column}`);
}
