import type { ApplyResult, Outcome } from '../../src/model/outcome.ts';
import { makeWrite } from './sample-plans.ts';

/** Results of an apply made by hand. */

/** A write that succeeded. */
export function makeApplied(id: string, resourceId?: string): Outcome {
  return { outcome: 'applied', write: makeWrite(id), id: resourceId };
}

/** A write that the service refused. */
export function makeFailed(
  id: string,
  message: string,
  parts: Partial<Omit<Extract<Outcome, { readonly outcome: 'failed' }>, 'outcome' | 'message'>> = {},
): Outcome {
  return { outcome: 'failed', write: makeWrite(id), message, isAuthentication: false, isUnknown: false, ...parts };
}

/** A write that waited in vain, or that an interruption kept from starting. */
export function makeSkipped(id: string, ...waitedFor: readonly string[]): Outcome {
  const message = waitedFor.length === 0 ? 'interrupted' : `waited for ${waitedFor.join(', ')}`;
  return { outcome: 'skipped', write: makeWrite(id), message, waitedFor };
}

/** A result of these outcomes. */
export function makeResult(outcomes: readonly Outcome[], parts: Partial<ApplyResult> = {}): ApplyResult {
  return { outcomes, tokens: [], files: [], diagnostics: [], lookUps: 0, interrupted: false, ...parts };
}

/** One outcome of each sort. */
export const MIXED: ApplyResult = makeResult(
  [
    makeApplied('create WeightedBackend/pool', 'bkdwd_2abc'),
    { outcome: 'applied', write: makeWrite('create Credential/agent'), id: 'cr_2abc', alreadyDone: true },
    makeApplied('delete TCPEdge/legacy'),
    makeFailed(
      'update TCPEdge/postgres',
      '409 CONFLICT: 1.tcp.example.net:20002 belongs to edgtcp_2xyz already (operation op_2abc)',
      {
        write: makeWrite('update TCPEdge/postgres', { method: 'PATCH', path: '/edges/tcp/edgtcp_2def' }),
      },
    ),
    makeFailed('create TCPEdge/redis', 'the service did not answer in 30 s', { isUnknown: true }),
    makeSkipped('delete WeightedBackend/old-pool', 'update TCPEdge/postgres', 'delete TCPEdge/older'),
    makeSkipped('delete TCPEdge/older', 'update TCPEdge/postgres'),
    makeSkipped('update IPRestriction/api'),
  ],
  {
    interrupted: true,
    tokens: [
      { address: 'Credential/agent', place: './tokens/agent.token', rescued: false },
      { address: 'Credential/bot', place: '/var/rescued/bot.token', rescued: true },
    ],
  },
);
