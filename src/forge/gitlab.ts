import { Gitlab } from '@gitbeaker/rest';
import type { Forge, Post } from './forge.ts';

/** Where a project is, and with which right. */
export interface GitLabOptions {
  /** `https://gitlab.com`. */
  readonly host: string;
  readonly project: string;
  readonly token: string;
  /** Of the merge request, in its project; absent: there is none, and only issues can be written. */
  readonly number: number | undefined;
}

/** Notes on merge requests, and issues, at GitLab. */
export function createGitLab({ host, project, token, number }: GitLabOptions): Forge {
  const gitlab = new Gitlab({ host, token });
  const iid = number ?? 0;
  const toNote = (note: { readonly id: number; readonly body: string }): Post => ({
    id: note.id,
    body: note.body,
    url: `${host}/projects/${project}/merge_requests/${iid}#note_${note.id}`,
  });
  return {
    place: number === undefined ? `project ${project}` : `merge request ${number} of project ${project}`,
    listComments: async () => {
      const own = await gitlab.Users.showCurrentUser();
      const notes = await gitlab.MergeRequestNotes.all(project, iid, { sort: 'asc', orderBy: 'created_at' });
      return notes.filter(({ author, system }) => author.id === own.id && !system).map(toNote);
    },
    createComment: async (body) => toNote(await gitlab.MergeRequestNotes.create(project, iid, body)),
    updateComment: async ({ id }, body) => toNote(await gitlab.MergeRequestNotes.edit(project, iid, id, { body })),
    listOpenIssues: async () => {
      const own = await gitlab.Users.showCurrentUser();
      const issues = await gitlab.Issues.all({ projectId: project, state: 'opened', authorId: own.id, sort: 'asc' });
      return issues.map(toIssue);
    },
    createIssue: async (title, body) => toIssue(await gitlab.Issues.create(project, title, { description: body })),
    updateIssue: async ({ id }, body) => toIssue(await gitlab.Issues.edit(project, id, { description: body })),
    closeIssue: async ({ id }, body) =>
      toIssue(await gitlab.Issues.edit(project, id, { description: body, stateEvent: 'close' })),
  };
}

/** The merge request that brought a commit; `undefined`: none did. */
export async function findMergeRequest(
  { host, project, token }: Omit<GitLabOptions, 'number'>,
  sha: string,
): Promise<number | undefined> {
  const gitlab = new Gitlab({ host, token });
  const requests = await gitlab.Commits.allMergeRequests(project, sha);
  return (requests.find(({ state }) => state === 'merged') ?? requests[0])?.iid;
}

function toIssue(issue: {
  readonly iid: number;
  readonly description?: string | null;
  readonly web_url: string;
}): Post {
  return { id: issue.iid, body: issue.description ?? '', url: issue.web_url };
}
