import type { Client } from '../client/client.ts';
import { type ClockSkew, NO_SKEW } from '../model/clock.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ApplyEvent } from '../model/outcome.ts';
import { listKnownIds, type Plan } from '../model/plan.ts';
import { sleepFor } from '../model/sleep.ts';
import type { WriteId } from '../model/write.ts';
import { ConflictWaits, DEFAULT_CONFLICT_MS } from './conflicts.ts';
import { CreationJudge } from './judge-creation.ts';
import { PlannedLiveResources } from './planned-live.ts';
import { PlanReliances } from './relied-state.ts';
import { ApplyRequests } from './requests.ts';
import { resolveWriteRequest } from './resolve-write.ts';
import { ServiceWatch } from './service-watch.ts';
import { TokenDeliveries } from './token-deliveries.ts';
import type { TokenSinks } from './token-sinks.ts';

/** The input of `applyPlan` in addition to the plan. */
export interface ApplyContext {
  readonly client: Pick<Client, 'send' | 'limit' | 'list' | 'shown'> &
    Partial<Pick<Client, 'get' | 'readModule' | 'clockSkew' | 'readIds' | 'serviceDate'>>;
  /** Must contain a sink for each credential that the plan creates. */
  readonly sinks: TokenSinks;
  readonly onEvent: (event: ApplyEvent) => void;
  /** The current time. The validity of a new certificate or credential starts when its creation is sent. */
  readonly now: () => Date;
  /** Resolves after `ms`, or as soon as the signal is aborted. Default: the system's timer. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /**
   * How long a write is tried again that the service rejects with 409, if it depends on a delete or an update of this
   * run, in milliseconds. Default: one minute.
   */
  readonly conflictMs?: number | undefined;
  /** When aborted, no further write starts. Writes under way finish. */
  readonly signal: AbortSignal;
  /** Known ids of resources that another stack creates, by address. */
  readonly ids: ReadonlyMap<string, string>;
  /** The pipeline to record in marks: `commit 1a2b3c4d5e6f, https://…`. Absent: marks record no pipeline. */
  readonly by?: string | undefined;
  /** Writes that follow writes of other stacks, which may free what they claim. Default: none. */
  readonly afterOthers?: ReadonlySet<WriteId> | undefined;
}

/** What the writes of a run share. */
export interface ApplyRun {
  /** What was live when the plan was made. */
  readonly planned: PlannedLiveResources;
  /** Sends the writes of the plan. Ends with the run. */
  readonly requests: ApplyRequests;
  /** Looks up and takes back what the run created, also if the service turns out not to keep marks. */
  readonly settling: ApplyRequests;
  /** Records what is done already, such as a delivery, also after an interrupt. */
  readonly recording: ApplyRequests;
  /** Decides whether an answer is that to a creation of this run. */
  readonly creations: CreationJudge;
  readonly deliveries: TokenDeliveries;
  readonly conflicts: ConflictWaits;
  readonly watch: ServiceWatch;
  /** How the clock of the service differs from that of this machine, as far as it is known. */
  readonly clockSkew: () => ClockSkew;
  /** Reports a warning. */
  readonly note: (diagnostic: Diagnostic) => void;
  /** Ids of resources, by address. Each creation adds one. */
  readonly ids: Map<string, string>;
  /** Failed writes that are no reason to skip what depends on them: `all` of it, or only `deletes`. */
  readonly followable: Map<WriteId, 'all' | 'deletes'>;
  /** Fields of which the run has said that the service shows another text, as `Kind/name field`. */
  readonly namedTexts: Set<string>;
}

export function createApplyRun(plan: Plan, context: ApplyContext, note: ApplyRun['note']): ApplyRun {
  const { client, signal, now, by, onEvent, sleep = sleepFor, conflictMs = DEFAULT_CONFLICT_MS, afterOthers } = context;
  const watch = new ServiceWatch(signal);
  const ids = new Map(context.ids);
  const known = listKnownIds(plan);
  const reliances = client.get && new PlanReliances(plan, client.shown);
  const createRequests = (until: AbortSignal): ApplyRequests =>
    new ApplyRequests({
      client,
      signal: until,
      sleep,
      known,
      watch,
      onStarted: (write) => onEvent({ event: 'write-started', write }),
      resolve: (write) => resolveWriteRequest(write, { ids, now: now(), by }),
      findReliance: (write) => reliances?.find(write, ids),
    });
  const untilStopped = AbortSignal.any([signal, watch.unreachable]);
  const untilEnd = AbortSignal.any([untilStopped, watch.unmanageable]);
  const [settling, recording] = [createRequests(untilStopped), createRequests(watch.unreachable)];
  return {
    planned: new PlannedLiveResources(plan),
    requests: createRequests(untilEnd),
    settling,
    recording,
    creations: new CreationJudge({
      client,
      known: new Set([...known, ...ids.values()]),
      read: recording.lookUps.read,
      sleep: settling.sleep,
    }),
    deliveries: new TokenDeliveries(plan, context),
    conflicts: new ConflictWaits(plan, { limitMs: conflictMs, sleep, signal: untilEnd, onEvent, afterOthers }),
    watch,
    clockSkew: client.clockSkew ?? (() => NO_SKEW),
    note,
    ids,
    followable: new Map(),
    namedTexts: new Set(),
  };
}
