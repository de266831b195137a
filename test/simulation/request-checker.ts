import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import { KINDS, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { decodeBodyText, isSuccess } from '../../src/model/http.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../../src/model/json.ts';
import { type Mark, splitMetadata } from '../../src/model/mark.ts';
import type { Server } from '../../src/server/index.ts';
import { OUR_STACKS } from '../laws/stack.ts';

/** The relation of a run to a resource of one of our stacks: its own, one that is handed over to it, or `undefined` for one of another stack. */
export type Owns = (mark: Mark, kind: string, hasHad: HasHad) => 'owned' | 'taken' | undefined;

/** Whether a stack has ever owned a resource of a kind and name. */
export type HasHad = (mark: Pick<Mark, 'stack' | 'name'>, kind: string) => boolean;

/** A run of edgewise, for the checker. */
export interface ObservedRun {
  readonly name: string;
  readonly startMs: number;
  /** The time at which it ended or stopped. `undefined`: it is running. */
  readonly endMs: () => number | undefined;
  /** Returns its output so far. */
  readonly shown: () => string;
  /** Whether its responses can be wrong without a sign. */
  readonly hasUndetectableFaults: boolean;
  /** Ids that it has created. */
  readonly created: Set<string>;
  /** Absent: there is only one stack. */
  readonly owns?: Owns;
}

interface LedgerOptions {
  readonly server: Server;
  readonly nowMs: () => number;
  /** Whether a manifest attaches modules to the edge or route with this id. */
  readonly isAttached: (target: string) => boolean;
}

/** One live resource. */
interface LiveResource {
  readonly kind: string;
  readonly resource: JsonObject;
  readonly text: string;
}

/** Finds the mark of a stack in the simulation. The mark of another stack counts as none. */
export function findOurMark(resource: JsonObject): Mark | undefined {
  const { mark } = splitMetadata(String(resource['metadata'] ?? ''));
  return mark !== undefined && OUR_STACKS.has(mark.stack) ? mark : undefined;
}

/** Checks every request of edgewise against the state of the service before and after it. */
export class RequestChecker {
  /** Broken promises. */
  readonly violations: string[] = [];
  /** Every token in a response, by the id of its credential. */
  readonly tokens = new Map<string, string>();
  /** Tokens of credentials that may bind more than was requested. */
  readonly wideTokens = new Set<string>();
  /** When a resource lost our mark, or was handed over to another of our stacks. */
  readonly #lostMs = new Map<string, number>();
  /** Names in the marks of creates without a later look-up, by run and path. */
  readonly #unseen = new Map<string, readonly string[]>();
  /** Every mark that ever existed, with the kind. */
  readonly #seen = new Set<string>();
  readonly #options: LedgerOptions;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  reportViolation(violation: string): void {
    if (!this.violations.includes(violation)) this.violations.push(violation);
  }

  /** Notes the token of a credential that came back without the ACL of the request, or with other rules. */
  noteGrant(sent: string, answer: string): void {
    const [asked, { acl, token }] = [toRules(parseObject(sent)['acl']), parseObject(answer)];
    const granted = toRules(acl);
    const isWide = granted.length === 0 || granted.some((rule) => !asked.includes(rule));
    if (typeof token === 'string' && asked.length > 0 && !asked.includes('*') && isWide) this.wideTokens.add(token);
  }

  /** Sends a request of another user, which may do anything. */
  async sendAsOtherUser(request: Request): Promise<Response> {
    const { server } = this.#options;
    const before = mapLiveResources(server);
    const response = await server.handle(request);
    this.#noteLost(before, mapLiveResources(server));
    return response;
  }

  /** Returns the server for a run. Each of its requests is checked. */
  watch(observed: ObservedRun): Server {
    const { server } = this.#options;
    return server.behind((send) => async (request) => {
      const act = { observed, method: request.method, path: new URL(request.url).pathname };
      if (act.method === 'GET') this.#unseen.delete(toPlace(act));
      if (act.method === 'POST') this.#verifyCreation(act, decodeBodyText(request.body ?? ''));
      const before = act.method === 'GET' ? undefined : mapLiveResources(server);
      const response = await send(request);
      if (before !== undefined) this.#check(act, before);
      if (act.method === 'POST' && isSuccess(response)) this.#noteCreation(act, decodeBodyText(response.body));
      return response;
    });
  }

  /** After a create with an unknown result, a run must look up the resource before it creates another. */
  #verifyCreation(act: Act, text: string): void {
    const name = findOurMark(parseObject(text))?.name;
    if (name !== undefined && this.#unseen.get(toPlace(act))?.includes(name))
      this.reportViolation(`${toText(act)} repeats that of ${name}, without a look-up`);
  }

  #noteCreation(act: Act, text: string): void {
    const body = parseObject(text);
    const { id, token } = body;
    const name = findOurMark(body)?.name;
    act.observed.created.add(String(id));
    if (name !== undefined) this.#unseen.set(toPlace(act), [...(this.#unseen.get(toPlace(act)) ?? []), name]);
    if (typeof token === 'string' && act.path === CREDENTIAL.path) this.tokens.set(String(id), token);
  }

  #check(act: Act, before: ReadonlyMap<string, LiveResource>): void {
    const after = mapLiveResources(this.#options.server);
    for (const [id, held] of before) {
      if (after.get(id)?.text === held.text) continue;
      if (!this.#mayTouch(act.observed, id, held))
        this.reportViolation(`${toText(act)} changed ${held.kind} ${id}, which does not have our mark`);
      if (!after.has(id) && !isModuleHolder(held) && !canDelete(act.observed, id))
        this.reportViolation(`${toText(act)} deleted ${held.kind} ${id}, which no plan showed`);
      this.#checkOwnership(act, id, { held, isGone: !after.has(id) });
    }
    this.#noteLost(before, after);
  }

  /** A run changes no resource of another of our stacks. A resource that is handed over is deleted only if the new stack replaces it. */
  #checkOwnership(
    { observed, ...act }: Act,
    id: string,
    { held, isGone }: { readonly held: LiveResource; readonly isGone: boolean },
  ) {
    const mark = findOurMark(held.resource);
    const isNews = observed.hasUndetectableFaults || (this.#lostMs.get(id) ?? -1) >= observed.startMs;
    if (observed.owns === undefined || mark === undefined || isNews) return;
    const part = observed.owns(mark, held.kind, (other, kind) => this.#seen.has(toMarkText(other, kind)));
    if (part === undefined)
      this.reportViolation(
        `${toText({ observed, ...act })} touched ${held.kind} ${id} of the stack ${mark.stack}, which is not its own`,
      );
    if (part === 'taken' && act.method === 'DELETE' && !isGone)
      this.reportViolation(
        `${toText({ observed, ...act })} removed a part of ${held.kind} ${id} before its mark was taken`,
      );
    if (part === 'taken' && isGone && !new RegExp(`^± .*\\(${id}\\)`, 'm').test(observed.shown()))
      this.reportViolation(`${toText({ observed, ...act })} deleted ${held.kind} ${id}, which is handed over`);
  }

  /** A run cannot know that a resource lost our mark while the run read it, or if its responses were wrong. */
  #mayTouch(observed: ObservedRun, id: string, held: LiveResource): boolean {
    if (isModuleHolder(held)) return this.#options.isAttached(id);
    // What the run created itself, and the service stored without its mark, it takes back.
    if (findOurMark(held.resource) !== undefined || observed.created.has(id)) return true;
    const lostMs = this.#lostMs.get(id);
    return lostMs !== undefined && (observed.hasUndetectableFaults || lostMs >= observed.startMs);
  }

  #noteLost(before: ReadonlyMap<string, LiveResource>, after: ReadonlyMap<string, LiveResource>): void {
    for (const { kind, resource } of after.values()) {
      const mark = findOurMark(resource);
      if (mark !== undefined) this.#seen.add(toMarkText(mark, kind));
    }
    for (const [id, { resource }] of before) {
      const now = after.get(id);
      const mark = findOurMark(resource);
      if (now === undefined || mark === undefined) continue;
      if (findOurMark(now.resource)?.stack !== mark.stack) this.#lostMs.set(id, this.#options.nowMs());
    }
  }
}

