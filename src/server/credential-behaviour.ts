import type { Behaviour } from './behaviour.ts';
import { Failure } from './failure.ts';

/** A credential belongs to its caller unless an admin says otherwise. */
export const CREDENTIAL_BEHAVIOUR: Behaviour = {
  authorize: (caller, { owner_id: owner }) => {
    if (owner === undefined || owner === caller.userId || caller.isAdmin) return;
    throw new Failure('owner_id names another owner, which only an admin may do', {
      code: 'forbidden',
      details: { field: 'owner_id' },
    });
  },
};
