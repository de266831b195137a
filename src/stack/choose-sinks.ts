import { tmpdir } from 'node:os';
import { createRescueFolder, listTokenFolders, type NewCredential, type TokenInGit } from '../apply/token-files.ts';
import { createTokenSinks, type NamedCredential, type TokenSink, type TokenSinks } from '../apply/token-sinks.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { withoutKeyAndTokenVariables } from '../model/api-key.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { assertDefined, getErrorMessage } from '../model/errors.ts';
import type { Plan } from '../model/plan.ts';
import { NO_OP_SECRET_REDACTOR, withoutSecretVariables } from '../model/secrets.ts';
import {
  fillStackNameInPath,
  findSinkSettingsForCredential,
  type SinkSettings,
  TOKEN_COMMAND_TIMEOUT_MS,
  type TokenSettings,
} from '../model/stack.ts';
import type { DesiredState } from '../model/state.ts';
import { formatTokenVariables, listTokenVariables } from '../model/token-variables.ts';
import { StackError } from '../model/user-errors.ts';
import { type CreateWrite, isCreate, type Write } from '../model/write.ts';
import { listUnknownSecrets } from '../plan/unknown-secrets.ts';
import type { Host } from './host.ts';

/** Refuses writes that need the value of a variable that is not set, or not offered. */
function refuseUnknownSecrets(writes: readonly Write[]): void {
  const unknownSecrets = listUnknownSecrets(writes);
  if (unknownSecrets.length === 0) return;
  const names = [...new Set(unknownSecrets.map(({ name }) => name))];
  throw new StackError(
    [...new Set(unknownSecrets.map(({ address, name }) => `${address} needs the value of ${name}`))],
    {
      reason: 'invalid',
      remedy: `Set ${names.join(', ')}, and offer it: ${names.map((name) => `--secret ${name}`).join(' ')}. Nothing was written.`,
    },
  );
}

/** Flags for the token sink, which take precedence over the Stack. */
export interface TokenFlags {
  readonly tokenDirectory?: string;
  readonly tokenCommand?: readonly string[];
}

/**
 * Returns the token sinks of a stack. A flag sets the sink of every credential. Without a flag, the Stack's sinks are
 * used.
 */
export function resolveTokenSettings(
  { tokenDirectory, tokenCommand }: TokenFlags,
  stored: TokenSettings,
  stack: string,
): TokenSettings {
  if (tokenDirectory !== undefined && tokenCommand !== undefined) {
    throw new StackError('--token-directory and --token-command are mutually exclusive.', { reason: 'invalid' });
  }
  if (tokenDirectory !== undefined)
    return { default: { directory: fillStackNameInPath(tokenDirectory, stack) }, credentials: {} };
  if (tokenCommand === undefined) return stored;
  return { default: { command: tokenCommand, timeoutMs: TOKEN_COMMAND_TIMEOUT_MS }, credentials: {} };
}

/**
 * Throws if the settings of a sink contain a secret, because other users can see the arguments of a running command.
 */
export function refuseSecretsInSinks(tokens: TokenSettings, { secrets }: Pick<Host, 'secrets'>): void {
  const found = secrets?.find(JSON.stringify(tokens));
  if (found === undefined) return;
  throw new StackError(`The token sink contains ${found.name}.`, {
    reason: 'invalid',
    remedy: 'Let the command read what it needs from a file or a variable of its own.',
  });
}

/** The token sinks of an apply. They are chosen before the user is asked for consent. */
export interface ChosenSinks {
  readonly sinks: TokenSinks;
  /** Which variables may decide where tokens go. Absent: no token goes to a command, or no such variable is set. */
  readonly note: string | undefined;
  /**
   * Tries the place of rescued tokens, if the plan creates a token. Rejects if there is none, or if a token could get into
   * git there. Called before any write.
   */
  readonly testRescue: () => Promise<void>;
  /**
   * Tests the sinks before the first write. Rejects if a token could get into git, or if a sink does not work. Resolves
   * with the warnings of the sinks, each once.
   */
  readonly test: () => Promise<readonly string[]>;
}

/**
 * Chooses a sink for every credential that is still to be created: a plan without errors has one for each. Throws if a
 * write needs a secret that is unknown. `sinks`: those of the caller, which take precedence over `tokens`.
 */
export function chooseTokenSinks(plan: Pick<Plan, 'writes'>, parts: TokenParts, host: TokenHost): ChosenSinks {
  const { writes } = plan;
  const { tokens, sinks: own } = parts;
  const { cwd, env, root, uid, namedPaths } = host;
  refuseUnknownSecrets(writes);
  const temporaryFolder = env['TMPDIR'] ?? tmpdir();
  const given = { cwd, env: createCommandEnvironment(host), temporaryFolder, uid, root, namedPaths };
  const sinks = own ?? createTokenSinks(tokens, given);
  const created = listNewCredentials(plan);
  const chosen = Map.groupBy(created, ({ address, name }) =>
    assertDefined(sinks.find(name), `a token sink of ${address}`),
  );
  const toCommand = created.some(({ name }) => isCommand(findSinkSettingsForCredential(tokens, name)));
  const variables = toCommand ? listCommandVariables(parts, host) : [];
  return {
    sinks,
    note: variables.length === 0 ? undefined : `The token commands get ${formatTokenVariables(variables)}.`,
    testRescue: async () => {
      if (created.length === 0) return;
      await testRescueSink(sinks.rescue);
      const folder = own === undefined ? createRescueFolder(temporaryFolder, created) : [];
      refuseTokensInGit((await host.findTokensInGit?.(folder, host)) ?? []);
    },
    test: async () => {
      refuseTokensInGit(await findTokensInGit(plan, parts, host));
      return testSinks(chosen);
    },
  };
}

