import type { ApplyResult, Outcome } from '../../src/model/outcome.ts';
import { toWriteId, type Write, type WriteId } from '../../src/model/write.ts';
import { createWrite } from './sample-plans.ts';

/** Results of an apply as literals. */

/** A write that succeeded. */
export function createAppliedOutcome(write: Write, resourceId?: string): Outcome {
  return { outcome: 'applied', write, id: resourceId };
}

/** A write that the service rejected. */
export function createFailedOutcome(
  write: Write,
  message: string,
  parts: Partial<Omit<Extract<Outcome, { readonly outcome: 'failed' }>, 'outcome' | 'write' | 'message'>> = {},
): Outcome {
  return { outcome: 'failed', write, message, isAuthentication: false, isUnknown: false, ...parts };
}

/** A write that was skipped because of its dependencies or an interrupt. */
export function createSkippedOutcome(write: Write, ...waitedFor: readonly WriteId[]): Outcome {
  const message = waitedFor.length === 0 ? 'interrupted' : `depends on ${waitedFor.join(', ')}`;
  return { outcome: 'skipped', write, message, waitedFor };
}

/** A result of these outcomes. */
export function createApplyResult(outcomes: readonly Outcome[], parts: Partial<ApplyResult> = {}): ApplyResult {
  return { outcomes, tokens: [], diagnostics: [], lookUps: 0, interrupted: false, ...parts };
}

/** One outcome of each sort. */
export const MIXED: ApplyResult = createApplyResult(
  [
    createAppliedOutcome(createWrite('create', 'WeightedBackend/pool'), 'bkdwd_2abc'),
    { outcome: 'applied', write: createWrite('create', 'Credential/agent'), id: 'cr_2abc' },
    createAppliedOutcome(createWrite('delete', 'TCPEdge/legacy')),
    createFailedOutcome(
      createWrite('update', 'TCPEdge/postgres', { resourceId: 'edgtcp_2def' }),
      '409 CONFLICT: 1.tcp.example.net:20002 belongs to edgtcp_2xyz already (operation op_2abc)',
    ),
    createFailedOutcome(createWrite('create', 'TCPEdge/redis'), 'the service did not answer in 30 s', {
      isUnknown: true,
    }),
    createSkippedOutcome(
      createWrite('delete', 'WeightedBackend/old-pool'),
      toWriteId({ purpose: 'update', address: 'TCPEdge/postgres' }),
      toWriteId({ purpose: 'delete', address: 'TCPEdge/older' }),
    ),
    createSkippedOutcome(
      createWrite('delete', 'TCPEdge/older'),
      toWriteId({ purpose: 'update', address: 'TCPEdge/postgres' }),
    ),
    createSkippedOutcome(createWrite('update', 'IPRestriction/api')),
  ],
  {
    interrupted: true,
    tokens: [
      { address: 'Credential/agent', deliveredTo: './tokens/agent.token', rescued: false },
      { address: 'Credential/bot', deliveredTo: '/var/rescued/bot.token', rescued: true },
    ],
  },
);
