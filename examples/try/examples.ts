import type { Outcome, Situation } from './account.ts';

/** Situations to begin with, made of the examples of the repository, and what the guide says in each of their states. */

/** What a step of an example depends on. */
export interface Moment extends Pick<Outcome, 'about' | 'changes' | 'dangers'> {
  /** Whether the user has applied a plan in this example. */
  readonly hasApplied: boolean;
  /** Whether a safety rule keeps the plan from being applied. */
  readonly isRefused: boolean;
}

/** One line for the user: what is seen, and what to do. */
interface Step {
  readonly when: (moment: Moment) => boolean;
  readonly say: string;
  /** The key of the example to go on with. */
  readonly next?: string;
}

export interface Example {
  readonly title: string;
  /** What it is about, on its card. */
  readonly sentence: string;
  /** What the guide says of a plan. The first step that fits counts; if none does, there is nothing to say. */
  readonly steps: readonly Step[];
  /** What the guide says after an apply. */
  readonly applied: string;
  /** The key of the example to go on with after an apply. */
  readonly next?: string;
  /** A text that the user is to type over, behind another text in a file. */
  readonly edit?: { readonly file: string; readonly after: string; readonly from: string; readonly to: string };
  /** The file that is opened. */
  readonly opens: string;
  readonly files: Situation['files'];
  /** The manifests that were applied before. */
  readonly before?: Situation['files'];
  /** Fields of the first live resource of a kind that were then changed by hand. */
  readonly byHand?: { readonly kind: string; readonly fields: Readonly<Record<string, unknown>> };
  /** Hours since then. */
  readonly hours?: number;
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

const toText = (text: string): string => text.replace(/^# yaml-language-server.*\n/, '');

/** The files of a folder, all externals in one. */
function take(folder: string, change = (text: string, _file: string): string => text): Situation['files'] {
  const files = new Map<string, string>();
  for (const [path, text] of Object.entries(TEXTS)) {
    if (!path.includes(`/${folder}/`)) continue;
    const file = path.slice(path.lastIndexOf('/') + 1).replace(/^external-.*/, 'externals.yaml');
    const before = files.get(file);
    files.set(file, `${before === undefined ? '' : `${before}---\n`}${change(toText(text), file)}`);
  }
  return Array.from(files, ([file, text]) => ({ file, text }));
}

/** Its edge says that its restriction is in force, so that one word switches it off. */
const QUICKSTART = take('quickstart', (text) =>
  text
    .replace('  ip_restriction:\n', '  ip_restriction:\n    enabled: true\n')
    .replace(/ # a reference.*/, '')
    .replace('  metadata:\n    team: data\n', ''),
);
const changeEach = (from: string | RegExp, to: string) =>
  QUICKSTART.map(({ file, text }) => ({ file, text: text.replace(from, to) }));
const OPENED = changeEach('enabled: true', 'enabled: false');
const POLICY = { file: 'policy.yaml', text: toText(TEXTS['../policies/edges-are-restricted.yaml'] ?? '') };

const STACK = (name: string): string => `apiVersion: edgewise/v1\nkind: Stack\nmetadata:\n  name: ${name}\n`;
const AGENT = [
  { file: 'edgewise.yaml', text: STACK('agents') },
  {
    file: 'build-agent.yaml',
    text: toText(TEXTS['../everything/build-agent.yaml'] ?? '')
      .replace(/^ +owner_id: .*\n/m, '')
      .replace(/ # .*/g, ''),
  },
];

const POOL = QUICKSTART.find(({ file }) => file === 'postgres-pool.yaml')?.text ?? '';
const EDGE = QUICKSTART.find(({ file }) => file === 'postgres.yaml')?.text ?? '';
const EXTERNALS = QUICKSTART.find(({ file }) => file === 'externals.yaml')?.text ?? '';
const PLATFORM = [
  { file: 'edgewise.yaml', text: STACK('platform') },
  { file: 'externals.yaml', text: EXTERNALS },
  { file: 'postgres-pool.yaml', text: POOL },
  { file: 'postgres.yaml', text: EDGE },
];
const DATA = [
  { file: 'edgewise.yaml', text: STACK('data') },
  {
    file: 'externals.yaml',
    text: `${EXTERNALS}---\n# A resource of another stack: edgewise finds it by its mark.\napiVersion: edgewise/v1\nkind: External\nmetadata:\n  name: pool\nspec:\n  stack: platform\n  resource: WeightedBackend/postgres-pool\n`,
  },
  {
    file: 'postgres.yaml',
    text: `${EDGE.replace('WeightedBackend/postgres-pool', 'External/pool').trimEnd()}\nlifecycle:\n  renamed_from: { stack: platform, name: postgres }\n`,
  },
];

const isPlan = ({ about, hasApplied, isRefused }: Moment): boolean => about === 'plan' && !hasApplied && !isRefused;
const hasDangers = (moment: Moment): boolean => isPlan(moment) && moment.dangers > 0;
const hasChanges = (moment: Moment): boolean => isPlan(moment) && moment.changes.length > 0;
const isEmpty = (moment: Moment): boolean => isPlan(moment) && moment.changes.length === 0;

/** The example that is open at the start. */
export const START = 'mistake';

export const EXAMPLES: Readonly<Record<string, Example>> = {
  mistake: {
    title: 'An edge opened by mistake',
    sentence: 'One wrong word, and everyone could connect.',
    opens: 'postgres.yaml',
    edit: { file: 'postgres.yaml', after: 'enabled: ', from: 'false', to: 'true' },
    steps: [
      {
        when: hasDangers,
        say: 'This plan would let everyone connect to postgres. Type true over false in the manifest, and the danger goes.',
      },
      { when: isEmpty, say: 'The danger is gone: nothing would change any more.', next: 'traffic' },
    ],
    applied: 'Applied: everyone can connect to postgres now. Type true over false, and apply again.',
    before: QUICKSTART,
    files: OPENED,
  },
  traffic: {
    title: 'Move traffic',
    sentence: 'Half of the connections go to another backend, with one request.',
    opens: 'postgres-pool.yaml',
    edit: { file: 'postgres-pool.yaml', after: 'External/blue: ', from: '90', to: '50' },
    steps: [
      { when: isEmpty, say: 'The account matches the manifests. Type 50 over 90: the plan answers as you type.' },
      { when: hasChanges, say: 'One request moves the traffic. Press Apply, and see it in the account.' },
    ],
    applied: 'Applied: the pool in the account has the new weights.',
    next: 'drift',
    before: QUICKSTART,
    files: QUICKSTART,
  },
  drift: {
    title: 'Drift by hand',
    sentence: 'Someone changed a port at the service, and no manifest says so.',
    opens: 'postgres.yaml',
    edit: { file: 'postgres.yaml', after: '1.tcp.example.net:', from: '20001', to: '20999' },
    steps: [
      {
        when: hasDangers,
        say: 'Someone changed the live port by hand. Press Apply to set it back, or type 20999 over 20001 to keep it.',
      },
      { when: isEmpty, say: 'The manifest says now what is live, so nothing would change.', next: 'rotation' },
    ],
    applied: 'Applied: the port is that of the manifest again.',
    next: 'rotation',
    before: QUICKSTART,
    byHand: { kind: 'TCPEdge', fields: { hostports: ['1.tcp.example.net:20999'] } },
    files: QUICKSTART,
  },
  rotation: {
    title: 'A rotation',
    sentence: 'A token is 91 days old: the new one works before the old one ends.',
    opens: 'build-agent.yaml',
    steps: [
      {
        when: hasChanges,
        say: 'The credential is 91 days old, so the plan replaces it and keeps the old one for a day. Press Apply.',
      },
      {
        when: ({ about, hasApplied, isRefused, changes }) =>
          about === 'plan' && hasApplied && !isRefused && changes.length > 0,
        say: 'The day is over: this plan deletes the old credential. Apply it.',
        next: 'two-stacks',
      },
    ],
    applied: 'Applied. Press +1 day under the account: the next plan deletes the old credential.',
    before: AGENT,
    files: AGENT,
    hours: 91 * 24,
  },
  'two-stacks': {
    title: 'Two stacks',
    sentence: 'One stack uses a pool of another one, and takes an edge over.',
    opens: 'postgres.yaml',
    steps: [
      {
        when: hasChanges,
        say: 'Stack data takes postgres over from stack platform: only the mark changes, and traffic flows. Press Apply.',
      },
    ],
    applied: 'Applied: the edge belongs to stack data, and the pool still to stack platform.',
    next: 'policy',
    before: PLATFORM,
    files: DATA,
  },
  policy: {
    title: 'A policy that refuses',
    sentence: 'A rule of your own stops a plan before anything is written.',
    opens: 'postgres.yaml',
    edit: { file: 'postgres.yaml', after: 'enabled: ', from: 'false', to: 'true' },
    steps: [
      {
        when: ({ about, isRefused }) => about === 'plan' && isRefused,
        say: 'policy.yaml refuses an edge that is open to everyone, so Apply is off. Type true over false.',
      },
      { when: isEmpty, say: 'The policy has nothing to refuse any more.', next: 'replace' },
    ],
    applied: 'Applied, with the consent of the policy.',
    before: QUICKSTART,
    files: [...OPENED, POLICY],
  },
  replace: {
    title: 'A field that cannot change',
    sentence: 'The new resource is created before the old one is deleted.',
    opens: 'dashboard.yaml',
    steps: [
      {
        when: hasChanges,
        say: 'The type of a restriction cannot be changed, so the plan creates a new one first. Press Apply.',
      },
    ],
    applied: 'Applied: the new restriction is there, and the old one is gone.',
    before: QUICKSTART,
    files: changeEach('type: dashboard', 'type: api'),
  },
  create: {
    title: 'A first apply',
    sentence: 'Nothing is live, and three resources are created.',
    opens: 'postgres.yaml',
    steps: [{ when: hasChanges, say: 'Nothing is live yet. Press Apply, and the account fills.' }],
    applied: 'Applied: three resources are live, each with the mark of this stack.',
    next: 'traffic',
    files: QUICKSTART,
  },
  everything: {
    title: 'Every kind',
    sentence: 'All kinds of resources, with all of their fields.',
    opens: 'postgres.yaml',
    steps: [
      { when: hasChanges, say: 'Every kind with every field. Press Apply, or point at a field to read what it is.' },
    ],
    applied: 'Applied: every kind is live. The tokens here are made up.',
    // A page has no files: neither certificates to read nor a folder for tokens.
    files: take('everything', (text) => text.replace(/^ +ca_file: .*\n/m, '')),
  },
  empty: {
    title: 'Start from nothing',
    sentence: 'An empty file and an empty account.',
    opens: 'manifests.yaml',
    steps: [{ when: hasChanges, say: 'Your first plan. Press Apply, and the account has it.' }],
    applied: 'Applied. Change a manifest, or something in the account, and read the next plan.',
    files: [{ file: 'manifests.yaml', text: '' }],
  },
};

/** What the page writes into an empty file on request. */
export const BEGINNING = `${STACK('shop')}---
apiVersion: edgewise/v1
kind: TCPEdge
metadata:
  name: postgres
spec:
  hostports:
    - 1.tcp.example.net:20001
  backend:
    backend_id: bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt
`;
