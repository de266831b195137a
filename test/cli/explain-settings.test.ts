import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK } from './workspace.ts';

const DEFAULTS = `apiVersion: edgewise/v1
kind: Defaults
spec:
  api: { base_url: "https://api.example.net", concurrency: 4, timeouts: { connect: 5s } }
  guard: { max_deletes: 9 }
  lint: { no-backend: off, max_validity: 30d }
  policies: [pol]
  tokens: { credentials: { agent: { directory: far }, other: { directory: other } } }
`;

const PAYMENTS = `apiVersion: edgewise/v1
kind: Stack
metadata: { name: payments }
spec:
  api: { rate_limit: 60/60s, key_env: EDGEWISE_API_KEY_PAYMENTS, ca_file: ../ca.pem, timeouts: { request: 1m } }
  tokens:
    default: { directory: tokens }
    credentials: { agent: { command: [vault, kv], timeout: 10s } }
  kinds: [TCPEdge, WeightedBackend]
  team_label: team
  handed_over: [TCPEdge/old]
  inputs: ["../../base/**"]
`;

const FILES = {
  'edgewise-defaults.yaml': DEFAULTS,
  'live/payments/edgewise.yaml': PAYMENTS,
  'alone/edgewise.yaml': STACK,
};

/** No variables, for which the workspace has values of its own. */
const NONE = { EDGEWISE_API_KEY: '', EDGEWISE_BASE_URL: '', EDGEWISE_RATE_LIMIT: '' };

const EACH_VARIABLE = {
  ...NONE,
  EDGEWISE_API_KEY_PAY: 'a key of this length',
  EDGEWISE_BASE_URL: 'https://x.example',
  EDGEWISE_RATE_LIMIT: 'none',
  EDGEWISE_TIMEOUT: '3m',
  EDGEWISE_KEY_ENV: 'EDGEWISE_API_KEY_PAY',
  EDGEWISE_VERSION_HEADER: 'X-V',
  EDGEWISE_CA_FILE: 'ca.pem',
};

const EACH_FLAG =
  '--base-url embedded: --timeout 5m --rate-limit 7/7s --key-env EDGEWISE_API_KEY_Q --version-header Z --ca-file f';

describe('explain settings', () => {
  it.each([
    ['documents', 'live/payments', NONE],
    ['variables', 'live/payments', EACH_VARIABLE],
    ['flags', `live/payments ${EACH_FLAG}`, EACH_VARIABLE],
    ['empty-flags', 'live/payments --base-url= --rate-limit= --key-env=', NONE],
    ['nothing', 'alone', NONE],
    ['embedded', 'alone', { ...NONE, EDGEWISE_BASE_URL: 'embedded:data.json' }],
  ])('shows each value and its source, from %s', async (name, line, env) => {
    const { edgewise } = await createWorkspace(FILES);
    const text = await edgewise(`explain settings ${line}`, { env });
    expect(text).toMatchObject({ exitCode: 0, stderr: '' });
    await expect(text.stdout).toMatchFileSnapshot(`goldens/settings-${name}.txt`);
    const json = await edgewise(`explain settings ${line} --format json`, { env });
    await expect(json.stdout).toMatchFileSnapshot(`goldens/settings-${name}.json`);
  });
});
