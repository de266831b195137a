import { listOneTimeFields } from '../kinds/kind.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Mark } from '../model/mark.ts';
import type { SinkSettings, TokenSettings } from '../model/stack.ts';
import type { Decision } from './decide.ts';

/** Notes on what happens to the token of a credential. */
export function describeTokens(decision: Decision, settings: TokenSettings): readonly string[] {
  if (listOneTimeFields(decision.pair.kind).length === 0) return [];
  const { formerName, live } = decision.pair;
  if (decision.action === 'adopt') return [describeAdoptedToken(live?.mark)];
  if (decision.action === 'update' && formerName !== undefined) return [TOKEN_STAYS];
  const sink = givesToken(decision) ? findSink(decision, settings) : undefined;
  return sink === undefined ? [] : [`its token goes to ${describeSink(sink)}`];
}

/** A mark says that a token is in use, not who delivered it: the credential may have been adopted. */
function describeAdoptedToken(mark: Mark | undefined): string {
  if (mark === undefined) return 'its token is unknown: the service showed it only once, when it was created';
  return mark.delivered ? TOKEN_STAYS : 'its token was not delivered: the next apply replaces it';
}

const TOKEN_STAYS = 'its token stays where it is: no file is moved';

/** A warning for each credential that would be created with no place for its token. Apply refuses such a plan. */
export function listTokensWithoutSink(decisions: readonly Decision[], settings: TokenSettings): readonly Diagnostic[] {
  const lost = decisions.filter((decision) => givesToken(decision) && findSink(decision, settings) === undefined);
  return lost.map(({ pair: { address, desired } }) => ({
    code: 'token-sink-missing',
    severity: 'warning',
    message: `${address} would be created, but no place for its token is set, and the service shows the token only once`,
    remedy:
      'Set spec.tokens in the Stack, or apply with --token-directory or --token-command. Otherwise apply refuses this plan.',
    address,
    ...(desired !== undefined && { place: desired.locate() }),
  }));
}

function givesToken({ pair, action }: Decision): boolean {
  return (action === 'create' || action === 'replace') && listOneTimeFields(pair.kind).length > 0;
}

function findSink({ pair }: Decision, { credentials, default: common }: TokenSettings): SinkSettings | undefined {
  const name = pair.desired?.name ?? '';
  return Object.hasOwn(credentials, name) ? credentials[name] : common;
}

function describeSink(sink: SinkSettings): string {
  return 'directory' in sink ? `the folder ${sink.directory}` : `the command ${sink.command[0]}`;
}
