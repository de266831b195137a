import { expect, it } from 'vitest';
import { CHANGE_ACTIONS, formatAction } from '../../src/model/change.ts';
import { loadReportRenderer } from '../../src/report/formats.ts';
import { createChange, createPlan, PLAIN } from './sample-plans.ts';

it.each(['text', 'markdown', 'html', 'json'] as const)('%s shows each action of a plan', async (name) => {
  const render = await loadReportRenderer(name);
  for (const action of CHANGE_ACTIONS) {
    const plan = createPlan({ changes: [createChange('TCPEdge/postgres', action)] });
    const shown = render({ about: 'plan', plan, blocking: [] }, PLAIN);
    expect(shown, action).toContain('TCPEdge/postgres');
    expect(shown, action).toContain(name === 'json' ? action : formatAction(action));
  }
});
