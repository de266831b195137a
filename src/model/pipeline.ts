/** What a pipeline says of itself: where what was made in it comes from. */
export interface Pipeline {
  /** The commit that was checked out. */
  readonly commit?: string;
  /** The page of the commit. */
  readonly commitUrl?: string;
  /** The page of the run. */
  readonly runUrl?: string;
  /** What stands before a path of the repository in the address of the page of a file, as it is in the commit. */
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
