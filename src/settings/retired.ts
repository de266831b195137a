import type { FieldPath } from '../model/state.ts';

/**
 * What was there before 1.0.0 and went: the only place that still knows the words. Ignoring one could do harm: five jobs
 * with a retired variable for a share of the stacks would each apply every stack. So a variable that is set, a field of
 * a document and an option of the command line end the run.
 */
export interface Retired {
  /** Options, such as `--shard`; also values of options, such as `--format json-lines`. */
  readonly flags?: readonly string[];
  readonly commands?: readonly string[];
  readonly variables?: readonly string[];
  /** Paths in documents, by kind: `Stack spec.render`. */
  readonly fields?: readonly string[];
  /** Names of variables in `--env` and EDGEWISE_ENV that this matches. */
  readonly offers?: RegExp;
  /** A sentence that says what to do now. */
  readonly instead: string;
  /** The page that shows it. */
  readonly page: string;
}

export const RETIRED: readonly Retired[] = [
  {
    flags: ['--take-over'],
    instead:
      'Write the former name into the Stack, as metadata: { renamed_from: OLD }, and start edgewise with --allow-take-over OLD.',
    page: 'docs/how-to/ownership.md',
  },
  {
    flags: ['--wait'],
    instead: 'A loop over edgewise get waits for a certificate.',
    page: 'docs/how-to/day-two.md',
  },
  {
    flags: ['--journal'],
    variables: ['EDGEWISE_JOURNAL'],
    instead: 'EDGEWISE_LOG_LEVEL=debug logs a line before and after each request.',
    page: 'docs/how-to/day-two.md',
  },
  {
    flags: ['--destroy-removed', '--from'],
    instead: 'Remove the manifests of the stack first and apply that with --allow-deletes, then remove its Stack.',
    page: 'docs/how-to/remove-a-stack.md',
  },
  {
    flags: ['--render', '--render-with'],
    variables: ['EDGEWISE_RENDER_WITH'],
    fields: ['Stack spec.render', 'Defaults spec.render'],
    instead: 'Render the manifests into a new folder in a step of its own, and plan that folder with -R.',
    page: 'docs/how-to/with-other-tools.md',
  },
  {
    fields: ['Stack spec.owner_label', 'Defaults spec.owner_label'],
    instead: 'The setting is now `team_label`, with the same value.',
    page: 'docs/reference/manifests.md',
  },
  {
    flags: ['--format json-lines', '--report json-lines'],
    instead: '--format json is one document at the end, with the outcome of each write. stderr shows the progress.',
    page: 'docs/reference/reports.md',
  },
  {
    flags: ['--no-delete'],
    instead: 'Set spec.guard to be asked about deletes, and keep a resource with --exclude ADDRESS.',
    page: 'docs/how-to/deletes.md',
  },
  {
    flags: ['--no-revert-drift'],
    instead:
      'Write what is right into the manifests with edgewise accept; leave out a resource that is to wait with --exclude ADDRESS.',
    page: 'docs/how-to/drift.md',
  },
  {
    flags: ['--skip-rejected'],
    instead: 'Leave the change out with --exclude ADDRESS.',
    page: 'docs/how-to/deletes.md',
  },
  {
    fields: ['SSHUserCertificate lifecycle.write_to', 'SSHUserCertificate lifecycle.keep_file'],
    instead:
      'Remove the line. `edgewise get SSHUserCertificate/NAME --format value=certificate` prints the certificate for a file.',
    page: 'docs/how-to/ssh.md',
  },
  {
    flags: ['--shard'],
    commands: ['join'],
    variables: ['EDGEWISE_SHARD', 'EDGEWISE_SHARD_INDEX', 'EDGEWISE_SHARD_TOTAL'],
    instead: 'Each job names its stack with -R and --stack, and has a report of its own.',
    page: 'docs/how-to/stack-jobs.md',
  },
  {
    flags: ['--manifests'],
    instead: 'Name the manifests as paths, and the plan with --approved.',
    page: 'docs/explanation/approvals.md',
  },
  {
    offers: /\*/,
    instead: 'Offer each variable by its full name.',
    page: 'docs/reference/manifests.md',
  },
];

/** Returns what to do instead of a retired option, command or field. */
function findRemedy(isMeant: (retired: Retired) => boolean): string | undefined {
  const found = RETIRED.find(isMeant);
  return found && formatRetiredRemedy(found);
}

export function formatRetiredRemedy({ instead, page }: Retired): string {
  return `${instead} See ${page}.`;
}

export function findRetiredCommandRemedy(word: string): string | undefined {
  return findRemedy(({ commands = [] }) => commands.includes(word));
}

/** `words`: an option without its value, or an option and its value, such as `--report json-lines=FILE`. */
export function findRetiredFlagRemedy(words: string): string | undefined {
  return findRemedy(({ flags = [] }) => flags.some((flag) => words === flag || words.startsWith(`${flag}=`)));
}

/** `path` starts at the document. */
export function findRetiredFieldRemedy(kind: string, path: FieldPath): string | undefined {
  const name = `${kind} ${path.join('.')}`;
  return findRemedy(({ fields = [] }) => fields.includes(name));
}

export function findRetiredOfferRemedy(name: string): string | undefined {
  return findRemedy(({ offers }) => offers?.test(name) === true);
}

/** Finds a retired variable that is set and not empty. */
export function findRetiredVariable(
  env: Readonly<Record<string, string | undefined>>,
): { readonly name: string; readonly retired: Retired } | undefined {
  for (const retired of RETIRED) {
    const name = retired.variables?.find((one) => (env[one] ?? '') !== '');
    if (name !== undefined) return { name, retired };
  }
  return undefined;
}
