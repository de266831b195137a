import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { ApplyEvent, Outcome } from '../../src/model/outcome.ts';
import type { FieldPath } from '../../src/model/state.ts';
import type { Write, WriteId } from '../../src/model/write.ts';
import { createEventLog, createLiveProgress } from '../../src/report/text/progress.ts';
import { renderApplyResultText } from './render.ts';
import { createPlan, createWrite, PLAIN, toCreateIds } from './sample-plans.ts';
import {
  createAppliedOutcome,
  createApplyResult,
  createFailedOutcome,
  createSkippedOutcome,
  MIXED,
} from './sample-results.ts';

const PLAN = createPlan();

function toEnded(result: Outcome, done: number, total: number): ApplyEvent {
  return { event: 'write-ended', result, done, total };
}

test('lists what was applied, failed and skipped, where tokens went and what to do', async () => {
  await expect(renderApplyResultText(PLAN, MIXED, PLAIN)).toMatchFileSnapshot('goldens/apply.txt');
});

test('shows only what was done if all succeeded', () => {
  const result = createApplyResult([
    createAppliedOutcome(createWrite('create', 'TCPEdge/a'), 'edgtcp_2a'),
    createAppliedOutcome(createWrite('delete', 'TCPEdge/b')),
  ]);
  expect(renderApplyResultText(PLAN, result, PLAIN)).toMatchInlineSnapshot(`
    "Applied:
      create TCPEdge/a  edgtcp_2a
      delete TCPEdge/b

    2 writes applied, 0 failed, 0 skipped: stack production on
    https://api.example.com.
    "
  `);
});

test('asks for no second run after an interruption behind the last write', () => {
  const result = createApplyResult([createAppliedOutcome(createWrite('delete', 'TCPEdge/b'))], { interrupted: true });
  expect(renderApplyResultText(PLAN, result, PLAIN)).not.toContain('Next:');
});

test('shows the command that continues after an interruption', () => {
  const result = createApplyResult([createSkippedOutcome(createWrite('delete', 'TCPEdge/b'))], { interrupted: true });
  expect(renderApplyResultText(createPlan({ mode: 'destroy' }), result, PLAIN)).toContain(
    'Next:\n  Run destroy again. It plans only what is left.\n',
  );
});

test('tells a rejected key from a mistake in a manifest', () => {
  const result = createApplyResult([
    createFailedOutcome(createWrite('delete', 'TCPEdge/b'), '401 NO', { isAuthentication: true, status: 401 }),
  ]);
  const text = renderApplyResultText(PLAN, result, { ...PLAIN, width: 0 });
  expect(text).toContain('The service rejected the API key: check it.');
  expect(text).not.toContain('Fix what failed.');
});

test('lists the first resources of a missing permission', () => {
  const refuse = (name: string) =>
    createFailedOutcome(createWrite('delete', `TCPEdge/${name}`), '403 NO', { isAuthentication: true, status: 403 });
  const render = (...names: readonly string[]) =>
    renderApplyResultText(PLAN, createApplyResult(names.map(refuse)), { ...PLAIN, width: 0 });
  expect(render('b')).toContain('  The service does not permit delete TCPEdge/b: get the permission for that');
  expect(render('b')).not.toContain('API key');
  expect(render(...'abcdefg')).toContain('delete TCPEdge/d, delete TCPEdge/e and 2 more: get');
});

test('shows the line of the manifest of a failed write, and the field if the service names it', () => {
  const place = { file: 'edge.yaml', line: 6, column: 5 };
  const excerpts = { render: () => '9 |   hostports: []\n  |     ^', renderCorrected: () => '' };
  const locate = (address?: string, path?: FieldPath) =>
    address === 'TCPEdge/a' ? { ...place, line: path?.[1] === 'hostports' ? 9 : 1 } : undefined;
  const render = (failed: Outcome) =>
    renderApplyResultText(PLAN, createApplyResult([failed]), { ...PLAIN, width: 0, locate, excerpts }).split('\n\n')[0];
  expect(render(createFailedOutcome(createWrite('create', 'TCPEdge/a'), 'no'))).toMatch(
    /\n {4}no\n {4}--> edge.yaml:1:5$/,
  );
  expect(render(createFailedOutcome(createWrite('create', 'TCPEdge/a'), 'no', { field: 'hostports' }))).toContain(
    '\n    --> edge.yaml:9:5\n    9 |   hostports: []\n      |     ^',
  );
  expect(render(createFailedOutcome(createWrite('delete', 'TCPEdge/gone'), 'no'))).toMatch(/\n {4}no$/);
});

