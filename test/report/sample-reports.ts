import type { Address } from '../../src/model/address.ts';
import type { Action } from '../../src/model/change.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import type { Drift, DriftedChange, DriftState } from '../../src/model/drift.ts';
import type { Excerpts } from '../../src/model/excerpts.ts';
import type { Plan } from '../../src/model/plan.ts';
import { toWriteId, type WriteId } from '../../src/model/write.ts';
import { comparePlans } from '../../src/plan/compare/compare-plans.ts';
import type { Report } from '../../src/report/report.ts';
import {
  createChange,
  createDifference,
  createLiveChange,
  createPlan,
  createWrite,
  EVERYTHING,
  toCreateIds,
  toNormal,
} from './sample-plans.ts';
import { createApplyResult, MIXED } from './sample-results.ts';

/** One report of each sort, for tests of every format. */

/** A mistake in a manifest, with a related position. */
export const MISTAKE: Diagnostic = {
  code: 'duplicate-claim',
  severity: 'error',
  message: 'TCPEdge/postgres is described twice',
  remedy: 'Remove one of them:\n  git rm edges/old.yaml',
  address: 'TCPEdge/postgres',
  place: { file: 'edges/postgres.yaml', line: 4, column: 9 },
  related: [
    {
      message: 'first described here',
      place: { file: 'edges/old.yaml', line: 2, column: 1 },
    },
  ],
};

/** The lines of the manifests with that mistake. */
export const EXCERPTS: Excerpts = {
  render: ({ file }) =>
    file === 'edges/old.yaml'
      ? '2 | kind: TCPEdge\n  | ^'
      : '3 | metadata:\n4 |   name: postgres\n  |         ^^^^^^^^',
  renderCorrected: () => '',
};

/** A comparison with these resources. */
export function createDrift(changes: readonly DriftedChange[], parts: Partial<Drift> = {}): Drift {
  const { stack, baseUrl, targets, externals, diagnostics, violations, requests } = createPlan();
  const made = { at: '2026-03-01T12:00:00Z' };
  const read = { ...requests, read: 8 };
  const known = { stack, baseUrl, made, targets, externals, diagnostics, violations, requests: read };
  return { ...known, changes, kinds: ['TCPEdge', 'WeightedBackend'], unowned: [], ...parts };
}

/** A live edge in a state. */
export function createDriftedChange(
  name: string,
  state: DriftState,
  parts: Partial<DriftedChange> = {},
): DriftedChange {
  return { ...createLiveChange(`TCPEdge/${name}`, ACTIONS[state], { id: `edgtcp_${name}` }), state, ...parts };
}

const ACTIONS: Readonly<Record<DriftState, Action>> = {
  'in-sync': 'no-op',
  drifted: 'update',
  pending: 'update',
  'drifted-and-pending': 'update',
  differs: 'update',
  missing: 'create',
  unowned: 'adopt',
  'to-prune': 'delete',
};

/** A comparison with a resource in every state. */
export const DRIFT: Drift = createDrift(
  [
    createDriftedChange('a', 'drifted', {
      differences: [createDifference('description', { from: 'by hand', to: 'Postgres', origin: 'drift' })],
      driftDangers: [{ group: 'access', danger: 'restriction-removed', path: 'ip_restriction' }],
    }),
    createDriftedChange('b', 'drifted-and-pending', {
      differences: [createDifference('description', { from: 'by hand', to: 'new', origin: 'both' })],
    }),
    createDriftedChange('c', 'pending', { differences: [createDifference('metadata.team', { from: 'a', to: 'b' })] }),
    createDriftedChange('d', 'to-prune', { reason: 'no longer in the manifests' }),
    createDriftedChange('e', 'in-sync'),
    { ...createChange('WeightedBackend/pool', 'create'), state: 'missing' },
    createDriftedChange('f', 'drifted'),
    createDriftedChange('g', 'unowned', { reason: 'it bears no mark' }),
  ],
  {
    unowned: [
      { kind: 'TCPEdge', id: 'edgtcp_x', description: '' },
      { kind: 'TCPEdge', id: 'edgtcp_y', description: '', stack: 'staging' },
    ],
  },
);

