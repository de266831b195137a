import { describe, expect, it } from 'vitest';
import { formatSummary } from '../../src/report/document.ts';
import { createDocument, createStacksDocument } from '../../src/report/documents/create-document.ts';
import { loadReportWriter, loadStacksReportWriter } from '../../src/report/formats.ts';
import { writeMarkdown } from '../../src/report/markdown/write-markdown.ts';
import type { Report, StacksRunReport } from '../../src/report/report.ts';
import { renderMarkdownReport } from './render.ts';
import { createPlan, PLAIN } from './sample-plans.ts';
import { createDrift, HOSTILE, REPORTS } from './sample-reports.ts';

/** The summary that the JSON of a report has. */
async function readSummary(report: Report): Promise<string> {
  const write = await loadReportWriter('json');
  return JSON.parse([...write(report, PLAIN)].join('')).summary;
}

/** The first paragraph below the marker and the heading. */
function findFirstParagraph(markdown: string): string {
  const [marker, heading, paragraph] = markdown.split('\n\n');
  expect(marker).toMatch(/^<!-- .* -->$/);
  expect(heading).toMatch(/^## /);
  return paragraph ?? '';
}

function expectAlone(paragraph: string): void {
  expect(paragraph).not.toBe('');
  expect(paragraph.length).toBeLessThan(300);
  expect(paragraph).not.toMatch(/\n|(?<!\\)[<|]/);
}

const RUN: StacksRunReport = {
  command: 'drift',
  root: 'live',
  selection: '1 stack below live.',
  parts: [
    { name: 'web', folder: 'live/web', exitCode: 0, report: { about: 'drift', drift: createDrift([]) }, options: {} },
  ],
};

describe('the summary of a report', () => {
  it.each(Object.entries(REPORTS))(
    'is the first paragraph of its Markdown, and a member of its JSON: %s',
    async (_, report) => {
      const paragraph = findFirstParagraph(renderMarkdownReport(report, PLAIN));
      expectAlone(paragraph);
      const summary = await readSummary(report);
      expect(summary).toBe(formatSummary(createDocument(report, PLAIN)));
      expect(paragraph.replaceAll(/[\\`]|&#8203;/g, '')).toBe(summary.replaceAll('`', ''));
    },
  );

  it('names the stack, the service and the result', async () => {
    const summarize = (name: string): Promise<string> => readSummary(REPORTS[name] ?? expect.fail(name));
    const place = 'stack production on https://api.example.com';
    expect(await summarize('plan')).toBe(
      `Plan for ${place}: ⛔ refused by 2 safety rules · ⚠ 2 deletes, 2 replaces · 2 updates · 1 adoption · 2 creates · 2 unchanged.`,
    );
    expect(await summarize('apply')).toBe(`Apply of ${place}: ✗ Incomplete: 3 writes applied, 2 failed, 3 skipped.`);
    expect(await summarize('drift')).toMatch(new RegExp(`^Drift of ${place}: .* drifted`));
  });

  it('names the folder of a run over many stacks', async () => {
    const summary = 'Drift of the stacks below live: No drift: 0 resources are as they should be.';
    const write = await loadStacksReportWriter('json');
    expect(JSON.parse([...write(RUN, PLAIN)].join('')).summary).toBe(summary);
    expect(findFirstParagraph([...writeMarkdown(createStacksDocument(RUN, PLAIN), PLAIN)].join(''))).toBe(summary);
  });

  it.each([...HOSTILE, '@a'.repeat(500), '|'.repeat(500), '<b>'.repeat(200)])(
    'stands alone whatever the name and the service: %j',
    async (text) => {
      const plan = createPlan({ stack: text, baseUrl: `https://example.com/${text}` });
      const report: Report = { about: 'plan', plan, blocking: [] };
      expectAlone(findFirstParagraph(renderMarkdownReport(report, PLAIN)));
      expect((await readSummary(report)).length).toBeLessThan(300);
    },
  );
});
