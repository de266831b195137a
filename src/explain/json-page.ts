import { renderDocument } from '../report/programs/json.ts';
import type { Page } from './explain.ts';

/** A page for programs. */
export function renderPageJson(page: Page): string {
  const { about, ...rest } = 'facts' in page ? { ...page, facts: Object.fromEntries(page.facts) } : page;
  return renderDocument({ format: 1, command: 'explain', ok: true, about, ...rest });
}
