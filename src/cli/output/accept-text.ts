import type { AcceptedDrift, AcceptedFile, AcceptResult } from '../../accept/accept-drift.ts';
import { formatDriftName } from '../../accept/parse-name.ts';
import { hideSecretsAndComments } from '../../manifest/quotable-text.ts';
import type { Drift } from '../../model/drift.ts';
import { type PairedMember, pairMembers } from '../../model/pair-members.ts';
import { toPrintable } from '../../model/printable.ts';
import type { TextStyleOptions } from '../../report/report.ts';
import { renderFindingLines } from '../../report/text/findings.ts';
import { createPainter, hardWrapWithPrefix, wrapWithPrefix } from '../../report/text/layout.ts';
import { listDriftDangerViews } from '../../report/view/drift-wording.ts';
import { toFinding } from '../../report/view/finding-wording.ts';
import { collectPlanAddressesById } from '../../report/view/plan-headline.ts';
import { redactDrift } from '../../report/view/redact.ts';

/** What `edgewise accept` shows: what it writes, with its dangers, what it leaves out, the difference, what it refuses. */
export function renderAcceptText(
  { files, accepted, leftOut, refused, drift }: AcceptResult,
  options: TextStyleOptions,
): string {
  const paint = createPainter(options.color);
  const findDangers = createDangerLines(drift, options);
  const paragraphs = [
    ...listSection(
      'Changed at the service, for the manifests:',
      accepted.flatMap((one) => [
        one.field === undefined
          ? `  ${one.address} (it does not exist: its document is taken out)`
          : `  ${formatDriftName(one)}`,
        ...findDangers(one),
      ]),
    ),
    ...listSection(
      'Left out:',
      leftOut.flatMap((one) => [
        ...wrapWithPrefix(
          '  ',
          toPrintable(`${formatDriftName(one)} ${one.reason}.${one.remedy === undefined ? '' : ` ${one.remedy}`}`),
          {
            width: options.width,
            rest: 4,
          },
        ),
        ...findDangers(one),
      ]),
      leftOut.some(({ field }) => field !== undefined) ? ['A field that is left out is accepted if it is named.'] : [],
    ),
    ...files.map((file) =>
      listDiffLines(file).flatMap((line, index) =>
        index === 0
          ? [paint('strong', line)]
          : wrapDiffLine(line, options.width).map((one) => paintLine(one, line, paint)),
      ),
    ),
    ...refused.map((one) => renderFindingLines(toFinding(one), options)),
  ];
  return paragraphs.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

function listSection(
  heading: string,
  lines: readonly string[],
  end: readonly string[] = [],
): readonly (readonly string[])[] {
  return lines.length === 0 ? [] : [[heading, ...lines, ...end]];
}

/** Returns the lines with the dangers of a field, in the words of the drift report. */
function createDangerLines(drift: Drift, { width }: TextStyleOptions): (one: AcceptedDrift) => readonly string[] {
  const names = collectPlanAddressesById(drift);
  return ({ address, dangers }) => {
    if (dangers.length === 0) return [];
    const changes = drift.changes.flatMap((change) =>
      change.address === address ? [{ ...change, driftDangers: dangers }] : [],
    );
    return listDriftDangerViews(redactDrift({ ...drift, changes }).changes, names).flatMap(({ group, said }) =>
      wrapWithPrefix(`    ! ${group}: `, said, { width, rest: 6 }),
    );
  };
}

/** Wraps a line of a file between words, so that no id is broken. */
function wrapDiffLine(line: string, width: number): readonly string[] {
  const [, prefix = '', text = ''] = /^(.\s*)(.*)$/s.exec(line) ?? [];
  return hardWrapWithPrefix(prefix, text, { width, rest: prefix.length });
}

function paintLine(shown: string, line: string, paint: ReturnType<typeof createPainter>): string {
  if (line.startsWith('+')) return paint('added', shown);
  return line.startsWith('-') ? paint('removed', shown) : shown;
}

/** Lines around a change that a difference shows. */
const CONTEXT = 2;

/** A unified difference of what may be shown of a file: without comments and secrets. */
function listDiffLines({ file, before, after }: AcceptedFile): readonly string[] {
  const [from, to] = [before, after ?? ''].map((text) => hideSecretsAndComments(text).split(/\r?\n/));
  const pairs = pairMembers(from ?? [], to ?? [], (left, right) => left === right);
  const isChanged = ({ from: left, to: right }: PairedMember): boolean =>
    left === undefined || right === undefined || from?.[left] !== to?.[right];
  const shown = new Set(
    pairs.flatMap((pair, index) =>
      isChanged(pair) ? Array.from({ length: 2 * CONTEXT + 1 }, (_, at) => index - CONTEXT + at) : [],
    ),
  );
  const lines = pairs.flatMap((pair, index): string[] => {
    if (!shown.has(index)) return [];
    const gap = index > 0 && !shown.has(index - 1) ? [`@@ line ${(pair.from ?? pair.to ?? 0) + 1} @@`] : [];
    const [left, right] = [pair.from, pair.to].map((at, side) =>
      at === undefined ? undefined : (side === 0 ? from : to)?.[at],
    );
    if (!isChanged(pair)) return [...gap, ` ${toPrintable(left ?? '')}`.trimEnd()];
    return [
      ...gap,
      ...(left === undefined ? [] : [`-${toPrintable(left)}`]),
      ...(right === undefined ? [] : [`+${toPrintable(right)}`]),
    ];
  });
  while (lines.at(-1) === '') lines.pop();
  const name = toPrintable(file);
  return [after === undefined ? `${name} (removed):` : `${name}:`, ...lines];
}
