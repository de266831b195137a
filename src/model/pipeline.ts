/** The CI job that created a plan, for links in reports. */
export interface CiJobLinks {
  readonly commit?: string;
  /** URL of the commit's page. */
  readonly commitUrl?: string;
  /** URL of the page of the run. */
  readonly runUrl?: string;
  /** The beginning of the URL of every file at the commit. The rest of the URL is the file's path in the repository. */
  readonly filesUrl?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the environment of a GitHub or GitLab job. Other systems can set `EDGEWISE_COMMIT`. */
export function readCiJobLinks(env: Environment): CiJobLinks {
  const commit = findCommit(env);
  const found = {
    commit,
    commitUrl: findPageUrl(env, commit && { github: `commit/${commit}`, gitlab: `-/commit/${commit}` }),
    runUrl: env['CI_JOB_URL'] || findPageUrl(env, findRunPage(env['GITHUB_RUN_ID'])),
    filesUrl: findPageUrl(env, commit && { github: `blob/${commit}/`, gitlab: `-/blob/${commit}/` }),
  };
  const known = Object.entries(found).filter(([name, value]) => name === 'commit' || isSafeUrl(value));
  return Object.fromEntries(known.filter(([, value]) => value !== undefined));
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

/**
 * The runner of a CI job reads the job's log, and executes lines that look like commands. GitHub's runner executes
 * `::name …::data` at the start of a line, after optional white space, and `##[name …]data` anywhere in a line (source:
 * ActionCommand.cs of actions/runner). GitLab's executes `section_start:TIME:name` and `section_end:…` (source:
 * `build_trace_section_regex`). Our output contains untrusted text, so one character at the start of each such command
 * is escaped as in JSON: inside JSON the value stays the same, and everywhere else the escape is visible.
 */

/** Matches white space within a line, as GitHub's runner defines it. */
const SPACE = '(?:[^\\S\\r\\n]|\\u0085)*';
const LINE_COMMAND = new RegExp(`(^|[\\r\\n])(${SPACE}:):`, 'g');
const ANYWHERE = /##\[/g;
const SECTION = /(section_(?:start|end)):/g;

/** Escapes the commands that a runner would execute if each line of the text were a line of the log. Idempotent. */
export function escapeJobCommands(text: string): string {
  return text.replace(LINE_COMMAND, '$1$2\\u003a').replace(ANYWHERE, '##\\u005b').replace(SECTION, '$1\\u003a');
}

/** How many characters of an unfinished line are kept until more text arrives: enough for the start of any command. */
const KEPT_LENGTH = 'section_start:'.length;
const MAYBE_LINE_COMMAND = new RegExp(`^${SPACE}:?$`);

/** Returns a function that escapes job commands in a text, part by part, even if a command is split between parts. */
export function createJobCommandEscaper(): (part: string) => string {
  let before = '';
  return (part) => {
    // Treat each part as the start of a line too, because another stream may write a line break between two parts.
    const alone = escapeJobCommands(part);
    const whole = escapeJobCommands(before + alone);
    const unfinished = (before + alone).split(/[\r\n]/).at(-1) ?? '';
    const shown = whole.slice(before.length);
    before = MAYBE_LINE_COMMAND.test(unfinished)
      ? `\n${unfinished}`.slice(-1000)
      : `x${unfinished.slice(-KEPT_LENGTH)}`;
    return shown;
  };
}

/** Whether the runner of a CI job reads the output. */
export function isInCiJob(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['GITHUB_ACTIONS'] === 'true' || env['GITLAB_CI'] === 'true';
}
