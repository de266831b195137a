import { findApiTypeOfSshKey, parseKeyComment } from '../kinds/formats.ts';
import { hasToken } from '../kinds/kind.ts';
import type { DesiredState } from '../model/state.ts';
import type { PlannedTokenSink } from '../model/token-sink.ts';
import { formatTokenVariables } from '../model/token-variables.ts';
import type { ChangeDecision } from './decide.ts';
import type { PlanInput } from './plan-input.ts';

/**
 * Notes on a change for the user who approves it. An unchanged resource has notes only if it is due for renewal.
 * `token`: the sink of a new token.
 */
export function listNotes(
  decision: ChangeDecision,
  token: PlannedTokenSink | undefined,
  { desired, mode, tokenVariables = [] }: PlanInput,
): readonly string[] {
  if (decision.action === 'no-op') return decision.notes;
  if (decision.action === 'release') return listReleaseNotes(decision, desired);
  return [
    ...listTokenVariableNotes(token, tokenVariables),
    ...listExistingTokenNotes(decision),
    ...listMetadataNotes(decision),
    ...describeKeys(decision),
    ...decision.notes,
    ...(mode === 'apply' ? describeSkippedFiles(decision, desired) : []),
  ];
}

function listReleaseNotes({ pair: { address, live } }: ChangeDecision, desired: DesiredState): readonly string[] {
  if (!desired.resources.has(address)) return [];
  return [
    `its manifest stays, so the next apply creates a new one: remove the manifest, or add lifecycle: { adopt: ${live?.id} }`,
  ];
}

/** Names what a token command gets from the environment, so that a reviewer sees where the token may go. */
function listTokenVariableNotes(token: PlannedTokenSink | undefined, variables: readonly string[]): readonly string[] {
  if (token === undefined || 'directory' in token || variables.length === 0) return [];
  return [`its token command gets ${formatTokenVariables(variables)}`];
}

/** Notes on the token of a credential that is adopted, taken over or renamed. */
function listExistingTokenNotes({ action, pair: { kind, formerName } }: ChangeDecision): readonly string[] {
  if (!hasToken(kind)) return [];
  if (action === 'adopt') return [TOKEN_UNKNOWN];
  return action === 'take-over' || (action === 'update' && formerName !== undefined) ? [TOKEN_STAYS] : [];
}

const TOKEN_UNKNOWN = 'its token is unknown: the service showed it only once, when it was created';

/** Does not say where the token is: its former stack may have adopted the credential instead of creating it. */
const TOKEN_STAYS = 'its token stays where it is: apply does not touch its file';

/**
 * How an adoption changes the form of metadata that a user wrote. Others may find the resource by its exact metadata,
 * such as an operator or an agent.
 */
function listMetadataNotes({ action, pair: { live } }: ChangeDecision): readonly string[] {
  const metadata = action === 'adopt' ? (live?.spec['metadata'] ?? '') : '';
  if (metadata === '') return [];
  return [
    typeof metadata === 'string'
      ? 'the text in its metadata is kept as edgewise.text of a JSON object: what finds it by its exact metadata has to know'
      : 'its metadata gets one more key, edgewise: what finds it by its exact metadata has to know',
  ];
}

/** Describes the public keys of a resource, as in `for an ed25519 key, alice@example.com`. */
function describeKeys({ pair, form }: ChangeDecision): readonly string[] {
  return Object.entries(pair.kind.fields).flatMap(([name, { type }]) => {
    const key = form?.written[name];
    if (type.type !== 'text' || type.format !== 'ssh-public-key' || typeof key !== 'string') return [];
    return [['for an', findApiTypeOfSshKey(key), 'key'].join(' ').concat(parseKeyComment(key).replace(/^(?=.)/, ', '))];
  });
}

/** A note names at most this many files. */
const MAX_SKIPPED_FILES = 3;

/** Names the lines of `spec.skip_files` that may be the cause of a delete. */
function describeSkippedFiles({ action, pair }: ChangeDecision, { skipped }: DesiredState): readonly string[] {
  const name = pair.live?.mark?.name;
  if (action !== 'delete' || pair.desired !== undefined || name === undefined) return [];
  const files = (skipped?.files ?? []).filter(({ mayDescribe }) => mayDescribe(name));
  const byLine = Map.groupBy(files, ({ pattern }) => `${pattern.file}:${pattern.line}`);
  return Array.from(byLine, ([line, found]) => {
    const named = found.slice(0, MAX_SKIPPED_FILES).map(({ file }) => file);
    const more = found.length - named.length;
    return `may be described in a file that spec.skip_files leaves out (${line}): ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  });
}