/** One report of each sort, by name. */
export const REPORTS: Readonly<Record<string, Report>> = {
  plan: { about: 'plan', plan: EVERYTHING, blocking: EVERYTHING.violations },
  apply: { about: 'apply', plan: EVERYTHING, result: MIXED },
  comparison: {
    about: 'comparison',
    command: 'apply',
    comparison: comparePlans(createPlan({ changes: EVERYTHING.changes.slice(0, 4) }), EVERYTHING),
    names: { before: 'approved.json', after: 'The plan' },
  },
  applied: { about: 'apply', plan: createPlan(), result: createApplyResult([]) },
  drift: { about: 'drift', drift: DRIFT },
  validation: {
    about: 'validation',
    command: 'validate',
    validation: { files: 2, resources: 3, diagnostics: [MISTAKE] },
  },
  failure: {
    about: 'failure',
    failure: { command: 'plan', error: { message: 'The service did not answer.', remedy: 'Try again later.' } },
  },
};

/** Texts that formats may read as syntax. */
export const HOSTILE = [
  '<script>document.title = "owned"; alert(1)</script>',
  '</script><script>alert(2)</script>',
  '<img src=x onerror="alert(3)">',
  '"><svg onload=alert(4)>',
  "' onfocus=alert(5) autofocus tabindex=1 x='",
  '</details></section></main><h1>Nothing to delete</h1>',
  '</title></style></text></svg><!-- --!> <![CDATA[ ]]>',
  'javascript:alert(6)',
  '{{alert(7)}} `@team` | #123 ```\n# x',
  '\u001b[2J\u202eevil\u2066\u200b\u0000',
  'endless'.repeat(60),
] as const;

/** A plan with a hostile text in every possible place. */
export function createHostilePlan(): Plan {
  const all = HOSTILE.join(' ');
  const changes = HOSTILE.flatMap((text, index) => [
    createLiveChange(`TCPEdge/e${index}`, 'update', {
      id: text,
      reason: text,
      notes: [text],
      differences: [
        createDifference('description', { from: text, to: `${text} ${all}` }),
        createDifference(`metadata[${JSON.stringify(text)}]`, { from: text, to: `${text}\n${all}` }),
        createDifference(text, { to: { [text]: text } }),
      ],
    }),
    { ...createChange(`TCPEdge/${text}`, 'create'), kind: text },
    createChange(`TCPEdge/n${index}`, 'create', { desired: toNormal('TCPEdge/n', { description: text }) }),
  ]);
  return createPlan({
    stack: all,
    baseUrl: all,
    targets: [...HOSTILE],
    changes,
    writes: [
      createWrite('create', 'TCPEdge/first', { reason: all }),
      ...HOSTILE.map((text, index) =>
        createWrite('update', `TCPEdge/${text}${index}`, {
          // Ids are checked when they are read.
          resourceId: `edgtcp_${index}`,
          reason: text,
          dependsOn: toCreateIds('TCPEdge/first'),
        }),
      ),
    ],
    diagnostics: [{ ...MISTAKE, severity: 'warning', message: all, remedy: HOSTILE.join('\n'), address: all }],
  });
}

function listFirst([address]: readonly Address[]): readonly WriteId[] {
  return address === undefined ? [] : [toWriteId({ purpose: 'update', address })];
}

/** A plan of many changes that depend on each other in groups of four. */
export function createLargePlan(size: number): Plan {
  const names = Array.from({ length: size }, (_, index) => `TCPEdge/edge-${index}` as const);
  return createPlan({
    changes: names.map((address, index) =>
      createLiveChange(address, 'update', {
        id: `edgtcp_${index}`,
        differences: [
          createDifference('description', { from: `edge ${index}`, to: `Edge number ${index} of the data team` }),
          createDifference('metadata.team', { from: 'data', to: 'platform' }),
          createDifference('hostports', { from: [`1.tcp.example.net:${index}`], to: [`2.tcp.example.net:${index}`] }),
        ],
      }),
    ),
    writes: names.map((address, index) =>
      createWrite('update', address, {
        resourceId: `edgtcp_${index}`,
        dependsOn: listFirst(names.slice(index - (index % 4), index)),
      }),
    ),
  });
}
