// node forge.mjs QUESTION: asks GitHub with the token in TOKEN, and prints the answer. Prints nothing if there is none.
//   approved         the run that planned the pull request of this merge group
//   newer            the page of a newer run of this workflow that succeeded on the same branch
//   running FILE     the page of a run of the workflow FILE that has not ended
const {
  GITHUB_API_URL,
  GITHUB_REPOSITORY,
  GITHUB_REF,
  GITHUB_REF_NAME,
  GITHUB_RUN_NUMBER,
  GITHUB_WORKFLOW_REF,
  TOKEN,
} = process.env;
const [, , question, file] = process.argv;

async function get(path) {
  const headers = { authorization: `Bearer ${TOKEN}`, accept: 'application/vnd.github+json' };
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/${path}`, { headers });
  if (response.ok) return response.json();
  throw new Error(`GET ${path}: ${response.status}. The job needs the permission "actions: read".`);
}

/** The newest runs of a workflow, newest first. */
async function listRuns(workflow, query) {
  const search = new URLSearchParams({ per_page: '30', ...query });
  return (await get(`actions/workflows/${encodeURIComponent(workflow)}/runs?${search}`)).workflow_runs;
}

const [, own = ''] = /\/\.github\/workflows\/([^@]+)@/.exec(GITHUB_WORKFLOW_REF ?? '') ?? [];
const questions = {
  approved: async () => {
    const [, number] = /\/pr-(\d+)-[^/]*$/.exec(GITHUB_REF) ?? [];
    if (number === undefined) return undefined;
    const { head } = await get(`pulls/${number}`);
    const [run] = await listRuns(own, { event: 'pull_request', head_sha: head.sha, status: 'success' });
    return run?.id;
  },
  newer: async () => {
    const runs = await listRuns(own, { branch: GITHUB_REF_NAME, status: 'success' });
    return runs.find(({ run_number }) => run_number > Number(GITHUB_RUN_NUMBER))?.html_url;
  },
  running: async () => (await listRuns(file, { status: 'in_progress' }))[0]?.html_url,
};
const answer = await questions[question]();
if (answer !== undefined) process.stdout.write(`${answer}\n`);
