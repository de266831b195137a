/** The pipeline in which a plan was made, for reports. */
export interface Pipeline {
  /** The commit that was checked out. */
  readonly commit?: string;
  /** The page of the commit. */
  readonly commitUrl?: string;
  /** The page of the run. */
  readonly runUrl?: string;
  /** The URL prefix of a file's page at the commit; a path of the repository follows. */
  readonly filesUrl?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What the environment of a job at GitHub or GitLab says; of other systems, what EDGEWISE_COMMIT says. */
export function readPipeline(env: Environment): Pipeline {
  const commit = findCommit(env);
  const found = {
    commit,
    commitUrl: toPage(env, commit && { github: `commit/${commit}`, gitlab: `-/commit/${commit}` }),
    runUrl: env['CI_JOB_URL'] || toPage(env, toRunPage(env['GITHUB_RUN_ID'])),
    filesUrl: toPage(env, commit && { github: `blob/${commit}/`, gitlab: `-/blob/${commit}/` }),
  };
  const known = Object.entries(found).filter(([name, value]) => name === 'commit' || isPage(value));
  return Object.fromEntries(known.filter(([, value]) => value !== undefined));
}

/** The pipeline in a few words, for a mark: other runs say by whom something was written. Nothing outside of a pipeline. */
export function describePipeline({ commit, runUrl }: Pipeline): string | undefined {
  const parts = [
    ...(commit === undefined ? [] : [`commit ${commit.slice(0, 12)}`]),
    ...(runUrl === undefined ? [] : [runUrl]),
  ];
  const text = parts.join(', ');
  return text === '' || text.length > MAX_DESCRIPTION ? undefined : text;
}

const MAX_DESCRIPTION = 200;

/** A forge would check out something else than what a pull request changes: the job may say what that is. */
function findCommit({ EDGEWISE_COMMIT: own, GITHUB_SHA: github, CI_COMMIT_SHA: gitlab }: Environment) {
  return [own, github, gitlab].find((text) => text !== undefined && /^[0-9a-f]{7,64}$/.test(text));
}

interface Pages {
  readonly github: string;
  readonly gitlab?: string;
}

function toRunPage(id: string | undefined): Pages | undefined {
  return id !== undefined && /^\d+$/.test(id) ? { github: `actions/runs/${id}` } : undefined;
}

function toPage(env: Environment, pages: Pages | '' | undefined): string | undefined {
  if (pages === undefined || pages === '') return undefined;
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, CI_PROJECT_URL: project } = env;
  if (server && repository) return `${server}/${repository}/${pages.github}`;
  return project && pages.gitlab ? `${project}/${pages.gitlab}` : undefined;
}

/** An address that can stand in a link as it is. */
function isPage(url: string | undefined): boolean {
  return url !== undefined && /^https?:\/\/[\w.:/@%~+-]+$/.test(url);
}

/**
 * Runners of pipelines read the log of a job, and obey what looks like a command. GitHub's obeys `::name …::data` at the start of a line, behind white space,
 * and `##[name …]data` anywhere in one (source: ActionCommand.cs of actions/runner); GitLab's obeys `section_start:TIME:name` and its end (source:
 * `build_trace_section_regex`). Our output contains untrusted texts, so one character of each such beginning is escaped as in JSON: there the value stays the
 * same, and everywhere else the escape is visible.
 */

/** What a runner takes for white space, within a line. */
const SPACE = '(?:[^\\S\\r\\n]|\\u0085)*';
const LINE_COMMAND = new RegExp(`(^|[\\r\\n])(${SPACE}:):`, 'g');
const ANYWHERE = /##\[/g;
const SECTION = /(section_(?:start|end)):/g;

/** The text, in which no runner sees a command. Idempotent. Every line of it may be the first of what a runner reads. */
export function withoutJobCommands(text: string): string {
  return text.replace(LINE_COMMAND, '$1$2\\u003a').replace(ANYWHERE, '##\\u005b').replace(SECTION, '$1\\u003a');
}

/** As many characters of an unfinished line as the beginning of a command may have. */
const KEPT = 'section_start:'.length;
const MAYBE_LINE_COMMAND = new RegExp(`^${SPACE}:?$`);

/** The same for a text that comes in parts, whatever they are: a command may begin in one part and go on in the next. */
export function createJobCommandFilter(): (part: string) => string {
  let before = '';
  return (part) => {
    // Another stream may end the line in between: each part may begin one.
    const alone = withoutJobCommands(part);
    const whole = withoutJobCommands(before + alone);
    const unfinished = (before + alone).split(/[\r\n]/).at(-1) ?? '';
    const shown = whole.slice(before.length);
    before = MAYBE_LINE_COMMAND.test(unfinished) ? `\n${unfinished}`.slice(-1000) : `x${unfinished.slice(-KEPT)}`;
    return shown;
  };
}

/** Whether a runner reads the output. */
export function isReadByRunner(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['GITHUB_ACTIONS'] === 'true' || env['GITLAB_CI'] === 'true';
}
