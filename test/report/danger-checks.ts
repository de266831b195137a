import { expect } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import { countDangersByGroup, DANGER_GROUP_NAMES, type DangerGroup } from '../../src/model/danger.ts';
import type { Plan } from '../../src/model/plan.ts';
import { computeChangesWithDangers } from '../../src/plan/dangers.ts';
import { type Document, toPlainText } from '../../src/report/document.ts';
import { createDocument, createStacksDocument } from '../../src/report/documents/create-document.ts';
import { loadReportRenderer, loadStacksReportRenderer } from '../../src/report/formats.ts';
import type { FormatOptions, PlanReport } from '../../src/report/report.ts';
import { readOnlyStack } from '../results.ts';
import { readPage } from './html-tree.ts';
import { renderPlanText } from './render.ts';
import { createPlan, PLAIN } from './sample-plans.ts';

export const WIDE: FormatOptions = { ...PLAIN, width: 0 };

/** A plan of these changes, with the dangers of each. */
export function toPlan(changes: readonly Change[], more: Partial<Plan> = {}): Plan {
  const plan = createPlan({
    changes,
    writes: [],
    externals: { 'External/blue': 'bkdhr_2aaa', 'External/office': 'ipp_1' },
    ...more,
  });
  return { ...plan, changes: computeChangesWithDangers(plan) };
}

/** The dangers of a plan, each with its clause. */
export function listDangers(
  plan: Plan,
): readonly { readonly group: DangerGroup; readonly address: string; readonly said: string }[] {
  const { blocks } = createDocument({ about: 'plan', plan, blocking: [] }, WIDE);
  const dangers = blocks.flatMap((block) => (block.block === 'dangers' ? block.dangers : []));
  return dangers.map(({ group, address, said }) => ({ group, address, said: toPlainText(said) }));
}

/** The table of the stacks of a run. */
export function listRows({ blocks }: Document): readonly { readonly said: string; readonly isQuiet: boolean }[] {
  const rows = blocks.flatMap((block) => (block.block === 'table' ? [...block.rows] : []));
  return rows.map(({ cells: [, , said = ''], isPart }) => ({ said: toPlainText(said), isQuiet: isPart !== true }));
}

/** Expects the same dangers and the same counts by group in every format. */
export async function expectEverywhere(plan: Plan): Promise<void> {
  const report: PlanReport = { about: 'plan', plan, blocking: [] };
  const dangers = listDangers(plan);
  const counts = countDangersByGroup(dangers);
  const groups = DANGER_GROUP_NAMES.filter((group) => counts[group] > 0).map((group) => {
    const noun = group === 'secrets' && counts[group] === 1 ? 'secret' : group;
    return `${counts[group]} ${noun}`;
  });
  const count = `${dangers.length} ${dangers.length === 1 ? 'danger' : 'dangers'} (${groups.join(', ')})`;
  expect(dangers).not.toEqual([]);

  const text = renderPlanText(plan, WIDE);
  expect(text.slice(0, text.indexOf('\n\n'))).toContain(`\n! ${count}.`);
  for (const { group, said } of dangers) expect(text).toContain(`\n    ! ${group}: ${said}\n`);
  const compact = renderPlanText(plan, { ...WIDE, compact: true });
  for (const { group, said } of dangers) expect(compact).toContain(`! ${group}: ${said}`);

  const markdown = withoutCode(toUnescaped((await loadReportRenderer('markdown'))(report, WIDE)));
  expect(markdown).toContain(`## ⚠ ${count} · `);
  expect(markdown).toContain(`> [!CAUTION]\n> **${count}**\n`);
  if (dangers.length < 20)
    for (const { group, address, said } of dangers)
      expect(markdown).toContain(withoutCode(toUnescaped(`\n> - **${group}** ${address} ${said}`)));

  const { elements } = readPage((await loadReportRenderer('html'))(report, WIDE));
  const heading = elements.find(({ attributes }) => attributes.get('id') === 'dangers');
  expect(heading?.text).toBe(count);
  expect(elements.filter(({ attributes }) => attributes.get('class') === 'danger')).toHaveLength(dangers.length);

  const json = readOnlyStack((await loadReportRenderer('json'))(report, WIDE));
  expect(json.dangers).toEqual(counts);
  const { runs } = JSON.parse((await loadReportRenderer('sarif'))(report, WIDE));
  const results: readonly { ruleId: string; message: { text: string } }[] = runs[0].results;
  const found = results.filter(({ ruleId }) => ruleId === 'danger').map(({ message }) => message.text);
  expect(found.sort()).toEqual(dangers.map(({ address, said, group }) => `${address} ${said} (${group})`).sort());
  expect(runs[0].properties).toEqual({ dangers: counts });

  const part = { name: 'production', folder: 'production', exitCode: 2, report, options: {} };
  const run = { command: 'plan', root: '.', selection: '', parts: [part, part] };
  const { headline } = createDocument(report, WIDE);
  expect(headline.startsWith(`⚠ ${count}`)).toBe(true);
  expect(listRows(createStacksDocument(run, WIDE)).map(({ said }) => said)).toEqual([headline, headline]);
  const twice = Object.fromEntries(DANGER_GROUP_NAMES.map((group) => [group, 2 * counts[group]]));
  const joined = JSON.parse((await loadStacksReportRenderer('json'))(run, WIDE));
  expect(joined.stacks).toMatchObject([{ plan: { dangers: counts } }, { plan: { dangers: counts } }]);
  const [log] = JSON.parse((await loadStacksReportRenderer('sarif'))(run, WIDE)).runs;
  expect(log.properties).toEqual({ dangers: twice });
  const all: readonly { properties?: { stack: string; group?: string } }[] = log.results;
  const grouped = all.flatMap(({ properties }) => (properties?.group === undefined ? [] : [properties]));
  expect(new Set(grouped.map(({ stack }) => stack))).toEqual(new Set(['production']));
  expect(countDangersByGroup(grouped as Parameters<typeof countDangersByGroup>[0])).toEqual(twice);
}

/** Removes the escapes of Markdown. */
export function toUnescaped(text: string): string {
  return text
    .replaceAll(/\\(?=[^A-Za-z0-9\s])/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

export function withoutCode(text: string): string {
  return text.replaceAll('`', '');
}