interface TokenParts {
  readonly tokens: TokenSettings;
  /** Sinks of the calling program. They replace those of `tokens`. */
  readonly sinks?: TokenSinks | undefined;
}

type TokenHost = Pick<Host, 'cwd' | 'root' | 'uid' | 'namedPaths' | 'findTokensInGit'> & CommandHost;

function isCommand(sink: SinkSettings | undefined): boolean {
  return sink !== undefined && 'command' in sink;
}

/** The variables by which the token commands of a stack may choose where they store a token. */
export function listCommandVariables({ sinks }: Pick<TokenParts, 'sinks'>, host: CommandHost): readonly string[] {
  return sinks === undefined ? listTokenVariables(createCommandEnvironment(host)) : [];
}

type CommandHost = Pick<Host, 'env' | 'secrets' | 'offeredSecrets'>;

/** The environment of token commands: without keys, tokens of the build system, and what manifests get as a secret. */
function createCommandEnvironment({
  env,
  secrets = NO_OP_SECRET_REDACTOR,
  offeredSecrets = [],
}: CommandHost): Host['env'] {
  const kept = withoutKeyAndTokenVariables(withoutSecretVariables(env, secrets));
  return Object.fromEntries(Object.entries(kept).filter(([name]) => !offeredSecrets.includes(name)));
}

async function testRescueSink(rescue: TokenSink): Promise<void> {
  try {
    await rescue.test();
  } catch (error) {
    throw new StackError(`A token that cannot be delivered could not be saved either: ${getErrorMessage(error)}`, {
      reason: 'failed',
      remedy: 'Set TMPDIR to a folder in which you can create files. Nothing was written.',
      cause: error,
    });
  }
}

/** The credentials whose tokens a plan delivers. */
function listNewCredentials({ writes }: Pick<Plan, 'writes'>): readonly NewCredential[] {
  return writes.filter(isTokenCreatingWrite).map(({ address, mark: { name, stack } }) => ({ address, name, stack }));
}

/** Finds the token folders of a plan whose files could get into git. Sinks of the calling program are its own affair. */
async function findTokensInGit(
  plan: Pick<Plan, 'writes'>,
  { tokens, sinks }: TokenParts,
  host: TokenHost,
): Promise<readonly TokenInGit[]> {
  const folders = sinks === undefined ? listTokenFolders(listNewCredentials(plan), tokens, host.cwd) : [];
  return folders.length === 0 ? [] : ((await host.findTokensInGit?.(folders, host)) ?? []);
}

/** Adds an error for each token folder whose files could get into git. */
export async function addTokensInGit(
  plan: Plan,
  parts: TokenParts & { readonly state: DesiredState },
  host: TokenHost,
): Promise<Plan> {
  const tokensInGit = await findTokensInGit(plan, parts, host);
  if (tokensInGit.length === 0) return plan;
  const diagnostics = tokensInGit.map((one): Diagnostic => {
    const place = parts.state.resources.get(one.address)?.locate();
    return { code: 'token-in-git', severity: 'error', ...one, place };
  });
  return { ...plan, diagnostics: [...plan.diagnostics, ...diagnostics] };
}

function refuseTokensInGit(findings: readonly Pick<Diagnostic, 'message' | 'remedy'>[]): void {
  if (findings.length === 0) return;
  throw new StackError(
    findings.map(({ message }) => `${message}.`),
    {
      reason: 'invalid',
      remedy: [...findings.flatMap(({ remedy }) => remedy ?? []), 'Nothing was written.'].join('\n'),
    },
  );
}

/** Whether a write creates a token that the service shows only once. */
function isTokenCreatingWrite(write: Write): write is CreateWrite {
  return isCreate(write) && getKind(write.kind).oneTimeFields.length > 0;
}

async function testSinks(sinks: ReadonlyMap<TokenSink, readonly NamedCredential[]>): Promise<readonly string[]> {
  const warnings = new Set<string>();
  for (const [sink, credentials] of sinks) {
    try {
      for (const warning of await sink.test(credentials)) warnings.add(warning);
    } catch (error) {
      const why = getErrorMessage(error);
      throw new StackError(`The token sink does not work: ${why}`, {
        reason: 'failed',
        remedy: 'Nothing was written.',
        cause: error,
      });
    }
  }
  return [...warnings];
}
