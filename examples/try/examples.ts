import type { Situation } from './account.ts';

/** Situations to begin with, made of the examples of the repository. */

export interface Example {
  readonly title: string;
  /** What the user sees, or is to do. */
  readonly hint: string;
  /** An edit that the user is to make: the text to replace, and the hint once it is replaced. */
  readonly waiting?: { readonly text: string; readonly advice: string; readonly next: string };
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
    title: 'The response to the first creation is lost',
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
    title: 'Start: move traffic',
    opens: 'postgres-pool.yaml',
    hint: 'Change 90 to 50. The plan updates as you type.',
    waiting: {
      text: '90',
      advice: 'Change this to 50: the plan updates.',
      next: 'The plan shows it: one request moves the traffic. Press Apply, or change more.',
    },
    before: QUICKSTART,
    files: QUICKSTART,
  },
  create: {
    title: 'Create: nothing is live yet',
    opens: 'postgres.yaml',
    hint: 'Nothing is live, so the plan creates all three resources, each after what it refers to. Press Apply.',
    files: QUICKSTART,
  },
  drift: {
    title: 'Drift: someone changed the live edge',
    opens: 'postgres.yaml',
    hint: 'Someone changed the port of the live edge by hand. The plan says so, and sets it back to that of this manifest.',
    before: QUICKSTART,
    edit: { kind: 'TCPEdge', fields: { hostports: ['1.tcp.example.net:20999'] } },
    files: QUICKSTART,
  },
  policy: {
    title: 'A policy that refuses a plan',
    opens: 'edges-are-restricted.yaml',
    hint: 'The edge lost its IP restriction, and this policy refuses that. Give postgres.yaml its restriction back.',
    before: QUICKSTART,
    files: [
      ...take('quickstart', (text) => text.replace(/ {2}ip_restriction:[\s\S]*$/, '')),
      { ...POLICY, text: POLICY.text.replace(/^# yaml-language-server.*\n/, '') },
    ],
  },
  replace: {
    title: 'Replace: an immutable field',
    opens: 'dashboard.yaml',
    hint: 'The type of a restriction cannot be changed. A new one is created first, and then the old one is deleted.',
    before: QUICKSTART,
    files: take('quickstart', (text) => text.replace('type: dashboard', 'type: api')),
  },
  'hand-over': {
    title: 'Hand over to another stack',
    opens: 'postgres.yaml',
    hint: 'These resources belong to the stack quickstart. The stack data takes them over: only their marks change.',
    before: QUICKSTART,
    files: take('quickstart', (text, file) => {
      if (file === 'edgewise.yaml') return text.replace('name: quickstart', 'name: data');
      if (file.startsWith('external')) return text;
      const name = file.replace('.yaml', '');
      return `${text.trimEnd()}\nlifecycle:\n  renamed_from: { stack: quickstart, name: ${name} }\n`;
    }),
  },
  everything: {
    title: 'Every kind of resource',
    opens: 'postgres.yaml',
    hint: 'Every kind, with every field. HTTPS edges and routes exist already: edgewise manages only their modules.',
    // A page has no files: neither certificates to read nor a folder for tokens.
    files: take('everything', (text) => text.replace(/^ +ca_file: .*\n/m, '')),
  },
};
