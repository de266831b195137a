import { type Change, isRecordInChange } from '../model/change.ts';
import { assertNever } from '../model/errors.ts';
import type { Plan } from '../model/plan.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import type { CrossStackReference } from '../model/state.ts';
import type { FindPlannedOutcome, PlannedResource } from '../plan/cross-stack-references.ts';

/**
 * Collects the resources that the plans of a run create, delete or give another address. Cross-stack references are
 * resolved with these resources, so that they follow renames and hand-overs. What another stack creates anew, it does not
 * take back.
 */
export interface PlannedResources {
  /** Adds a plan. `account` is equal for stacks of one account. */
  readonly note: (account: string, plan: Plan) => void;
  /** Returns a function that searches the plans that were added for the account. */
  readonly of: (account: string) => FindPlannedOutcome;
  /** The stacks that keep what another one may take back, and were planned before that one. */
  readonly awaiting: Set<StackFolder>;
}

interface AccountResources {
  /** Maps a stack and an address, joined by `toKey`, to the planned resource. */
  readonly resources: Map<string, PlannedResource>;
  /** Maps the id of a live resource to a clause about its change, such as `this run deletes it`. */
  readonly changedIds: Map<string, string>;
}

export function createPlannedResources(): PlannedResources {
  const accounts = new Map<string, AccountResources>();
  const getAccount = (account: string): AccountResources => {
    const resources = accounts.get(account) ?? { resources: new Map(), changedIds: new Map() };
    accounts.set(account, resources);
    return resources;
  };
  return {
    note: (account, plan) => {
      const known = getAccount(account);
      for (const change of plan.changes) noteChange(change, plan.stack, known);
    },
    of: (account) => (reference, liveId) => {
      const { resources, changedIds } = getAccount(account);
      const gone = liveId === undefined ? undefined : changedIds.get(liveId);
      return resources.get(toKey(reference)) ?? (gone === undefined ? undefined : { gone });
    },
    awaiting: new Set(),
  };
}

function noteChange(change: Change, stack: string, { resources, changedIds }: AccountResources): void {
  const { action, address, live, duplicateOf } = change;
  if (duplicateOf !== undefined) return;
  const key = toKey({ stack, resource: address });
  switch (action) {
    case 'create':
    case 'replace':
      resources.set(key, { isCreated: true });
      return;
    case 'update':
    case 'adopt':
    case 'take-over':
    case 'withhold':
    case 'no-op':
      if (live === undefined || isRecordInChange(live)) return;
      resources.set(key, { id: live.id });
      changedIds.set(live.id, `this run turns it into ${address} of the stack ${stack}`);
      return;
    case 'delete':
      if (live !== undefined) changedIds.set(live.id, 'this run deletes it');
      return;
    case 'release':
      return;
    default:
      assertNever(action);
  }
}

function toKey({ stack, resource }: CrossStackReference): string {
  return `${stack} ${resource}`;
}
