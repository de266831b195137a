import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../examples/try/account.ts';
import { EXAMPLES } from '../../examples/try/examples.ts';
import { guide } from '../../examples/try/guide.ts';
import { FACE, MARK } from '../../src/report/html/face.ts';
import { STYLE } from '../../src/report/html/style.ts';

/** What the page says in each of its states, and the face that it shares with the review page. */

const PLAN: Outcome = {
  about: 'plan',
  ...{ html: '', sentence: '', isFailure: false, refusal: '', needsConsent: false },
  ...{ diagnostics: [], account: { resources: {} } as Outcome['account'], stack: 's', dangers: 0, writes: 1 },
  changes: [{ action: 'update', address: 'TCPEdge/postgres', id: 'e', fields: [] }],
};
const EMPTY: Partial<Outcome> = { changes: [], writes: 0, refusal: 'There is nothing to apply.' };
const MISTAKE: Partial<Outcome> = {
  about: 'failure',
  isFailure: true,
  diagnostics: [
    { code: 'unknown-kind', severity: 'error', message: 'm', place: { file: 'a.yaml', line: 2, column: 7 } },
  ] as unknown as Outcome['diagnostics'],
};

describe('the guide', () => {
  it.each<readonly [state: string, example: string, outcome: Partial<Outcome>, said: string]>([
    ['a danger is planned', 'mistake', { dangers: 1 }, 'Type true over false'],
    ['the danger is gone', 'mistake', EMPTY, 'The danger is gone'],
    ['the manifests are broken', 'mistake', MISTAKE, 'There is no plan, because of line 2 of a.yaml'],
    ['the danger is applied', 'mistake', { about: 'apply' }, 'everyone can connect to postgres now'],
    ['an apply failed', 'mistake', { about: 'apply', isFailure: true }, 'The apply stopped half-way'],
    ['drift is shown', 'drift', { about: 'drift' }, 'Drift is what was changed by hand'],
    ['the plan needs consent', 'traffic', { needsConsent: true, refusal: 'no' }, 'tick “Allow these deletes”'],
    ['its deletes are allowed', 'traffic', { needsConsent: true }, 'You allow these deletes. Press Apply'],
    ['a rule refuses the plan', 'create', { refusal: 'no', changes: [] }, 'A safety rule refuses this plan'],
    ['the old credential is due', 'rotation', {}, 'deletes the old credential'],
  ])('says what is true if %s', (state, example, outcome, said) => {
    const hasApplied = outcome.about === 'apply' || state.includes('old credential');
    expect(guide(EXAMPLES[example], { ...PLAN, ...outcome }, hasApplied)?.say).toContain(said);
  });

  it.each(Object.keys(EXAMPLES))('never says "Press Apply" of %s while Apply is off', (name) => {
    const off = [MISTAKE, { ...EMPTY }, { about: 'apply' }, { about: 'drift' }, { refusal: 'no', dangers: 1 }] as const;
    for (const outcome of off)
      for (const hasApplied of [false, true]) {
        const { say = '' } = guide(EXAMPLES[name], { ...PLAN, ...outcome }, hasApplied) ?? {};
        expect(say).not.toContain('Press Apply');
      }
  });

  it('ends when the user goes on after an apply', () => {
    for (const name of ['mistake', 'traffic', 'drift', 'create'])
      expect(guide(EXAMPLES[name], PLAN, true)).toBeUndefined();
  });

  it('fits on one line, and leads only to examples that exist', () => {
    for (const { steps, applied, next, sentence } of Object.values(EXAMPLES)) {
      for (const text of [...steps.map(({ say }) => say), applied]) expect(text.length, text).toBeLessThanOrEqual(115);
      for (const name of [...steps.map((step) => step.next), next])
        if (name !== undefined) expect(EXAMPLES).toHaveProperty(name);
      expect(sentence).toMatch(/^[A-Z].*\.$/);
    }
  });
});

describe('the face of the pages', () => {
  const files = ['parts', 'style'].map((name) => readFileSync(`examples/try/${name}.css`, 'utf8')).join('\n');

  it('is one: both take their colours and typefaces from one place', () => {
    expect(STYLE.startsWith(FACE)).toBe(true);
    for (const own of [files, STYLE.slice(FACE.length)])
      expect(
        own
          .match(/(?<!&)#[\da-f]{3,8}\b(?![^{]*\{)|light-dark\(|@font-face|url\(/g)
          ?.filter((found) => found !== '#fff') ?? [],
      ).toEqual([]);
    expect(FACE).not.toContain('@font-face');
    expect(MARK).toContain('<title>Edgewise</title>');
  });

  it('has its spacing on a grid of a quarter rem, with half a step on a line of text', () => {
    const spaces = `${files}${STYLE}`.matchAll(/(?:padding|margin|gap)(?:-[a-z]+)*:\s*([^;}]+)/g);
    const lengths = Array.from(spaces, ([, value = '']) => value.match(/[\d.]+(?=rem)/g) ?? []).flat();
    expect(lengths.length).toBeGreaterThan(100);
    expect(lengths.filter((length) => (Number(length) / 0.125) % 1 !== 0)).toEqual([]);
  });

  it('has one animation, for what an apply has changed, and none for users who want no motion', () => {
    expect(files.match(/animation: (?!none)|transition:/g)).toEqual(['animation: ']);
    expect(files).toMatch(/prefers-reduced-motion: reduce\) \{\s*\.moved/);
  });
});
