import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toManifest } from '../cli/workspace.ts';

/** What a policy sees of a value that no output shows. */

const D = '$';
const SECRET = `${D}{secret:UPSTREAM}`;
const OPTIONS = { env: { UPSTREAM: 'the-value-of-a-secret', EDGEWISE_SECRETS: 'UPSTREAM' } };
const KEY = 'after.request_headers.add["x-api-key"]';

async function plan(header: string, require: string, message = 'refused') {
  const { edgewise } = await createWorkspace({
    'm/a.yaml':
      STACK +
      toManifest('HTTPSEdgeRoute', 'checkout', {
        edge_id: 'edghts_2fmnqYVGqgSNfrKbLQ5kCTTKaBB',
        id: 'edghtsrt_2fmnqYVGqgSNfrKbLQ5kCTTKaBB',
        request_headers: { add: { 'x-api-key': header, 'x-env': '(secret UPSTREAM)' } },
      }),
    'p.yaml': toManifest('Policy', 'headers', { match: { kinds: ['HTTPSEdgeRoute'] }, require, message }),
  });
  const { exitCode, stdout, stderr } = await edgewise('plan m --policies p.yaml', OPTIONS);
  expect(stdout + stderr).not.toContain('the-value-of-a-secret');
  return { exitCode, text: stdout + stderr };
}

describe('a secret in a policy', () => {
  it.each([
    `${KEY} == "(secret UPSTREAM)"`,
    `${KEY} == after.request_headers.add["x-env"]`,
    `${KEY}.startsWith("(")`,
    `${KEY}.matches(".*")`,
    `${KEY} in ["(secret UPSTREAM)"]`,
  ])('is no text, so that what requires one refuses the plan: %s', async (require) => {
    expect(await plan(SECRET, require)).toMatchObject({ exitCode: 5 });
  });

  it('is the map that the JSON of the plan has', async () => {
    const require = `"${D}secret" in ${KEY} && ${KEY}["${D}secret"] == "Bearer $" + "{secret:UPSTREAM}"`;
    expect(await plan(`Bearer ${SECRET}`, require)).toMatchObject({ exitCode: 0 });
  });

  it('in plain text is a map too, whose number says only which values are equal', async () => {
    expect(await plan('in-plain-text-4711', `"${D}hidden" in ${KEY}`)).toMatchObject({ exitCode: 0 });
    const { exitCode, text } = await plan('in-plain-text-4711', 'false', `has {{ ${KEY} }}`);
    expect(exitCode).toBe(5);
    expect(text).not.toContain('in-plain-text-4711');
  });

  it('cannot be spelt by a manifest', async () => {
    const text = `{"${D}secret": "${D}${SECRET}"}`;
    expect(await plan(text, `type(${KEY}) == map && "${D}hidden" in ${KEY}`)).toMatchObject({ exitCode: 0 });
  });
});