test('shows a write that waited for one outside of the plan', () => {
  const result = createApplyResult([
    createSkippedOutcome(createWrite('delete', 'TCPEdge/b'), ...toCreateIds('TCPEdge/x')),
  ]);
  expect(renderApplyResultText(PLAN, result, PLAIN)).toContain('depends on create TCPEdge/x, which is not in the plan');
});

test('changes only colour with colour', () => {
  const colored = renderApplyResultText(PLAN, MIXED, { ...PLAIN, color: true });
  expect(colored).toContain('\u001b[');
  expect(stripVTControlCharacters(colored)).toBe(renderApplyResultText(PLAN, MIXED, PLAIN));
});

test('prints one line for each ended write to a pipe', () => {
  const events: readonly ApplyEvent[] = [
    { event: 'write-started', write: createWrite('create', 'TCPEdge/a') },
    ...MIXED.outcomes.slice(0, 6).map((result, index) => toEnded(result, index + 1, 8)),
  ];
  const lines = events.flatMap(createEventLog(PLAIN).take);
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "[1/8] create WeightedBackend/pool … done
    [2/8] create Credential/agent … done
    [3/8] delete TCPEdge/legacy … done
    [4/8] update TCPEdge/postgres … failed: 409 CONFLICT: 1.tcp.example.net:20002 belongs to edgtcp_2xyz already (operation op_2abc)
    [5/8] create TCPEdge/redis … failed, and may have taken effect: the service did not answer in 30 s
    [6/8] delete WeightedBackend/old-pool … skipped: depends on update TCPEdge/postgres, delete TCPEdge/older"
  `);
});

test('shows one line for all writes that an interruption prevented', () => {
  const [a, b, c, d, e, f] = (['a', 'b', 'c', 'd', 'e', 'f'] as const).map((name) =>
    createWrite('create', `TCPEdge/${name}`),
  ) as [Write, Write, Write, Write, Write, Write]; // as many as names
  const outcomes = [
    createAppliedOutcome(a),
    createFailedOutcome(b, 'no'),
    createSkippedOutcome(c),
    createSkippedOutcome(d, c.id),
    createSkippedOutcome(e, d.id, c.id),
    createSkippedOutcome(f, b.id),
  ];
  const log = createEventLog(PLAIN);
  const lines = outcomes.flatMap((one, index) => log.take(toEnded(one, index + 1, 6)));
  expect([...lines, ...log.end()]).toEqual([
    '[1/6] create TCPEdge/a … done',
    '[2/6] create TCPEdge/b … failed: no',
    '[3/6] create TCPEdge/f … skipped: depends on create TCPEdge/b',
    '3 writes were not started, because the run was interrupted.',
  ]);
  const text = renderApplyResultText(PLAN, createApplyResult(outcomes, { interrupted: true }), { ...PLAIN, width: 0 });
  expect(text).toContain(
    'Skipped:\n  create TCPEdge/f\n    depends on create TCPEdge/b, which failed\n  3 writes were not started, because the run was interrupted.\n',
  );
  const live = createLiveProgress({ total: 6, rateLimit: 'none' }, PLAIN);
  const kept = outcomes.flatMap((one, index) => live.apply(toEnded(one, index + 1, 6)));
  expect([...kept, ...live.end()]).toEqual([...lines.slice(1), ...log.end()]);
});

test('shows why a prune is kept, and not that it was not started', () => {
  const write = createWrite('delete', 'TCPEdge/a');
  const message = 'kept in this run: live/web cannot be read, and might take it over';
  const log = createEventLog(PLAIN);
  const lines = log.take(toEnded({ outcome: 'skipped', write, message, waitedFor: [], isKept: true }, 1, 1));
  expect([...lines, ...log.end()]).toEqual([`[1/1] delete TCPEdge/a … skipped: ${message}`]);
});

test('names the only write that an interruption prevented', () => {
  const result = createApplyResult([createSkippedOutcome(createWrite('delete', 'TCPEdge/b'))], { interrupted: true });
  expect(renderApplyResultText(PLAN, result, { ...PLAIN, width: 0 })).toContain(
    'Skipped:\n  delete TCPEdge/b was not started, because the run was interrupted.\n',
  );
});

test('shows a diagnostic of an apply like any other', () => {
  const event: ApplyEvent = {
    event: 'diagnostic',
    diagnostic: { code: 'lockout', severity: 'warning', message: 'x', address: 'IPRestriction/api' },
  };
  expect(createEventLog(PLAIN).take(event)).toEqual(['warning[lockout]: x', '  (IPRestriction/api)']);
});

test('shows live progress on one line: what is done, and the awaited response', () => {
  const progress = createLiveProgress({ total: 4, rateLimit: 'none' }, PLAIN);
  const writes = (['TCPEdge/a', 'TCPEdge/b'] as const).map((address) => createWrite('create', address));
  expect(progress.render(0)).toBe('0 of 4 done');
  for (const write of writes) expect(progress.apply({ event: 'write-started', write })).toEqual([]);
  expect(progress.render(0)).toBe('0 of 4 done, create TCPEdge/a … and 1 more');
  expect(progress.apply(toEnded(createAppliedOutcome(createWrite('create', 'TCPEdge/a')), 1, 4))).toEqual([]);
  expect(progress.render(0)).toBe('1 of 4 done, create TCPEdge/b …');
});

test('shows which writes a rejected write waits for, live and in a pipe', () => {
  const progress = createLiveProgress({ total: 4, rateLimit: 'none' }, { ...PLAIN, width: 0 });
  const write = createWrite('create', 'TCPEdge/new');
  const [removal] = toCreateIds('TCPEdge/old');
  const waiting = (waitsFor: readonly WriteId[], isFirst: boolean) =>
    ({ event: 'write-waiting', write, waitsFor, isFirst, leftMs: 60_000 }) as const;
  progress.apply({ event: 'write-started', write });
  const wait = waiting(removal === undefined ? [] : [removal], true);
  expect(progress.apply(wait)).toEqual([]);
  const said = 'create TCPEdge/new waits until the service has finished create TCPEdge/old';
  expect(progress.render(0)).toBe(`0 of 4 done, ${said}`);
  progress.apply({ event: 'write-started', write: createWrite('create', 'TCPEdge/b') });
  expect(progress.render(0)).toBe(`0 of 4 done, create TCPEdge/b …, ${said}`);
  progress.apply(toEnded(createAppliedOutcome(write), 1, 4));
  expect(progress.render(0)).toBe('1 of 4 done, create TCPEdge/b …');
  const log = createEventLog(PLAIN);
  expect([wait, waiting(wait.waitsFor, false)].flatMap(log.take)).toEqual([
    'create TCPEdge/new … rejected with 409; tried again for up to 1 min 0 s, until the service has finished create TCPEdge/old',
  ]);
  expect(log.take(waiting([], true))).toEqual([expect.stringMatching(/finished writes of another stack$/)]);
});

test('counts down a wait in the live line, and the rest of the time with it', () => {
  const progress = createLiveProgress({ total: 540, rateLimit: '120/60s' }, { ...PLAIN, width: 0 });
  progress.apply({ event: 'write-started', write: createWrite('create', 'TCPEdge/a') });
  progress.wait({ until: 45_000, reason: 'edgewise sends at most 120/60s' });
  const shown = '0 of 540 done, at least';
  expect(progress.render(0)).toBe(`${shown} 4 min 45 s left at 120/60s, waiting 45 s: edgewise sends at most 120/60s`);
  expect(progress.render(1_000)).toBe(
    `${shown} 4 min 44 s left at 120/60s, waiting 44 s: edgewise sends at most 120/60s`,
  );
  expect(progress.render(45_000)).toBe(`${shown} 4 min 0 s left at 120/60s, create TCPEdge/a …`);
});

test('keeps failures above the live line', () => {
  const progress = createLiveProgress({ total: 4, rateLimit: 'none' }, PLAIN);
  expect(progress.apply(toEnded(createFailedOutcome(createWrite('create', 'TCPEdge/b'), '409'), 1, 4))).toEqual([
    '[1/4] create TCPEdge/b … failed: 409',
  ]);
  expect(
    progress.apply(
      toEnded(createSkippedOutcome(createWrite('delete', 'TCPEdge/c'), ...toCreateIds('TCPEdge/b')), 2, 4),
    ),
  ).toEqual(['[2/4] delete TCPEdge/c … skipped: depends on create TCPEdge/b']);
  const diagnostic = { code: 'lockout', severity: 'warning', message: 'x', remedy: 'y' } as const;
  expect(progress.apply({ event: 'diagnostic', diagnostic })).toEqual(['warning[lockout]: x', '  help: y']);
  expect(progress.render(0)).toBe('2 of 4 done, 1 failed, 1 skipped');
});

test('takes one row for the live line', () => {
  const progress = createLiveProgress({ total: 20, rateLimit: 'none' }, { ...PLAIN, width: 24 });
  progress.apply({ event: 'write-started', write: createWrite('create', `TCPEdge/${'x'.repeat(40)}`) });
  expect(progress.render(0)).toBe('0 of 20 done, create TC…');
});

test('shows the least remaining time in the live line', () => {
  const progress = createLiveProgress({ total: 540, rateLimit: '120/60s' }, PLAIN);
  expect(progress.render(0)).toBe('0 of 540 done, at least 4 min 0 s left at 120/60s');
});
