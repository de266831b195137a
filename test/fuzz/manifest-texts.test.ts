import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { type ValidatedManifests, validateManifests } from '../../src/manifest/validate.ts';
import { DIAGNOSTIC_CODES } from '../../src/model/diagnostic.ts';
import { createQuotedTexts, type QuotedTexts } from '../../src/model/excerpts.ts';
import { LONG, toTries } from '../tries.ts';

const EVERYTHING = readFileSync(new URL('../manifest/fixtures/everything.yaml', import.meta.url));

/** A few bytes that replace others somewhere. */
const change = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.integer({ min: 0, max: 40 }),
  added: fc.oneof(
    fc.constantFrom(
      '\n',
      '  ',
      '- ',
      '{',
      '}',
      '[',
      ']',
      ': ',
      '*a',
      '&a ',
      '!x ',
      '"',
      "'",
      '|\n',
      '#',
      '---\n',
      '?',
      '\t',
      ',',
    ),
    fc.string({ unit: 'binary', maxLength: 5 }),
  ),
});

function mutate(changes: readonly { readonly at: number; readonly removed: number; readonly added: string }[]): Buffer {
  return changes.reduce((bytes, { at, removed, added }) => {
    const start = Math.floor(at * bytes.length);
    return Buffer.concat([bytes.subarray(0, start), Buffer.from(added), bytes.subarray(start + removed)]);
  }, EVERYTHING);
}

function expectUsefulDiagnostics(bytes: Uint8Array): void {
  const quoted = createQuotedTexts();
  const { state, diagnostics } = validate(bytes, quoted);
  expect(state === undefined).toBe(diagnostics.length > 0);
  const lines = Buffer.from(bytes).toString().split('\n').length;
  for (const { code, message, place } of diagnostics) {
    expect(DIAGNOSTIC_CODES).toHaveProperty(code);
    expect(message).not.toMatch(/invalid input|expected .*received|undefined|\[object/i);
    if (place === undefined) continue;
    for (const excerpts of [quoted.reports, quoted.stderr]) expect(excerpts.render(place)).toMatch(/^$|^ *\| *\^+$/m);
    expect(place.line).toBeLessThanOrEqual(lines);
  }
  for (const resource of state?.resources.values() ?? []) expect(resource.locate(['spec']).file).toBe('m.yaml');
}

function validate(bytes: Uint8Array, quoted?: QuotedTexts): ValidatedManifests {
  return validateManifests([{ file: 'm.yaml', bytes }], { env: NO_ENVIRONMENT, quoted });
}

describe('validating manifests', () => {
  it('never throws on mutated valid files, and always reports the mistake and its place', LONG, () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = mutate(changes);
        expectUsefulDiagnostics(bytes);
      }),
      { numRuns: toTries(300) },
    );
  });

  it('never throws on any bytes', LONG, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expectUsefulDiagnostics(bytes);
      }),
      { numRuns: toTries(300) },
    );
  });

  it('never throws on any JSON in place of any field', LONG, () => {
    const kinds = [
      'TCPEdge',
      'WeightedBackend',
      'IPRestriction',
      'AgentIngress',
      'Credential',
      'SSHUserCertificate',
      'HTTPSEdge',
      'HTTPSEdgeRoute',
      'External',
      'Stack',
      'List',
    ];
    const fields = [
      'hostports',
      'metadata',
      'backend',
      'backends',
      'policy',
      'id',
      'edge_id',
      'type',
      'ip_policy_ids',
      'acl',
      'api',
      'tokens',
      'description',
      'request_headers',
    ];
    const document = fc.record({
      apiVersion: fc.constantFrom('edgewise/v1', 'v1'),
      kind: fc.constantFrom(...kinds),
      metadata: fc.oneof(fc.record({ name: fc.constantFrom('a', 'b', 'C') }), fc.jsonValue()),
      spec: fc.oneof(fc.dictionary(fc.constantFrom(...fields), fc.jsonValue()), fc.jsonValue()),
      lifecycle: fc.oneof(fc.constant({}), fc.jsonValue()),
      items: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.array(document, { maxLength: 3 }), (documents) => {
        const bytes = Buffer.from(documents.map((value) => JSON.stringify(value)).join('\n---\n'));
        expectUsefulDiagnostics(bytes);
      }),
      { numRuns: toTries(500) },
    );
  });
});