/** One request of a run. */
interface Act {
  readonly observed: ObservedRun;
  readonly method: string;
  readonly path: string;
}

function toMarkText({ stack, name }: Pick<Mark, 'stack' | 'name'>, kind: string): string {
  return `${stack} ${kind}/${name}`;
}

function toPlace({ observed, path }: Act): string {
  return `${observed.name} ${path}`;
}

function toText({ observed, method, path }: Act): string {
  return `${observed.name} ${method} ${path}`;
}

function toRules(acl: Json | undefined): readonly string[] {
  return acl !== undefined && isJsonArray(acl) ? acl.map((rule) => String(rule).toLowerCase()) : [];
}

function parseObject(text: string): JsonObject {
  const value = parseJson(text) ?? null;
  return isJsonObject(value) ? value : {};
}

/** Whether a run may delete a resource: if its plan showed the delete or the replacement, or if it created the resource. */
function canDelete(observed: ObservedRun, id: string): boolean {
  return observed.created.has(id) || new RegExp(`^[-±] .*\\(${id}\\)`, 'm').test(observed.shown());
}

const OWNED = new Set(OWNED_KINDS.map(({ name }) => name));

function isModuleHolder({ kind }: LiveResource): boolean {
  return !OWNED.has(kind);
}

/** Maps every live resource by id. */
export function mapLiveResources(server: Server): ReadonlyMap<string, LiveResource> {
  const { resources } = server.snapshot();
  return new Map(
    KINDS.flatMap(({ name: kind }) =>
      (resources[kind] ?? []).map((resource): [string, LiveResource] => {
        const id = OWNED.has(kind) ? String(resource['id']) : toTarget(resource);
        return [id, { kind, resource, text: JSON.stringify(resource) }];
      }),
    ),
  );
}

/** Returns the target of a module. */
export function toTarget({ edge_id: edge = '', id = '' }: JsonObject): string {
  return `${edge} ${id}`;
}
