import { tmpdir } from 'node:os';
import type { TokenSink } from '../apply/token-sink.ts';
import { createTokenSinks, type TokenSinks } from '../apply/token-sinks.ts';
import { listOneTimeFields } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { toReason } from '../model/errors.ts';
import type { Plan } from '../model/plan.ts';
import { type TokenSettings, toTokenFolder } from '../model/stack.ts';
import type { CreateWrite, Write, WriteId } from '../model/write.ts';
import { StackError } from './stack-error.ts';
import type { Surroundings } from './surroundings.ts';

/** Flags that say where tokens go, instead of the Stack. */
export interface TokenFlags {
  readonly tokenDirectory?: string;
  readonly tokenCommand?: readonly string[];
}

const COMMAND_TIMEOUT_MS = 30_000;

/** Where the tokens of a stack go: a flag is for every credential, else the Stack says. */
export function resolveTokens(
  { tokenDirectory, tokenCommand }: TokenFlags,
  stored: TokenSettings,
  stack: string,
): TokenSettings {
  if (tokenDirectory !== undefined && tokenCommand !== undefined) {
    throw new StackError('--token-directory and --token-command exclude each other.', { reason: 'invalid' });
  }
  if (tokenDirectory !== undefined)
    return { default: { directory: toTokenFolder(tokenDirectory, stack) }, credentials: {} };
  if (tokenCommand === undefined) return stored;
  return { default: { command: tokenCommand, timeoutMs: COMMAND_TIMEOUT_MS }, credentials: {} };
}

/** The sinks that an apply needs: chosen before anything is asked, tried out before the first write. */
export interface ChosenSinks {
  readonly sinks: TokenSinks;
  /** Rejects with what does not work; resolves with warnings, each once. */
  readonly test: () => Promise<readonly string[]>;
}

/** Chooses a sink for every credential that is still to be created. Throws when there is none. */
export function chooseSinks(
  writes: readonly Write[],
  { tokens, own }: { readonly tokens: TokenSettings; readonly own: TokenSinks | undefined },
  { cwd, env }: Pick<Surroundings, 'cwd' | 'env'>,
): ChosenSinks {
  const sinks = own ?? createTokenSinks(tokens, { cwd, env, temporaryFolder: env['TMPDIR'] ?? tmpdir() });
  const chosen = new Set(writes.filter(givesToken).map((write) => chooseSink(write, sinks)));
  return { sinks, test: () => testSinks([...chosen]) };
}

/** The writes of a plan that are not done. */
export function listOpenWrites(plan: Plan, done: ReadonlyMap<WriteId, unknown>): readonly Write[] {
  return plan.writes.filter(({ id }) => !done.has(id));
}

/** Whether a write brings a token that is shown only once. */
export function givesToken(write: Write): write is CreateWrite {
  return write.act === 'create' && listOneTimeFields(getKind(write.kind)).length > 0;
}

function chooseSink(write: CreateWrite, sinks: TokenSinks): TokenSink {
  const sink = sinks.find(write.mark.name);
  if (sink !== undefined) return sink;
  throw new StackError(
    `${write.address} would be created, but no place for its token is set, and the service shows the token only once.`,
    {
      reason: 'invalid',
      remedy: 'Set spec.tokens in the Stack, or use --token-directory or --token-command. Nothing was written.',
    },
  );
}

async function testSinks(sinks: readonly TokenSink[]): Promise<readonly string[]> {
  const warnings = new Set<string>();
  for (const sink of sinks) {
    try {
      for (const warning of await sink.test()) warnings.add(warning);
    } catch (error) {
      const why = toReason(error);
      throw new StackError(`The token sink does not work: ${why}`, {
        reason: 'failed',
        remedy: 'Nothing was written.',
        cause: error,
      });
    }
  }
  return [...warnings];
}
