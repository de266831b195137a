import type { Command } from 'commander';
import { toHyphenated } from '../../kinds/kind.ts';
import { SUBMITTED_KINDS } from '../../kinds/tables/registry.ts';
import type { Act } from './act.ts';
import { TOPIC_NAMES } from './help-topics.ts';

/** Says what a command takes and does. It gets the command with its name and summary, and the program that the command belongs to. */
export type Define = (command: Command, act: Act, program: Command) => void;

/** A command as the overview lists it. What else there is of it is loaded when a command line names it. */
export interface CommandEntry {
  readonly name: string;
  /** Another name of it. */
  readonly alias?: string;
  readonly summary: string;
  /** Whenever it runs, it talks to a service. */
  readonly reaches?: true;
  readonly load: () => Promise<Define>;
}

/** A command for each kind that is submitted. */
const SUBMISSIONS: readonly CommandEntry[] = SUBMITTED_KINDS.map((kind) => ({
  name: toHyphenated(kind.name),
  summary: kind.submission.purpose,
  load: async () => (await import('./submission.ts')).defineSubmission(kind),
}));

/** Every command, in the groups and the order in which the overview lists them. */
export const GROUPS: readonly (readonly [heading: string, commands: readonly CommandEntry[]])[] = [
  [
    'Begin and check:',
    [
      {
        name: 'init',
        summary: 'write a new stack: its settings, and an example',
        load: async () => (await import('./init.ts')).defineInit,
      },
      {
        name: 'validate',
        alias: 'lint',
        summary: 'check manifests, and lint them',
        load: async () => (await import('./validate.ts')).defineValidate,
      },
      {
        name: 'test-policy',
        summary: 'run the cases of policies',
        load: async () => (await import('./test-policy.ts')).defineTestPolicy,
      },
      {
        name: 'stacks',
        summary: 'list the stacks below a folder, or those that changed',
        load: async () => (await import('./stacks.ts')).defineStacks,
      },
      {
        name: 'explain',
        summary: 'explain a diagnostic code, a kind, a field or a setting',
        load: async () => (await import('./explain.ts')).defineExplain,
      },
      {
        name: 'schema',
        summary: 'print a JSON Schema of what edgewise reads and writes',
        load: async () => (await import('./schema.ts')).defineSchema,
      },
    ],
  ],
  [
    'Plan and apply:',
    [
      {
        name: 'plan',
        summary: 'show what apply would do',
        reaches: true,
        load: async () => (await import('./plan.ts')).definePlan,
      },
      {
        name: 'show',
        summary: 'show a saved plan',
        load: async () => (await import('./show.ts')).defineShow,
      },
      {
        name: 'diff',
        summary: 'compare two saved plans',
        load: async () => (await import('./diff.ts')).defineDiff,
      },
      {
        name: 'report',
        summary: 'join the results of several runs into one report',
        load: async () => (await import('./report.ts')).defineReport,
      },
      {
        name: 'post',
        summary: 'post a report to GitHub or GitLab, and keep it up to date',
        load: async () => (await import('./post.ts')).definePost,
      },
      {
        name: 'apply',
        summary: 'apply manifests, or a saved plan',
        reaches: true,
        load: async () => (await import('./apply.ts')).defineApply,
      },
      {
        name: 'destroy',
        summary: 'delete everything that the stack owns',
        reaches: true,
        load: async () => (await import('./destroy.ts')).defineDestroy,
      },
    ],
  ],
  [
    'Live with what is there:',
    [
      {
        name: 'get',
        summary: 'show what the stack owns, with what the service computed',
        load: async () => (await import('./get.ts')).defineGet,
      },
      {
        name: 'drift',
        summary: 'show what others changed at the service',
        reaches: true,
        load: async () => (await import('./drift.ts')).defineDrift,
      },
      {
        name: 'export',
        summary: 'write live resources as manifests that adopt them',
        load: async () => (await import('./export.ts')).defineExport,
      },
      {
        name: 'release',
        summary: 'stop managing resources, and leave them as they are',
        load: async () => (await import('./release.ts')).defineRelease,
      },
      ...SUBMISSIONS,
    ],
  ],
  [
    'Besides:',
    [
      {
        name: 'serve',
        summary: 'run the bundled server: the whole API in memory',
        load: async () => (await import('./serve.ts')).defineServe,
      },
      {
        name: 'completion',
        summary: 'print the script that completes words in a shell',
        load: async () => (await import('./completion.ts')).defineCompletion,
      },
      {
        name: 'help',
        summary: `show help of a command, or of ${TOPIC_NAMES.join(', ')}`,
        load: async () => (await import('./help.ts')).defineHelp,
      },
    ],
  ],
];
