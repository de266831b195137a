import type { DesiredState } from '../model/state.ts';
import type { Decision } from './decide.ts';

/** What a release starts from: the stack, and no manifest, since what is released is asked for by its address. */
export function toReleaseState(desired: DesiredState): DesiredState {
  return { ...desired, resources: new Map() };
}

/** What becomes of a resource that is released while its manifest stays. */
export function describeRelease({ pair }: Decision, desired: DesiredState): readonly string[] {
  const { address, live } = pair;
  if (!desired.resources.has(address)) return [];
  return [
    `its manifest stays, so the next apply creates a new one: remove the manifest, or add lifecycle: { adopt: ${live?.id} }`,
  ];
}
