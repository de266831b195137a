import type { Kind } from '../../src/kinds/kind.ts';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { assertJsonObject, type JsonObject, parseJson } from '../../src/model/json.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from './workspace.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIgWaFLqDdQFyqH7tDdMVOPQkYvUOJsqxY8h6OuHfC9C alice';

/** What a manifest sets, and what another resource of the kind has. */
const SPECS: Readonly<Record<string, readonly [JsonObject, JsonObject]>> = {
  TCPEdge: [{ hostports: ['1.tcp.example.net:20001'] }, { hostports: ['1.tcp.example.net:20002'] }],
  WeightedBackend: [
    { backends: { bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: 1 } },
    { backends: { bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: 2 } },
  ],
  IPRestriction: [
    { type: 'agent', ip_policy_ids: ['ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk'], enforced: false },
    { type: 'endpoints', ip_policy_ids: ['ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk'], enforced: false },
  ],
  AgentIngress: [{ domain: 'in.example.com' }, { domain: 'other.example.com' }],
  Credential: [{ acl: ['bind:a.example.com'] }, { acl: ['bind:b.example.com'] }],
  SSHUserCertificate: [toCertificate('alice'), toCertificate('bob')],
};

function toCertificate(principal: string): JsonObject {
  return {
    public_key: KEY,
    ssh_certificate_authority_id: 'sshca_2k9XLN4QSRa2CXSGdTMwZDWQXjk',
    principals: [principal],
    valid_after: '2026-03-01T00:00:00Z',
    valid_until: '2026-03-02T00:00:00Z',
  };
}

/** Each kind that a stack owns, with its name, for a table of tests. */
export const CREATED_KINDS = OWNED_KINDS.map((kind) => [kind.name, kind] as const);

export const toId = (prefix: string, letter: string): string => `${prefix}_${letter.repeat(27)}`;

/** A stack that creates one resource of a kind, in an account with another resource that has no mark. */
export async function createStackOf(kind: Kind, more = ''): Promise<Workspace & { readonly other: JsonObject }> {
  const [spec = {}, otherSpec = {}] = SPECS[kind.name] ?? [];
  const stack = `${STACK}spec: { tokens: { default: { directory: tokens } } }\n`;
  const other = { id: toId(kind.idPrefix, 'a'), ...otherSpec };
  const workspace = await createWorkspace(
    { 'edgewise.yaml': stack + toManifest(kind.name, 'one', spec) + more },
    { seed: { resources: { [kind.name]: [other] } } },
  );
  const [stored = {}] = workspace.server.snapshot().resources[kind.name] ?? [];
  return { ...workspace, other: { ...stored, ...(kind.oneTimeFields.length > 0 && { token: 'the-token' }) } };
}

/** Parses the body of a request or response. */
export function toJsonObject(text: string): JsonObject {
  return assertJsonObject(parseJson(text) ?? null);
}
