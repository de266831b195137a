import { omitUndefined } from './json.ts';

/** The CI job that created a plan, for links in reports. */
export interface CiJobLinks {
  readonly commit?: string;
  /** URL of the commit's page. */
  readonly commitUrl?: string;
  /** URL of the page of the run. */
  readonly runUrl?: string;
  /** The beginning of the URL of every file at the commit. The rest of the URL is the file's path in the repository. */
  readonly filesUrl?: string;
  /** The run of the pipeline. Unlike `runUrl`, another attempt is another run. */
  readonly run?: string;
}

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the environment of a GitHub or GitLab job. Other systems can set `EDGEWISE_COMMIT`. */
export function readCiJobLinks(env: Environment): CiJobLinks {
  const commit = findCommit(env);
  const found = {
    commit,
    commitUrl: findPageUrl(env, commit && { github: `commit/${commit}`, gitlab: `-/commit/${commit}` }),
    runUrl: env['CI_JOB_URL'] || findPageUrl(env, findRunPage(env['GITHUB_RUN_ID'])),
    filesUrl: findPageUrl(env, commit && { github: `blob/${commit}/`, gitlab: `-/blob/${commit}/` }),
    run: findCiRun(env),
  };
  const plain = ['commit', 'run'];
  const known = Object.entries(found).filter(([name, value]) => plain.includes(name) || isSafeUrl(value));
  return omitUndefined(Object.fromEntries(known));
}

/**
 * The variable with the id of a run, for each system: GitHub (and Gitea), GitLab, Azure, Buildkite, CircleCI, Bitbucket,
 * Jenkins, Drone. A build of Jenkins has a tag that is unique on its server.
 */
const RUN_VARIABLES = [
  'GITHUB_RUN_ID',
  'CI_PIPELINE_ID',
  'BUILD_BUILDID',
  'BUILDKITE_BUILD_ID',
  'CIRCLE_WORKFLOW_ID',
  'BITBUCKET_PIPELINE_UUID',
  'BUILD_TAG',
  'DRONE_BUILD_NUMBER',
];

/** Returns the id of the run, and of its attempt at GitHub. `undefined` outside of a CI job of a known system. */
function findCiRun(env: Environment): string | undefined {
  const name = RUN_VARIABLES.find((variable) => (env[variable] ?? '') !== '');
  if (name === undefined) return undefined;
  const attempt = name === 'GITHUB_RUN_ID' ? (env['GITHUB_RUN_ATTEMPT'] ?? '') : '';
  // A comment of HTML ends at `-->`.
  const text = `${name}=${env[name]}${attempt === '' ? '' : `/${attempt}`}`;
  return text.replace(/[^\w.:=/]/g, (character) => encodeURIComponent(character).replace('-', '%2D'));
}

/**
 * The variable with the branch into which a pull request is to be merged, for each system: GitHub (and Gitea), GitLab,
 * Azure, Buildkite, Bitbucket, Jenkins. Only runs of pull requests have it.
 */
const TARGET_VARIABLES = [
  'GITHUB_BASE_REF',
  'CI_MERGE_REQUEST_TARGET_BRANCH_NAME',
  'SYSTEM_PULLREQUEST_TARGETBRANCH',
  'BUILDKITE_PULL_REQUEST_BASE_BRANCH',
  'BITBUCKET_PR_DESTINATION_BRANCH',
  'CHANGE_TARGET',
];

