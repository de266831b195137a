import { hasToken } from '../kinds/kind.ts';
import { isCreation } from '../model/change.ts';
import { findSinkSettingsForCredential, type SinkSettings, type TokenSettings } from '../model/stack.ts';
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
  const sink = createsToken(decision) ? findOwnSink(decision, settings) : undefined;
  return sink && toPlannedTokenSink(sink);
}

/** Whether a credential would be created without a token sink, so that its token would be lost. */
export function lacksSink(decision: ChangeDecision, { tokens, hasOwnSink = () => false }: SinkOptions): boolean {
  const name = decision.pair.desired?.name ?? '';
  return createsToken(decision) && findOwnSink(decision, tokens) === undefined && !hasOwnSink(name);
}

function createsToken({ pair, action }: ChangeDecision): boolean {
  return isCreation({ action }) && hasToken(pair.kind);
}

function findOwnSink({ pair }: ChangeDecision, settings: TokenSettings): SinkSettings | undefined {
  return findSinkSettingsForCredential(settings, pair.desired?.name ?? '');
}
