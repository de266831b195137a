import { isRotatable, listOneTimeFields } from '../kinds/kind.ts';
import { isId } from '../kinds/paths.ts';
import { readResource } from '../kinds/read-response.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { JsonObject } from '../model/json.ts';
import type { LiveResource } from '../model/state.ts';
import type { CreateWrite } from '../model/write.ts';
import { listNotKept } from './check-response.ts';
import type { ResolvedWrite } from './resolve-write.ts';
import { listBearers, type RivalContext } from './rivals.ts';
import { type SettleContext, settleRival } from './settle-rivals.ts';
import { takeBack } from './take-back.ts';

/** What a creation made, as it was answered. */
export interface Creation {
  /** `undefined`: neither the answer nor a list tells the id. */
  readonly live: LiveResource | undefined;
  /** To be delivered; only of kinds that have one. */
  readonly token: string | undefined;
}

/**
 * Checks the answer to a creation before its token is delivered. Returns why the creation is void, if it is. A credential or certificate that differs
 * from what was asked for is deleted again; otherwise each apply would leave one more of them valid.
 */
export async function judgeCreation(
  write: CreateWrite,
  { sent, answer }: { readonly sent: ResolvedWrite; readonly answer: JsonObject },
  context: SettleContext,
): Promise<Creation | string> {
  const kind = getKind(write.kind);
  const live = await identify(write, readResource(kind, answer), context.rivals);
  const [field] = listOneTimeFields(kind);
  const token = field === undefined ? undefined : toText(answer[field]);
  if (live === undefined) return { live, token };
  const made = { write, id: live.id };
  const isHidden = field !== undefined && token === undefined;
  const faults = [
    ...(isHidden ? [`the service did not show its ${field}`] : []),
    ...(isRotatable(kind) ? listNotKept(write, sent, live) : []),
  ];
  if (faults.length > 0) {
    const message = await takeBack(made, context, 'Delete it by hand, unless the next plan does');
    return [...faults, message].join('; ');
  }
  const lost = field === undefined ? undefined : await settleRival(made, context);
  return lost ?? { live, token };
}

/** The id comes from a list, by the mark, if the answer lacks it. */
async function identify(
  write: CreateWrite,
  live: LiveResource,
  rivals: RivalContext,
): Promise<LiveResource | undefined> {
  if (isId(live.id)) return live;
  const bearers = await listBearers(write, rivals);
  return bearers.length === 1 ? bearers[0] : undefined;
}

function toText(value: JsonObject[string] | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