/** Returns the branch into which a pull request is to be merged. `undefined` outside of a run of a pull request. */
export function findTargetBranch(env: Environment): string | undefined {
  const name = TARGET_VARIABLES.find((variable) => (env[variable] ?? '') !== '');
  return name === undefined ? undefined : env[name]?.replace(/^refs\/heads\//, '');
}

/** The run that made a report, and when. */
interface ReportRun {
  readonly run: string;
  readonly at: string;
}

/** Renders the line of a Markdown report that says which run made it. It is not shown. Empty outside of a CI job. */
export function renderRunLine({ run }: CiJobLinks, at: Date | undefined): string {
  if (run === undefined || at === undefined) return '';
  return `<!-- edgewise:run ${run} ${at.toISOString()} -->\n`;
}

const RUN_LINE = /^(<!-- edgewise:[^\n]*-->\n)<!-- edgewise:run (\S+) (\S+) -->\n/;

/** Splits the line of `renderRunLine`, which is the second line, from the other lines of a report. */
export function splitRunLine(text: string): { readonly text: string; readonly made: ReportRun | undefined } {
  const [line, marker = '', run = '', at = ''] = RUN_LINE.exec(text) ?? [];
  if (line === undefined) return { text, made: undefined };
  return { text: marker + text.slice(line.length), made: { run, at } };
}

/** A run of a pipeline lasts at most 35 days, at GitHub. */
const MAX_RUN_MS = 35 * 24 * 60 * 60 * 1000;
/** Clocks of runners and of their server may differ by this much. */
const MAX_SKEW_MS = 10 * 60 * 1000;

/**
 * Returns why a report is not of the run of this CI job, such as `was written by another run`. `undefined` if it is, or
 * outside of a CI job.
 */
export function findOtherRun(made: ReportRun | undefined, env: Environment, now: Date): string | undefined {
  const run = findCiRun(env);
  if (run === undefined) return undefined;
  if (made === undefined) return 'does not say that this run wrote it';
  if (made.run !== run) return `was written by another run (${made.run})`;
  const at = Date.parse(made.at);
  const start = Date.parse(env['CI_PIPELINE_CREATED_AT'] ?? '');
  const earliest = Number.isNaN(start) ? now.getTime() - MAX_RUN_MS : start - MAX_SKEW_MS;
  return at >= earliest && at <= now.getTime() + MAX_SKEW_MS ? undefined : `was written at ${made.at}, not in this run`;
}

/**
 * Describes the CI job in a few words. The mark contains this text, so that other runs can show which job wrote a
 * resource. `undefined` outside of a CI job, or if the text is too long for the mark.
 */
export function describePipeline({ commit, runUrl }: CiJobLinks): string | undefined {
  const parts = [
    ...(commit === undefined ? [] : [`commit ${commit.slice(0, 12)}`]),
    ...(runUrl === undefined ? [] : [runUrl]),
  ];
  const text = parts.join(', ');
  return text === '' || text.length > MAX_DESCRIPTION ? undefined : text;
}

/** A commit and the URL of a run usually have about 90 characters. The space in a mark is limited. */
const MAX_DESCRIPTION = 200;

/** Prefers `EDGEWISE_COMMIT`: in pull requests, `GITHUB_SHA` is a merge commit that was never pushed, so links fail. */
function findCommit({ EDGEWISE_COMMIT: own, GITHUB_SHA: github, CI_COMMIT_SHA: gitlab }: Environment) {
  return [own, github, gitlab].find((text) => text !== undefined && /^[0-9a-f]{7,64}$/.test(text));
}

interface Pages {
  readonly github: string;
  readonly gitlab?: string;
}

function findRunPage(id: string | undefined): Pages | undefined {
  return id !== undefined && /^\d+$/.test(id) ? { github: `actions/runs/${id}` } : undefined;
}

function findPageUrl(env: Environment, pages: Pages | '' | undefined): string | undefined {
  if (pages === undefined || pages === '') return undefined;
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, CI_PROJECT_URL: project } = env;
  if (server && repository) return `${server}/${repository}/${pages.github}`;
  return project && pages.gitlab ? `${project}/${pages.gitlab}` : undefined;
}

/** Whether a URL is safe in a link without escaping. */
function isSafeUrl(url: string | undefined): boolean {
  return url !== undefined && /^https?:\/\/[\w.:/@%~+-]+$/.test(url);
}
