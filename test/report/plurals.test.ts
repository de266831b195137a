import { expect, test } from 'vitest';
import type { Drift } from '../../src/model/drift.ts';
import { renderGithubReport } from '../../src/report/machine/github.ts';
import { renderDriftText } from '../../src/report/text/drift.ts';
import { createDriftView, formatDriftSummary } from '../../src/report/view/drift-view.ts';
import { PLAIN } from './sample-plans.ts';
import { DRIFT } from './sample-reports.ts';

/** A comparison of so many resources that are as they should be. */
function makeInSync(number: number): Drift {
  const resources = Array.from({ length: number }, (_, index) => ({
    address: `TCPEdge/edge-${index}` as const,
    kind: 'TCPEdge',
    state: 'in-sync' as const,
    id: `edgtcp_${index}`,
    differences: [],
  }));
  return { ...DRIFT, resources, unowned: [], diagnostics: [] };
}

test.each([
  [1, 'No drift: 1 resource is as it should be.'],
  [2, 'No drift: 2 resources are as they should be.'],
])('%i resources without drift are said to be so in every form', (number, sentence) => {
  const drift = makeInSync(number);
  expect(formatDriftSummary(drift)).toBe(sentence);
  expect(renderDriftText(createDriftView(drift), PLAIN)).toContain(sentence);
  expect(renderGithubReport({ about: 'drift', drift }, PLAIN)).toContain(`::${sentence}`);
});

test('one resource differs, and two differ', () => {
  const [first, second] = DRIFT.resources.filter(({ state }) => state !== 'in-sync');
  const summarize = (...resources: Drift['resources']) =>
    renderGithubReport({ about: 'drift', drift: { ...makeInSync(1), resources } }, PLAIN);
  if (first === undefined || second === undefined) throw new Error('The sample has too little drift');
  expect(summarize(first)).toContain('1 of 1 resource differs from the manifests.');
  expect(summarize(first, second)).toContain('2 of 2 resources differ from the manifests.');
});
