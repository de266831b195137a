import { expect, test } from 'vitest';
import type { Drift } from '../../src/model/drift.ts';
import { formatDriftSummary } from '../../src/report/view/drift-wording.ts';
import { renderDriftText, renderGithubReport } from './render.ts';
import { PLAIN } from './sample-plans.ts';
import { createDrift, createDriftedChange } from './sample-reports.ts';

/** A comparison of that many resources without drift. */
function createDriftInSync(number: number): Drift {
  return createDrift(Array.from({ length: number }, (_, index) => createDriftedChange(`edge-${index}`, 'in-sync')));
}

test.each([
  [1, 'No drift: 1 resource is as it should be.'],
  [2, 'No drift: 2 resources are as they should be.'],
])('says in every format that there is no drift in %i resources', (number, sentence) => {
  const drift = createDriftInSync(number);
  expect(formatDriftSummary(drift)).toBe(sentence);
  expect(renderDriftText(drift, PLAIN)).toContain(sentence);
  expect(renderGithubReport({ about: 'drift', drift }, PLAIN)).toContain(`::${sentence.slice(0, -1)}`);
});
