/** What a run is made of, from the manifests to the writes. */
const STAGES = [
  'model',
  'files',
  'programs',
  'kinds',
  'settings',
  'schemas',
  'manifest',
  'expressions',
  'access',
  'lint',
  'policy',
  'client',
  'plan',
  'export',
  'accept',
  'apply',
  'server',
  'rehearse',
];

/**
 * Which folder of src may import what. `npm run imports` fails on an import that is not allowed here, type-only ones included.
 * src/cli and src/index.ts may import every folder.
 */
const MAY_IMPORT = {
  model: [],
  files: ['model'],
  programs: ['model', 'files'],
  kinds: ['model'],
  settings: ['model', 'kinds'],
  schemas: ['model', 'kinds', 'settings'],
  manifest: ['model', 'files', 'kinds', 'settings', 'schemas'],
  expressions: ['model', 'kinds'],
  access: ['model', 'kinds', 'expressions'],
  lint: ['model', 'kinds', 'settings', 'manifest', 'expressions', 'access'],
  policy: ['model', 'kinds', 'manifest', 'expressions'],
  client: ['model', 'kinds', 'schemas', 'manifest'],
  plan: ['model', 'kinds', 'settings', 'manifest', 'access'],
  export: ['model', 'kinds', 'schemas', 'manifest'],
  accept: ['model', 'kinds', 'manifest', 'plan', 'export'],
  apply: ['model', 'files', 'programs', 'kinds', 'manifest', 'access', 'client', 'plan'],
  forge: ['model'],
  server: ['model', 'files', 'kinds', 'schemas', 'manifest'],
  rehearse: ['model', 'kinds', 'access', 'client', 'plan', 'apply', 'server'],
  report: ['model', 'kinds'],
  explain: ['model', 'kinds', 'settings', 'schemas', 'manifest', 'report'],
  stack: STAGES.filter((name) => name !== 'rehearse'),
  repository: [...STAGES, 'stack'],
  run: [...STAGES, 'stack', 'repository'],
  cli: [...STAGES, 'report', 'explain', 'forge', 'stack', 'repository', 'run'],
};

/** Which room of src/cli may import which of the others. What stands beside the rooms is for all of them, but for main.ts, program.ts and run.ts, which know them all. */
const CLI_ROOMS = {
  output: [],
  connection: ['output'],
  reconcile: ['output', 'connection'],
  commands: ['output', 'connection', 'reconcile'],
};

/** The one folder that imports each third-party package. */
const HOMES = {
  'fast-json-stable-stringify': 'model',
  re2js: 'kinds',
  sshpk: 'kinds',
  'proper-lockfile': 'files',
  zod: 'schemas',
  leven: 'manifest',
  yaml: 'manifest',
  '@marcbachmann/cel-js': 'expressions',
  'p-limit': 'client',
  undici: 'client',
  '@octokit/plugin-retry': 'forge',
  '@octokit/rest': 'forge',
  'deep-diff': 'kinds',
  hono: 'server',
  msw: 'server',
  commander: 'cli',
  pino: 'cli',
};

/** The files that touch the world outside of the process, besides src/cli. Everything else computes values. */
const EFFECTS = [
  'files/boundary',
  'files/trusted-users',
  'files/real-path',
  'files/worktrees',
  'files/read-input',
  'files/write-file',
  'manifest/load',
  'manifest/load-upward',
  'manifest/source-files',
  'manifest/unread-files',
  'programs/find-program',
  'programs/start-program',
  'apply/token-sinks',
  'apply/run-command',
  'server/listen',
  'server/snapshot-file',
  'stack/open-transport',
  'stack/process-host',
  'explain/page-text',
  'stack/choose-sinks',
  'stack/unused-patterns',
  'repository/commit-files',
  'repository/missing-manifests',
  'repository/read-changes',
];

const EFFECTFUL_MODULES = 'fs|fs/promises|http|https|http2|tls|dgram|dns|child_process|worker_threads|os|readline';

/** A path in node_modules of one of the packages, or of its types. */
function toPackagePath(names) {
  return names.map((name) => `node_modules/(${name}|@types/${name.replace(/^@/, '').replace('/', '__')})/`);
}

const folderRules = Object.entries(MAY_IMPORT).map(([folder, allowed]) => ({
  name: `${folder}-imports-upward`,
  comment: `${folder} may import ${allowed.join(', ') || 'no other folder'}.`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: [folder, ...allowed].map((name) => `^src/${name}/`) },
}));

