import type { Situation } from './account.ts';

/** Situations to begin with, made of the examples of the repository. */

export interface Example {
  readonly title: string;
  readonly hint: string;
  /** The file that is opened. */
  readonly opens: string;
  readonly files: Situation['files'];
  /** The manifests that were applied before. */
  readonly before?: Situation['files'];
  /** Fields of the first live resource of a kind that a user then changed by hand. */
  readonly edit?: { readonly kind: string; readonly fields: Readonly<Record<string, unknown>> };
}

/** Faults to choose, as `edgewise serve --faults` takes them. Each happens once in an apply. */
export const FAULTS: Readonly<Record<string, { readonly title: string; readonly rules: string }>> = {
  none: { title: 'No fault', rules: '[]' },
  lost: {
    title: 'The answer to the first creation is lost',
    rules: '[{ on: "POST *", nth: 1, fault: reset, when: after }]',
  },
  slow: { title: '429: too many requests', rules: '[{ on: "* *", nth: 2, fault: throttle, retry_after: 1 }]' },
  error: {
    title: '500 after the first write took effect',
    rules:
      '[{ on: "POST *", nth: 1, fault: status, code: 500, when: after }, { on: "PATCH *", nth: 1, fault: status, code: 500, when: after }]',
  },
};

const TEXTS: Readonly<Record<string, string>> = import.meta.glob(
  '../{quickstart/*,everything/*,policies/edges-are-restricted}.yaml',
  {
    query: '?raw',
    import: 'default',
    eager: true,
  },
);

function take(folder: string, change = (text: string, _file: string): string => text): Situation['files'] {
  return Object.entries(TEXTS).flatMap(([path, text]) => {
    if (!path.includes(`/${folder}/`)) return [];
    const file = path.slice(path.lastIndexOf('/') + 1);
    return [{ file, text: change(text.replace(/^# yaml-language-server.*\n/, ''), file) }];
  });
}

const QUICKSTART = take('quickstart');
const POLICY = { file: 'edges-are-restricted.yaml', text: TEXTS['../policies/edges-are-restricted.yaml'] ?? '' };

export const EXAMPLES: Readonly<Record<string, Example>> = {
  quickstart: {
    title: 'Quickstart: three new resources',
    opens: 'postgres.yaml',
    hint: 'Nothing is live yet, so the plan creates everything. Press Apply, then change a value in a manifest.',
    files: QUICKSTART,
  },
  everything: {
    title: 'Every kind of resource',
    opens: 'postgres.yaml',
    hint: 'Every kind, with every field that it has. HTTPS edges and routes exist already: edgewise only manages their modules.',
    // A page has no files: neither certificates to read nor a folder for tokens.
    files: take('everything', (text) => text.replace(/^ +ca_file: .*\n/m, '')),
  },
  weights: {
    title: 'Weights: move traffic',
    opens: 'postgres-pool.yaml',
    hint: 'The live pool sends 90 of 100 connections to blue. The manifest now says 50: that takes one request, and no other resource changes.',
    before: QUICKSTART,
    files: take('quickstart', (text) =>
      text.replace('External/blue: 90', 'External/blue: 50').replace('green: 10', 'green: 50'),
    ),
  },
  replace: {
    title: 'A replace: a field that cannot be changed',
    opens: 'dashboard.yaml',
    hint: 'The type of a restriction is fixed when it is created. A new one is created first, then the old one is deleted.',
    before: QUICKSTART,
    files: take('quickstart', (text) => text.replace('type: dashboard', 'type: api')),
  },
  drift: {
    title: 'Drift: a user changed the live edge',
    opens: 'postgres.yaml',
    hint: 'The manifests are unchanged, but a user changed the port of the live edge. The plan reverts this drift. That is a danger: users of the new port lose it.',
    before: QUICKSTART,
    edit: { kind: 'TCPEdge', fields: { hostports: ['1.tcp.example.net:20999'] } },
    files: QUICKSTART,
  },
  'hand-over': {
    title: 'A hand-over: another stack takes it all over',
    opens: 'postgres.yaml',
    hint: 'A mark on each resource names the stack that owns it. These resources belong to the stack quickstart, and the stack data takes them over: only the marks change.',
    before: QUICKSTART,
    files: take('quickstart', (text, file) => {
      if (file === 'edgewise.yaml') return text.replace('name: quickstart', 'name: data');
      if (file.startsWith('external')) return text;
      const name = file.replace('.yaml', '');
      return `${text.trimEnd()}\nlifecycle:\n  renamed_from: { stack: quickstart, name: ${name} }\n`;
    }),
  },
  policy: {
    title: 'A policy that refuses',
    opens: 'edges-are-restricted.yaml',
    hint: 'The edge lost its IP restriction, so everybody could connect. The plan shows that danger, and the policy edges-are-restricted.yaml refuses the plan: it cannot be applied.',
    before: QUICKSTART,
    files: [
      ...take('quickstart', (text) => text.replace(/ {2}ip_restriction:[\s\S]*$/, '')),
      { ...POLICY, text: POLICY.text.replace(/^# yaml-language-server.*\n/, '') },
    ],
  },
};
