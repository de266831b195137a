import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { renderDriftText } from '../../src/report/text/drift.ts';
import { createPainter } from '../../src/report/text/layout.ts';
import { renderPlanText } from '../../src/report/text/plan.ts';
import { createDriftView } from '../../src/report/view/drift-view.ts';
import { countColumns } from '../../src/report/view/escape.ts';
import { createPlanView } from '../../src/report/view/plan-view.ts';
import { EVERYTHING, makeChange, makeDifference, makeLiveChange, makePlan, PLAIN, toNormal } from './sample-plans.ts';
import { DRIFT } from './sample-reports.ts';

const COMPACT = { ...PLAIN, width: 0, compact: true } as const;

test('300 creates are 300 lines', () => {
  const changes = Array.from({ length: 300 }, (_, index) =>
    makeChange(`TCPEdge/edge-${index}`, 'create', {
      desired: toNormal(`TCPEdge/edge-${index}`, {
        hostports: [`1.tcp.example.net:${index + 1}`],
        description: 'An edge',
      }),
    }),
  );
  const view = createPlanView(makePlan({ changes }));
  const lines = renderPlanText(view, COMPACT).split('\n');
  expect(lines.filter((line) => line.startsWith('+ TCPEdge/'))).toHaveLength(300);
  expect(lines.indexOf('+ TCPEdge/edge-299   create') - lines.indexOf('+ TCPEdge/edge-0     create')).toBe(299);
  expect(lines.length).toBeLessThan(310);
  expect(renderPlanText(view, { ...COMPACT, compact: false }).split('\n').length).toBeGreaterThan(900);
});

test('each resource has one line, with what differs of it', async () => {
  await expect(renderPlanText(createPlanView(EVERYTHING), COMPACT)).toMatchFileSnapshot('goldens/plan-compact.txt');
});

test('a resource of two parts of a plan has one line, with the fields of both', () => {
  const differences = [makeDifference('description'), makeDifference('hostports', { origin: 'drift' })];
  const text = renderPlanText(
    createPlanView(makePlan({ changes: [makeLiveChange('TCPEdge/a', 'update', { id: 'edgtcp_1', differences })] })),
    COMPACT,
  );
  expect(text.match(/TCPEdge\/a/g)).toHaveLength(1);
  expect(text).toContain('~ TCPEdge/a  (edgtcp_1)   update: description, hostports\n');
});

test('many fields are counted', () => {
  const differences = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => makeDifference(`metadata.${name}`));
  const changes = [makeLiveChange('TCPEdge/a', 'update', { id: 'edgtcp_1', differences })];
  expect(renderPlanText(createPlanView(makePlan({ changes })), COMPACT)).toContain(
    'metadata.d, metadata.e and 2 more\n',
  );
});

test('a comparison has one line for each resource that is not as it should be', async () => {
  await expect(renderDriftText(createDriftView(DRIFT), COMPACT)).toMatchFileSnapshot('goldens/drift-compact.txt');
});

test('dangers and warnings have their colour in their line, clipped or not', () => {
  const change = makeLiveChange('TCPEdge/a', 'update', {
    id: 'edgtcp_1',
    differences: [makeDifference('description')],
    dangers: [{ group: 'protection', danger: 'unprotected' }],
  });
  const view = createPlanView(makePlan({ changes: [change] }));
  const warned = {
    ...view,
    parts: view.parts.map((part) => ({
      ...part,
      changes: part.changes.map((one) => ({ ...one, warnings: ['may cut it'] })),
    })),
  };
  const paint = createPainter(true);
  const render = (width: number) => renderPlanText(warned, { ...COMPACT, width, color: true });
  expect(render(0)).toContain(
    `update: ${paint('error', '! protection: will no longer be protected')}; ${paint('warning', 'may cut it')} (description)`,
  );
  expect(render(50)).toContain(`update: ${paint('error', '! protection: w…')}\n`);
  expect(renderDriftText(createDriftView(DRIFT), { ...COMPACT, color: true })).toContain(
    `${paint('error', '! access')} (description changed at the service)`,
  );
});

test('a line never takes more than a row of the terminal, and colour is colour only', () => {
  for (const width of [30, 60, 100]) {
    const look = { ...COMPACT, width };
    for (const render of [
      (color: boolean) => renderPlanText(createPlanView(EVERYTHING), { ...look, color }),
      (color: boolean) => renderDriftText(createDriftView(DRIFT), { ...look, color }),
    ]) {
      const lines = render(false).split('\n');
      for (const line of lines.filter((one) => /^ *[-+~±»«] /.test(one)))
        expect(countColumns(line)).toBeLessThanOrEqual(width);
      expect(stripVTControlCharacters(render(true))).toBe(render(false));
    }
  }
});
