import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { InvalidManifests } from '../../src/model/user-errors.ts';

import { resolveSettingsFromManifests } from '../../src/stack/settings.ts';

/** Resolves the settings of an untrusted Stack with this `spec.api`, in a run with these flags. */
function resolveUntrusted(api: JsonObject, flags: Readonly<Record<string, string>>) {
  const place = { file: 'edgewise.yaml', line: 1, column: 1 };
  const layer = { by: 'Stack' as const, spec: { api }, locate: () => place, toPath: (path: string) => path };
  const host = { env: { EDGEWISE_BASE_URL: 'https://api.test' }, cwd: '/repository', isUntrusted: true };
  return resolveSettingsFromManifests({ flags }, host, [layer]);
}

describe('a setting of an untrusted Stack', () => {
  it.each([
    ['version_header', 'Service-Version', { versionHeader: 'service-version' }],
    ['ca_file', 'certs/../ca.pem', { caFile: '/repository/ca.pem' }],
    ['rate_limit', '120/60s', { rateLimit: '120/60s' }],
  ])('is accepted if the run has the same value in another spelling: %s', (name, value, flags) => {
    expect(resolveUntrusted({ [name]: value }, flags)).toMatchObject({ baseUrl: 'https://api.test' });
  });

  it.each([
    ['version_header', 'X-Evil', { versionHeader: 'service-version' }],
    ['ca_file', 'CA.pem', { caFile: 'ca.pem' }],
    ['rate_limit', '9999/1s', { rateLimit: '120/60s' }],
  ])('is refused if the run has another value: %s', (name, value, flags) => {
    expect(() => resolveUntrusted({ [name]: value }, flags)).toThrow(InvalidManifests);
  });
});
