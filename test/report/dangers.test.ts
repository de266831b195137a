import { expect, it } from 'vitest';
import type { Danger } from '../../src/model/danger.ts';
import { renderMarkdownForm } from '../../src/report/markdown/form.ts';
import { renderGithubForm } from '../../src/report/programs/github.ts';
import { renderSarifForm } from '../../src/report/programs/sarif.ts';
import { renderPlanText } from '../../src/report/text/plan.ts';
import { toPlanView } from '../../src/report/view/plan-view.ts';
import { makeLiveChange, makePlan, PLAIN } from './sample-plans.ts';

const DANGERS: readonly (readonly [Danger, string])[] = [
  [{ danger: 'opens', path: 'ip_restriction', how: 'removed' }, 'loses ip_restriction, which kept somebody out'],
  [{ danger: 'opens', path: 'enforced', how: 'disabled' }, 'has enforced disabled, which kept somebody out'],
  [{ danger: 'opens', path: 'acl', how: 'loosened' }, 'lets more in than before: acl'],
  [{ danger: 'opens', path: '', how: 'removed' }, 'keeps nobody out any more'],
  [{ danger: 'unprotects' }, 'is no longer protected'],
  [{ danger: 'token' }, 'gets a new token: whoever uses the old one needs the new one'],
  [{ danger: 'validity', from: '1d', to: '9d' }, 'is valid for longer: 1d → 9d'],
];

function toPlan(danger: Danger) {
  const change = makeLiveChange('TCPEdge/postgres', 'update', { id: 'edgtcp_2a', spec: {}, dangers: [danger] });
  return makePlan({ changes: [change] });
}

it.each(DANGERS)('%o is said in the text of a plan, and first of all in Markdown', (danger, said) => {
  const plan = toPlan(danger);
  expect(renderPlanText(toPlanView(plan), { ...PLAIN, width: 120 })).toContain(`danger: it ${said}`);
  const markdown = renderMarkdownForm({ about: 'plan', plan, standing: [] }, PLAIN);
  const [caution = ''] = /> \[!CAUTION\]\n(?:>.*\n)+/.exec(markdown) ?? [];
  expect(caution.replaceAll('\\', '')).toBe(`> [!CAUTION]\n> - \`TCPEdge/postgres\` ${said}\n`);
});

it.each(DANGERS)('%o is a warning at the forge and in SARIF', (danger, said) => {
  const plan = toPlan(danger);
  expect(renderGithubForm({ about: 'plan', plan, standing: [] }, PLAIN)).toContain(`TCPEdge/postgres ${said}`);
  const { runs } = JSON.parse(renderSarifForm({ about: 'plan', plan, standing: [] }, PLAIN));
  expect(runs[0].results).toContainEqual(expect.objectContaining({ ruleId: 'danger', level: 'warning' }));
});
