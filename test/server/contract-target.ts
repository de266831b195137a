import { isJsonObject, type JsonObject } from '../../src/model/json.ts';
import type { Target } from './caller.ts';
import { withConformanceChecks } from './conformance.ts';
import { createTestServer } from './test-server.ts';

/** The service under test, and existing ids of kinds that the API cannot create. */
export interface ContractTarget extends Target {
  readonly ids: ContractIds;
}

/** One existing id of each kind that the API cannot create. */
export interface ContractIds {
  readonly ipp: string;
  readonly ca: string;
  readonly sshca: string;
  readonly bkdtg: string;
  readonly edghts: string;
  readonly edghtsrt: string;
}

const SAMPLE_IDS: ContractIds = {
  ipp: 'ipp_contract',
  ca: 'ca_contract',
  sshca: 'sshca_contract',
  bkdtg: 'bkdtg_contract',
  edghts: 'edghts_contract',
  edghtsrt: 'edghtsrt_contract',
};

/**
 * The bundled server, with conformance checks; or the service in EDGEWISE_CONTRACT_BASE_URL, called with EDGEWISE_API_KEY.
 * EDGEWISE_CONTRACT_IDS is then a JSON object of existing ids by prefix, and EDGEWISE_VERSION_HEADER the name of the version header.
 */
export function openContractTarget(env: NodeJS.ProcessEnv): ContractTarget {
  const baseUrl = env['EDGEWISE_CONTRACT_BASE_URL'];
  const versionHeader = env['EDGEWISE_VERSION_HEADER'] ?? 'Service-Version';
  const ids = { ...SAMPLE_IDS, ...parseIds(env['EDGEWISE_CONTRACT_IDS'] ?? '{}') };
  if (baseUrl !== undefined)
    return { transport: fetch, baseUrl, key: env['EDGEWISE_API_KEY'] ?? '', versionHeader, ids };
  const { server } = createTestServer();
  const transport = withConformanceChecks(server.handle);
  return { transport, baseUrl: 'https://contract.example.test', key: 'admin', versionHeader: 'Service-Version', ids };
}

function parseIds(text: string): JsonObject {
  const ids: unknown = JSON.parse(text);
  if (!isJsonObject(ids)) throw new Error('EDGEWISE_CONTRACT_IDS is not a JSON object');
  return ids;
}
