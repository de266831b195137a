import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import type { DriftedChange } from '../../src/model/drift.ts';
import type { Place } from '../../src/model/place.ts';
import type { Report } from '../../src/report/report.ts';
import { readJunit, validateSarif } from './documents.ts';
import { renderGithubReport, renderJunitReport, renderSarifReport } from './render.ts';
import { createChange, createDifference, createLiveChange, createPlan, PLAIN } from './sample-plans.ts';
import { createDrift, createDriftedChange } from './sample-reports.ts';
import { MIXED } from './sample-results.ts';

function createPlace(file: string, line: number, column: number): Place {
  return { file, line, column };
}

const UNKNOWN: Diagnostic = {
  code: 'bad-field',
  severity: 'error',
  message: 'TCPEdge/a: spec.hostport is not a known field',
  remedy: 'Did you mean `hostports`?',
  address: 'TCPEdge/a',
  place: createPlace('my edges/a,1.yaml', 7, 3),
};
const TWICE: Diagnostic = {
  code: 'duplicate-claim',
  severity: 'error',
  message: 'TCPEdge/b is described twice',
  address: 'TCPEdge/b',
  place: createPlace('b.yaml', 4, 9),
  related: [{ message: 'first described here', place: createPlace('a.yaml', 2, 1) }],
};
const WARNING: Diagnostic = { code: 'mark-invalid', severity: 'warning', message: 'The mark cannot be read: 100%' };

function toValidation(...diagnostics: readonly Diagnostic[]): Report {
  const addresses = ['TCPEdge/a', 'TCPEdge/fine'];
  return { about: 'validation', command: 'validate', validation: { files: 1, resources: 2, diagnostics, addresses } };
}

const PLAN: Report = {
  about: 'plan',
  plan: createPlan({
    changes: [
      createLiveChange('TCPEdge/gone', 'delete', { id: 'edgtcp_1', reason: 'no longer in the manifests' }),
      createLiveChange('AgentIngress/moved', 'replace', { id: 'agin_1' }),
      createLiveChange('TCPEdge/a', 'update', {
        id: 'edgtcp_2',
        differences: [createDifference('description', { origin: 'drift' }), createDifference('hostports')],
      }),
      createChange('TCPEdge/new', 'create'),
    ],
    diagnostics: [WARNING],
  }),
  blocking: [
    { rule: 'protect', message: 'TCPEdge/gone is protected.', remedy: 'Allow it.', addresses: ['TCPEdge/gone'] },
  ],
};

function toDriftReport(...changes: readonly DriftedChange[]): Report {
  return { about: 'drift', drift: createDrift(changes, { kinds: ['TCPEdge'] }) };
}

const DRIFT = toDriftReport(
  createDriftedChange('a', 'in-sync'),
  createDriftedChange('b', 'drifted', { differences: [createDifference('description', { origin: 'drift' })] }),
);

const FAILURE: Report = { about: 'failure', failure: { command: 'plan', error: { message: 'No.', remedy: 'Wait.' } } };

const locate = (address?: string) =>
  address === 'AgentIngress/moved' || address === 'TCPEdge/a' ? createPlace('m.yaml', 3, 1) : undefined;

