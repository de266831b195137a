import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { createPainter } from '../../src/report/text/layout.ts';
import { countColumns } from '../../src/report/view/escape.ts';
import { renderDriftText, renderPlanText } from './render.ts';
import {
  createChange,
  createDifference,
  createLiveChange,
  createPlan,
  EVERYTHING,
  PLAIN,
  toNormal,
} from './sample-plans.ts';
import { DRIFT } from './sample-reports.ts';

const COMPACT = { ...PLAIN, width: 0, compact: true } as const;

test('shows 300 creates in 300 lines', () => {
  const changes = Array.from({ length: 300 }, (_, index) =>
    createChange(`TCPEdge/edge-${index}`, 'create', {
      desired: toNormal(`TCPEdge/edge-${index}`, {
        hostports: [`1.tcp.example.net:${index + 1}`],
        description: 'An edge',
      }),
    }),
  );
  const plan = createPlan({ changes });
  const lines = renderPlanText(plan, COMPACT).split('\n');
  expect(lines.filter((line) => line.startsWith('+ TCPEdge/'))).toHaveLength(300);
  expect(lines.indexOf('+ TCPEdge/edge-299   create') - lines.indexOf('+ TCPEdge/edge-0     create')).toBe(299);
  expect(lines.length).toBeLessThan(310);
  expect(renderPlanText(plan, { ...COMPACT, compact: false }).split('\n').length).toBeGreaterThan(900);
});

test('shows each resource on one line, with its differences', async () => {
  await expect(renderPlanText(EVERYTHING, COMPACT)).toMatchFileSnapshot('goldens/plan-compact.txt');
});

test('shows a change in two parts of a plan on one line in each, with the fields of that part', () => {
  const differences = [createDifference('description'), createDifference('hostports', { origin: 'drift' })];
  const changes = [createLiveChange('TCPEdge/a', 'update', { id: 'edgtcp_1', differences })];
  const lines = renderPlanText(createPlan({ changes }), COMPACT).split('\n');
  expect(lines.filter((line) => line.includes('TCPEdge/a'))).toEqual([
    '~ TCPEdge/a  (edgtcp_1)   update: description',
    '~ TCPEdge/a  (edgtcp_1)   update, see above: hostports',
  ]);
});

test('counts many fields', () => {
  const differences = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => createDifference(`metadata.${name}`));
  const changes = [createLiveChange('TCPEdge/a', 'update', { id: 'edgtcp_1', differences })];
  expect(renderPlanText(createPlan({ changes }), COMPACT)).toContain('metadata.d, metadata.e and 2 more\n');
});

test('shows each difference of a comparison on one line', async () => {
  await expect(renderDriftText(DRIFT, COMPACT)).toMatchFileSnapshot('goldens/drift-compact.txt');
});

test('colours dangers and warnings in their line, clipped or not', () => {
  const change = createLiveChange('TCPEdge/a', 'update', {
    id: 'edgtcp_1',
    differences: [createDifference('description')],
    dangers: [{ group: 'protection', danger: 'unprotected' }],
  });
  const warning = { code: 'lockout', severity: 'warning', message: 'may cut it', isOfChange: true } as const;
  const plan = createPlan({ changes: [change], diagnostics: [{ ...warning, address: 'TCPEdge/a' }] });
  const paint = createPainter(true);
  const render = (width: number) => renderPlanText(plan, { ...COMPACT, width, color: true });
  expect(render(0)).toContain(
    `update: ${paint('error', '! protection: will no longer be protected')}; ${paint('warning', 'warning[lockout]: may cut it')} (description)`,
  );
  expect(render(50)).toContain(`update: ${paint('error', '! protection: w…')}\n`);
  expect(renderDriftText(DRIFT, { ...COMPACT, color: true })).toContain(
    `${paint('error', '! access: is no longer restricted: ip_restriction')} (description changed at the service)`,
  );
});

test('takes one row of the terminal for a line, and colour changes nothing else', () => {
  for (const width of [30, 60, 100]) {
    const look = { ...COMPACT, width };
    for (const render of [
      (color: boolean) => renderPlanText(EVERYTHING, { ...look, color }),
      (color: boolean) => renderDriftText(DRIFT, { ...look, color }),
    ]) {
      const lines = render(false).split('\n');
      for (const line of lines.filter((one) => /^[-+~±»«≈?✗] /.test(one)))
        expect(countColumns(line)).toBeLessThanOrEqual(width);
      expect(stripVTControlCharacters(render(true))).toBe(render(false));
    }
  }
});
