import { Command } from 'commander';
import type { Context } from '../context.ts';
import { VERSION } from '../version.ts';
import type { Act } from './act.ts';
import { defineApply } from './apply.ts';
import { defineCompletion } from './completion.ts';
import { defineDestroy } from './destroy.ts';
import { defineDrift } from './drift.ts';
import { defineExplain } from './explain.ts';
import { defineExport } from './export.ts';
import { defineGet } from './get.ts';
import { defineHelp } from './help.ts';
import { styleHelp } from './help-style.ts';
import { defineInit } from './init.ts';
import { addExamples } from './options.ts';
import { definePlan } from './plan.ts';
import { definePost } from './post.ts';
import { defineRelease } from './release.ts';
import { defineSchema } from './schema.ts';
import { defineServe } from './serve.ts';
import { defineShow } from './show.ts';
import { defineStacks } from './stacks.ts';
import { defineSubmissions } from './submission.ts';
import { defineValidate } from './validate.ts';

/** Every command, in the groups and the order in which the overview lists them. */
const GROUPS: readonly (readonly [heading: string, commands: readonly ((program: Command, act: Act) => void)[]])[] = [
  ['Begin and check:', [defineInit, defineValidate, defineStacks, defineExplain, defineSchema]],
  ['Plan and apply:', [definePlan, defineShow, definePost, defineApply, defineDestroy]],
  ['Live with what is there:', [defineGet, defineDrift, defineExport, defineRelease, defineSubmissions]],
  ['Besides:', [defineServe, defineCompletion, defineHelp]],
];

/** The command line, as a program that can be parsed once. */
export function defineProgram(context: Context, act: Act): Command {
  const program = styleHelp(new Command('edgewise'), context)
    .description(
      'Keeps network ingress equal to manifests in git: plan shows what would change, apply does that and nothing else.',
    )
    .usage('COMMAND [options]')
    .helpCommand(false)
    .version(VERSION, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .exitOverride();
  for (const [heading, commands] of GROUPS) {
    program.commandsGroup(heading);
    for (const define of commands) define(program, act);
  }
  return addExamples(program, [
    ['edgewise validate manifests', 'check manifests; no request is sent'],
    ['edgewise plan manifests', 'show what would change; nothing is written'],
    ['edgewise apply manifests', 'plan, show, ask, apply'],
  ]);
}
