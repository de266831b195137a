import type { ManifestStart } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import type { FormOptions } from '../report.ts';
import { toFilePage, toFilePosition } from '../view/file-position.ts';
import { toCode, toLink, toProse } from './text.ts';

/** Where the manifest of a resource starts, as Markdown: a link where the forge is known and there is room. Nothing for standard input. */
export type LinkTo = (place: ManifestStart, hasRoom?: boolean) => string;

/** Links to manifests as they are in the commit that a plan was made of; positions without links where that is not known. */
export function createLinks({ made }: Pick<Plan, 'made'>, options: FormOptions): LinkTo {
  const { commit, filesUrl } = options.pipeline ?? {};
  const base = made?.commit === commit ? filesUrl : undefined;
  return (place, hasRoom = true) => {
    const position = toFilePosition({ ...place, column: 1 }, options);
    if (position === undefined) return '';
    const label = toCode(place.origin === undefined ? `${position.file}:${position.line}` : position.file);
    const page = toFilePage(base, position);
    return page === undefined || !hasRoom ? label : toLink(label, page);
  };
}

/** The last line of a comment on a plan: from which commit, by which run, when, and by which version it was made. */
export function renderFooter({ made, tool }: Pick<Plan, 'made' | 'tool'>, { pipeline = {} }: FormOptions): string {
  const { commit } = made ?? {};
  const page = commit === pipeline.commit ? pipeline.commitUrl : undefined;
  const label = commit === undefined ? '' : toCode(commit.slice(0, SHORT));
  const parts = [
    ...(commit === undefined ? [] : [`Commit ${page === undefined ? label : toLink(label, page)}`]),
    ...(pipeline.runUrl === undefined ? [] : [toLink('run', pipeline.runUrl)]),
    ...toTimeTexts(made?.at),
    `edgewise ${toProse(tool.version)}`,
  ];
  return `<sub>${parts.join(' · ')}</sub>`;
}

function toTimeTexts(at = ''): readonly string[] {
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(at) ?? [];
  return day === '' ? [] : [`${day} ${time} UTC`];
}

/** Digits of a commit that people read. */
const SHORT = 7;