describe('github', () => {
  it('puts each diagnostic at its line, errors first and the sum last', () => {
    expect(renderGithubReport(toValidation(WARNING, UNKNOWN), PLAIN)).toMatchInlineSnapshot(`
      "::error file=my edges/a%2C1.yaml,line=7,col=3,title=edgewise%3A bad-field::TCPEdge/a: spec.hostport is not a known field%0ADid you mean \`hostports\`?
      ::warning title=edgewise%3A mark-invalid::The mark cannot be read: 100%25
      ::notice title=edgewise::✗ The manifests are invalid: 1 error
      "
    `);
  });

  it('warns of deletes and replaces at the line of a manifest', () => {
    expect(renderGithubReport(PLAN, { ...PLAIN, locate })).toMatchInlineSnapshot(`
      "::error title=edgewise%3A protect::TCPEdge/gone is protected.%0AAllow it.
      ::warning title=edgewise%3A mark-invalid::The mark cannot be read: 100%25
      ::warning title=edgewise%3A delete::TCPEdge/gone (edgtcp_1) will be deleted: no longer in the manifests
      ::warning file=m.yaml,line=3,col=1,title=edgewise%3A replace::AgentIngress/moved (agin_1) will be replaced
      ::notice file=m.yaml,line=3,col=1,title=edgewise%3A drift::TCPEdge/a: description changed at the service; the apply sets the values of the manifest
      ::notice title=edgewise::⛔ refused by 1 safety rule · ⚠ 1 delete, 1 replace · 1 update · 1 create
      "
    `);
  });

  it('puts dangers after what happens to their resource, and has those of a resource that stays as it is', () => {
    const dangers = [{ group: 'traffic', danger: 'target-changed', path: 'hostports' }] as const;
    const changes = [
      createLiveChange('TCPEdge/kept', 'no-op', { id: 'edgtcp_1', dangers }),
      createLiveChange('TCPEdge/next', 'update', { id: 'edgtcp_2', dangers }),
      createLiveChange('TCPEdge/gone', 'delete', { id: 'edgtcp_3', dangers }),
    ];
    const lines = renderGithubReport({ about: 'plan', plan: createPlan({ changes }), blocking: [] }, PLAIN).split('\n');
    expect(lines.map((line) => /title=edgewise%3A (\S+?)::(\S+)/.exec(line)?.slice(1)).filter(Boolean)).toEqual([
      ['danger', 'TCPEdge/kept'],
      ['danger', 'TCPEdge/next'],
      ['delete', 'TCPEdge/gone'],
      ['danger', 'TCPEdge/gone'],
    ]);
  });

  it('names files from the root of the repository', () => {
    const toRepositoryPath = (file: string) => `deploy/${file}`;
    expect(renderGithubReport(toValidation(UNKNOWN), { ...PLAIN, toRepositoryPath })).toContain(
      'file=deploy/my edges/a%2C1.yaml,',
    );
  });

  it('leaves room for the sum among the notices', () => {
    const changes = Array.from({ length: 12 }, (_, index) =>
      createLiveChange(`TCPEdge/e${index}`, 'update', {
        id: `edgtcp_${index}`,
        differences: [createDifference('description', { origin: 'drift' })],
      }),
    );
    const lines = renderGithubReport({ about: 'plan', plan: createPlan({ changes }), blocking: [] }, PLAIN).split('\n');
    expect(lines.filter((line) => line.startsWith('::notice'))).toHaveLength(10);
    expect(lines.at(-2)).toContain('3 notices left out');
  });

  it('reports failed writes', () => {
    const lines = renderGithubReport({ about: 'apply', plan: createPlan(), result: MIXED }, PLAIN).split('\n');
    expect(lines[0]).toContain('::error title=edgewise%3A write-failed::update TCPEdge/postgres: 409 CONFLICT');
  });
});

describe('sarif', () => {
  const read = (report: Report, more = {}) =>
    JSON.parse(renderSarifReport(report, { ...PLAIN, version: '1.2.3', ...more }));
  const [plan, drift, failure] = [PLAN, DRIFT, FAILURE];

  it.each(Object.entries({ plan, drift, failure, validation: toValidation(UNKNOWN, TWICE, WARNING) }))(
    'of a %s conforms to the schema of SARIF 2.1.0',
    (_, report) => {
      expect(validateSarif(read(report))).toEqual([]);
    },
  );

  it('has a rule for each code, a place and the related places', () => {
    const [run] = read(toValidation(UNKNOWN, TWICE)).runs;
    expect(run.tool.driver.rules.map(({ id }: { readonly id: string }) => id)).toEqual([
      'bad-field',
      'duplicate-claim',
    ]);
    expect(run.results[0]).toMatchObject({
      ruleId: 'bad-field',
      ruleIndex: 0,
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'my%20edges/a%2C1.yaml' },
            region: { startLine: 7, startColumn: 3 },
          },
        },
      ],
    });
    expect(run.results[1].relatedLocations).toMatchObject([{ id: 1, message: { text: 'first described here' } }]);
  });

  it('recognises a result if lines are inserted before it, and tells two alike apart', () => {
    const list = (...diagnostics: readonly Diagnostic[]) =>
      read(toValidation(...diagnostics)).runs[0].results.map(
        ({ partialFingerprints }: { readonly partialFingerprints: unknown }) => partialFingerprints,
      );
    const moved = { ...UNKNOWN, place: createPlace('my edges/a,1.yaml', 70, 3) };
    expect(list(moved)).toEqual(list(UNKNOWN));
    const [first, second] = list(UNKNOWN, moved);
    expect(first).not.toEqual(second);
  });

  it('has each result in a place, that of the Stack if it has none', () => {
    const stack = createPlace('stack.yaml', 1, 1);
    const [run] = read(toValidation(WARNING), { locate: () => stack }).runs;
    expect(run.results[0].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: 'stack.yaml' },
      region: { startLine: 1, startColumn: 1 },
    });
    const [alone] = read(toValidation(WARNING)).runs;
    expect(alone.results[0].locations).toHaveLength(1);
  });

  it('points into the source file of a rendered manifest', () => {
    const place = { ...createPlace('<stdin>', 40, 3), origin: 'base/edge.yaml' };
    const [run] = read(toValidation({ ...UNKNOWN, place })).runs;
    expect(run.results[0].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: 'base/edge.yaml' },
      region: { startLine: 1, startColumn: 1 },
    });
  });

  it('describes its rules in full', () => {
    const describeRule = (id: string) => (id === 'bad-field' ? { meaning: 'M.', remedy: 'R.' } : undefined);
    const [run] = read(toValidation(UNKNOWN, WARNING), { describeRule }).runs;
    expect(run.tool.driver.rules).toMatchObject([
      {
        id: 'bad-field',
        fullDescription: { text: 'M.' },
        help: { text: 'R.\nSee: edgewise explain bad-field' },
      },
      { id: 'mark-invalid', name: 'MarkInvalid', fullDescription: { text: expect.stringMatching(/./) } },
    ]);
  });

  it('has safety rules and dangers among its results', () => {
    const rules = read(PLAN).runs[0].results.map(({ ruleId }: { readonly ruleId: string }) => ruleId);
    expect(rules).toEqual(['protect', 'mark-invalid', 'delete', 'replace', 'drift']);
  });

  it.each([
    [0, true],
    [1, false],
    [2, true],
    [3, true],
    [4, false],
    [5, true],
    [6, false],
    [70, false],
    [130, false],
  ])('states for exit code %i whether the run succeeded: %s', (exitCode, succeeded) => {
    const [run] = read(PLAN, { exitCode }).runs;
    expect(run.invocations).toMatchObject([{ executionSuccessful: succeeded, exitCode }]);
  });

  it.each([1, 3, 5])('states for exit code %i that a run without a result failed', (exitCode) => {
    const [run] = read(FAILURE, { exitCode }).runs;
    expect(run.invocations).toMatchObject([{ executionSuccessful: false, exitCode }]);
  });

  it('reports a failure without a place as a notification', () => {
    const [run] = read(FAILURE, { exitCode: 4 }).runs;
    expect(run.results).toEqual([]);
    expect(run.invocations).toEqual([
      {
        executionSuccessful: false,
        exitCode: 4,
        toolExecutionNotifications: [{ level: 'error', message: { text: 'No.\nWait.' } }],
      },
    ]);
  });
});

