import type { ComparisonPart, ComparisonView } from '../view/comparison-view.ts';
import { listChangePieces } from './changes.ts';
import type { LinkTo } from './links.ts';
import type { Piece } from './pieces.ts';
import { listListPieces } from './plan.ts';
import { toProse } from './text.ts';

/** What two plans do differently: whether it matters, above the fold. */
export function listComparisonHeadPieces({ title, summary, remedy, isRefused }: ComparisonView): readonly Piece[] {
  const said = [`**${toProse(summary)}**`, ...(remedy === undefined ? [] : [toProse(remedy)])].join(' ');
  return [
    { text: `## ${toProse(title)}\n\n`, weight: 'always' },
    { text: `${isRefused ? '> [!CAUTION]\n> ' : ''}${said}\n\n`, weight: 'always' },
  ];
}

/** The differences, as a plan is shown. */
export function listComparisonPieces({ parts }: ComparisonView, linkTo: LinkTo): readonly Piece[] {
  return parts.flatMap(({ heading, changes, files }: ComparisonPart) => [
    { text: `### ${toProse(heading)}\n\n`, weight: 'always' } as const,
    ...listChangePieces(changes, { hasOwners: false, linkTo }),
    ...listListPieces('files', files),
  ]);
}
