import type { Situation } from './account.ts';

/** Situations to begin with, made of the examples of the repository. */

/** One of them: what was applied before, what somebody then changed by hand, and what the manifests say now. */
export interface Example {
  readonly title: string;
  /** What to look at. */
  readonly hint: string;
  readonly files: Situation['files'];
  readonly before?: Situation['files'];
  /** Fields that somebody changed by hand of the first resource of a kind. */
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

const TEXTS: Readonly<Record<string, string>> = import.meta.glob('../{quickstart,everything,policies}/*.yaml', {
  query: '?raw',
  import: 'default',
  eager: true,
});

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
    hint: 'Nothing is live yet, so the plan creates everything. Apply it, then change a value on the left.',
    files: QUICKSTART,
  },
  everything: {
    title: 'Every kind of resource',
    hint: 'Every kind, with every field it has.',
    // A page has no files: neither certificates to read nor a folder for tokens.
    files: take('everything', (text) => text.replace(/^ +ca_file: .*\n/m, '')),
  },
  weights: {
    title: 'Weights: move traffic',
    hint: 'The pool is live with 90 to 10. The manifest now says 50 to 50: one request, and no other resource is touched.',
    before: QUICKSTART,
    files: take('quickstart', (text) =>
      text.replace('External/blue: 90', 'External/blue: 50').replace('green: 10', 'green: 50'),
    ),
  },
  replace: {
    title: 'A replace: a field that cannot be changed',
    hint: 'The type of a restriction is fixed when it is created. A new one is created first, then the old one is deleted.',
    before: QUICKSTART,
    files: take('quickstart', (text) => text.replace('type: dashboard', 'type: api')),
  },
  drift: {
    title: 'Drift: somebody changed the live edge',
    hint: 'Drift is a live value that differs from the manifests though nobody changed these. Applying the plan reverts it.',
    before: QUICKSTART,
    edit: { kind: 'TCPEdge', fields: { hostports: ['1.tcp.example.net:20999'] } },
    files: QUICKSTART,
  },
  'hand-over': {
    title: 'A hand-over: another stack takes it all over',
    hint: 'Every resource belongs to the stack quickstart. The stack data takes them over: marks change, and nothing else.',
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
    hint: 'A rule of your own says that no edge is open to everybody. The edge lost its restriction, which is a danger, and the rule refuses it.',
    before: QUICKSTART,
    files: [
      ...take('quickstart', (text) => text.replace(/ {2}ip_restriction:[\s\S]*$/, '')),
      { ...POLICY, text: POLICY.text.replace(/^# yaml-language-server.*\n/, '') },
    ],
  },
};