const roomRules = Object.entries(CLI_ROOMS).map(([room, allowed]) => ({
  name: `cli-${room}-imports-upward`,
  comment: `src/cli/${room} may import ${allowed.join(', ') || 'no other room'} of src/cli.`,
  severity: 'error',
  from: { path: `^src/cli/${room}/` },
  to: {
    path: ['^src/cli/\\w+/', '^src/cli/(main|program|run)[.]ts$'],
    pathNot: [room, ...allowed].map((name) => `^src/cli/${name}/`),
  },
}));

const homeRules = Object.entries(HOMES).map(([name, folder]) => ({
  name: `${name}-has-one-home`,
  comment: `Only src/${folder} imports ${name}.`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/${folder}/` },
  to: { path: toPackagePath([name]) },
}));

/** What every room of src/report may import: what a command has to show, the view of it, and what a document is. */
const SHARED_BY_FORMS = ['^src/report/(report|document)[.]ts$', '^src/report/view/'];

/** The folders of formats. */
const FORMS = '^src/report/(?!view/|documents/)([^/]+)/';

/** The writers of documents. The folder `text` also has what only a terminal shows, and `machine` what programs read. */
const WRITERS =
  '^src/report/((?!view/|documents/|machine/|text/)[^/]+/|text/(write-text|entries|findings|layout)[.]ts)';

const reportRules = [
  {
    name: 'report-forms-apart',
    comment: 'A form imports no other form: what two of them need is shared, and stands in src/report/view.',
    severity: 'error',
    from: { path: FORMS },
    to: { path: '^src/report/', pathNot: ['^src/report/$1/', ...SHARED_BY_FORMS] },
  },
  {
    name: 'writers-know-no-report',
    comment: 'A writer knows blocks, not what they are of: of the view it imports the parts of texts only.',
    severity: 'error',
    from: { path: WRITERS },
    to: { path: '^src/report/view/', pathNot: '/(escape|wording|plan-wording|finding-wording|field-view)[.]ts$' },
  },
  {
    name: 'report-view-knows-no-form',
    comment: 'The view imports no form, and report.ts nothing of the folder.',
    severity: 'error',
    from: { path: SHARED_BY_FORMS },
    to: { path: '^src/report/', pathNot: SHARED_BY_FORMS },
  },
];

/** What the server does for a kind beyond its table, and what a seed says about that. Nothing else knows a kind from another. */
const KNOW_KINDS = ['server/behaviours', 'server/behaviours', 'server/behaviours', 'schemas/seed'];

const tableRule = {
  name: 'kinds-come-from-the-registry',
  comment:
    'Only the files named in KNOW_KINDS know a single kind. Everything else takes kinds from the registry, or what all of them share.',
  severity: 'error',
  from: { path: '^src/', pathNot: ['^src/kinds/tables/', ...KNOW_KINDS.map((file) => `^src/${file}[.]ts$`)] },
  to: { path: '^src/kinds/tables/', pathNot: '^src/kinds/tables/(registry|standard-fields)[.]ts$' },
};

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...folderRules,
    ...roomRules,
    ...homeRules,
    ...reportRules,
    tableRule,
    {
      name: 'package-without-a-home',
      comment: 'Each third-party package has one folder that imports it: say which in HOMES.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: 'node_modules/', pathNot: [...toPackagePath(Object.keys(HOMES)), 'node_modules/@types/node/'] },
    },
    {
      name: 'src-stands-alone',
      comment: 'What is shipped imports nothing outside of src but packages and JSON.',
      severity: 'error',
      from: { path: '^src/' },
      to: { pathNot: ['^src/', 'node_modules/', '[.]json$'], dependencyTypesNot: ['core'], couldNotResolve: false },
    },
    {
      name: 'process-is-a-parameter',
      comment:
        'Only src/cli/program.ts and main.ts, and what a program leaves out, name the process; everything else gets what it needs from its caller.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/(cli/(program|main)|stack/process-host)[.]ts$',
      },
      to: { path: '^process$', dependencyTypes: ['core'] },
    },
    {
      name: 'effects-are-named',
      comment: 'Only the files named in EFFECTS, and src/cli, touch the world outside of the process.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/cli/', ...EFFECTS.map((file) => `^src/${file}[.]ts$`)] },
      to: { path: `^(${EFFECTFUL_MODULES})$`, dependencyTypes: ['core'] },
    },
    {
      name: 'no-circles',
      comment: 'Files that import each other cannot be read one after another.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'An import that leads nowhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    parser: 'swc',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
