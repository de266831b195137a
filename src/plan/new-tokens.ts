import { hasToken } from '../kinds/kind.ts';
import { isCreation } from '../model/change.ts';
import { findSinkSettingsForCredential, type TokenSettings } from '../model/stack.ts';
import { type PlannedTokenSink, toPlannedTokenSink } from '../model/token-sink.ts';
import type { ChangeDecision } from './decide.ts';

/** The token sinks of a plan. */
export interface SinkOptions {
  /** The configured token sinks. A plan only names them. */
  readonly tokens: TokenSettings;
  /** Whether the caller of the library delivers the token of a credential with this name. Default: of none. */
  readonly hasOwnSink?: ((name: string) => boolean) | undefined;
}

/** The sink for the token that a change creates. `undefined` if it creates none, or if no sink is configured. */
export function findSinkOfNewToken(decision: ChangeDecision, settings: TokenSettings): PlannedTokenSink | undefined {
  if (!createsToken(decision)) return undefined;
  const sink = findSinkSettingsForCredential(settings, decision.pair.desired?.name ?? '');
  return sink && toPlannedTokenSink(sink);
}

/** Whether a credential would be created without a token sink, so that its token would be lost. */
export function lacksSink(decision: ChangeDecision, { tokens, hasOwnSink = () => false }: SinkOptions): boolean {
  const isCovered = !createsToken(decision) || findSinkOfNewToken(decision, tokens) !== undefined;
  return !isCovered && !hasOwnSink(decision.pair.desired?.name ?? '');
}

function createsToken({ pair, action }: ChangeDecision): boolean {
  return isCreation({ action }) && hasToken(pair.kind);
}
