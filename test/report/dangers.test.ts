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

it.each(DANGERS)('%o is said on the one line of a resource', (danger, said) => {
  const text = renderPlanText(toPlanView(toPlan(danger)), { ...PLAIN, width: 0, compact: true });
  expect(text).toContain(`~ TCPEdge/postgres  (edgtcp_2a)   update: ${said}\n`);
});

it('what is lost with a replace is said at the forge and in SARIF, and a delete is in both', () => {
  const [replaced, deleted] = [
    { danger: 'replace', loses: ['certificate'], gap: 2 } as const,
    { danger: 'delete' } as const,
  ];
  const plan = makePlan({
    changes: [
      makeLiveChange('TCPEdge/a', 'delete', {
        id: 'edgtcp_2a',
        reason: 'not in the manifests any more',
        dangers: [deleted],
      }),
      makeLiveChange('TCPEdge/b', 'replace', { id: 'edgtcp_2b', dangers: [replaced] }),
    ],
  });
  const lost =
    'it gets a new id and a new value of certificate; the old one is deleted 2 writes before the new one is created';
  const said = [
    'TCPEdge/a (edgtcp_2a) will be deleted: not in the manifests any more',
    `TCPEdge/b (edgtcp_2b) will be replaced: ${lost}`,
  ];
  const { runs } = JSON.parse(renderSarifForm({ about: 'plan', plan, standing: [] }, PLAIN));
  const texts = runs[0].results.map(({ message }: { readonly message: { readonly text: string } }) => message.text);
  expect(texts).toEqual(said);
  const github = renderGithubForm({ about: 'plan', plan, standing: [] }, PLAIN);
  for (const text of said) expect(github).toContain(text);
});
