import type { Command } from 'commander';
import { type Drift, hasDrift } from '../../model/drift.ts';
import { toDrift } from '../../plan/compute-drift.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { isInvalid, planLive, resolveStackSettings } from '../make-plan.ts';
import { readValidManifests } from '../manifests.ts';
import { addConnectionOptions, addExamples, addExitCodes, addPlanFormatOptions, addTargetOption } from '../options.ts';
import type { FormatFlags } from '../present.ts';
import { publish } from '../publish.ts';
import { withSession } from '../session.ts';
import type { ConnectionFlags } from '../settings.ts';

interface Flags extends ConnectionFlags, FormatFlags {
  readonly target: readonly string[];
}

/** `edgewise drift`. */
export function defineDrift(program: Command, act: Act): void {
  const command = program
    .command('drift')
    .description('Tell what was changed at the service, and what nobody manages. Sends GET requests only.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)');
  const { done, failed, changes, invalid, authentication } = EXIT;
  addExitCodes(command, [done, failed, changes, invalid, authentication]);
  addExamples(addPlanFormatOptions(addTargetOption(addConnectionOptions(command))), [
    ['edgewise drift manifests', '0: all is as the manifests say; 2: something is not'],
    ['edgewise drift manifests --report json=drift.json', 'keep the details for another program'],
  ]).action((paths: string[], flags: Flags) => act(flags, (context) => drift(paths, flags, context)));
}

async function drift(paths: readonly string[], flags: Flags, context: Context): Promise<ExitCode> {
  const { state, diagnostics } = await readValidManifests(paths, context);
  const settings = resolveStackSettings(flags, context, state);
  const now = context.now();
  const { plan, live } = await withSession(settings, context, (client) =>
    planLive(client, {
      state,
      diagnostics,
      flags: { ...flags, allowProtected: [] },
      mode: 'apply',
      settings,
      now,
      cwd: context.cwd,
    }),
  );
  const found = toDrift(plan, { live, now });
  const exitCode = isInvalid(plan) ? EXIT.invalid : toExitCode(found);
  return publish({ about: 'drift', drift: found }, { flags, exitCode }, context);
}

function toExitCode(found: Drift): ExitCode {
  return hasDrift(found) ? EXIT.changes : EXIT.done;
}