describe('junit', () => {
  it('fails a case for each diagnostic, and passes one for each valid resource', () => {
    expect(renderJunitReport(toValidation(UNKNOWN, WARNING), PLAIN)).toMatchInlineSnapshot(`
      "<?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="edgewise" tests="3" failures="2" errors="0" skipped="0">
        <testsuite name="TCPEdge" tests="2" failures="1" errors="0" skipped="0">
          <testcase classname="edgewise.TCPEdge" name="TCPEdge/a: bad-field" time="0">
            <failure message="TCPEdge/a: spec.hostport is not a known field" type="error">TCPEdge/a: spec.hostport is not a known field&#10;my edges/a,1.yaml:7:3&#10;Did you mean \`hostports\`?</failure>
          </testcase>
          <testcase classname="edgewise.TCPEdge" name="TCPEdge/fine" time="0"/>
        </testsuite>
        <testsuite name="edgewise" tests="1" failures="1" errors="0" skipped="0">
          <testcase classname="edgewise.edgewise" name="run: mark-invalid" time="0">
            <failure message="The mark cannot be read: 100%" type="warning">The mark cannot be read: 100%</failure>
          </testcase>
        </testsuite>
      </testsuites>
      "
    `);
  });

  it('fails a case for each drifted resource', () => {
    expect(readJunit(renderJunitReport(DRIFT, PLAIN))).toMatchObject({
      counts: [
        { tests: 2, failures: 1, errors: 0, skipped: 0 },
        { tests: 2, failures: 1, errors: 0, skipped: 0 },
      ],
      names: ['TCPEdge/b: drift', 'TCPEdge/a'],
    });
  });

  it('fails no case for the changes of a plan', () => {
    const { names } = readJunit(renderJunitReport(PLAN, PLAIN));
    expect(names).toEqual([
      'AgentIngress/moved',
      'TCPEdge/gone: protect',
      'TCPEdge/a: drift',
      'TCPEdge/new',
      'run: mark-invalid',
    ]);
  });

  it('tells failed from skipped writes, and has an error for an incomplete command', () => {
    const [applied] = readJunit(renderJunitReport({ about: 'apply', plan: createPlan(), result: MIXED }, PLAIN)).counts;
    expect(applied).toMatchObject({ failures: 3, skipped: 3, errors: 0 });
    expect(readJunit(renderJunitReport(FAILURE, PLAIN)).counts[0]).toMatchObject({ tests: 1, errors: 1 });
  });

  it('replaces characters that XML forbids', () => {
    const hostile = { ...UNKNOWN, message: '\u0000]]><![CDATA[\ufffe\ud800 &amp; "' };
    expect(readJunit(renderJunitReport(toValidation(hostile), PLAIN)).counts[0]?.failures).toBe(1);
  });
});
