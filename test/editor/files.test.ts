import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOCUMENT_KINDS } from '../../src/schemas/document.ts';
import { createServer, parseApiKey } from '../../src/server/index.ts';
import { runCommand } from '../cli/fake-context.ts';
import { type LanguageServer, startLanguageServer, type TextPlace } from './language-server.ts';

/** How an editor treats the files that edgewise writes, and the examples. */

const MODELINE = /^# yaml-language-server: \$schema=\S+\n/;
const ZORK = '13:3 Property zork is not allowed.';
const HEAD = 'apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata:\n  name: a\n';

let folder: string;
let server: LanguageServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-editor-'));
  server = await startLanguageServer(folder);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Lists the proposed kinds for a manifest, at the line of its kind. */
async function completeKind(text: string): Promise<readonly string[]> {
  const lines = text.replace(/^kind: .*$/m, 'kind: ').split('\n');
  return [...(await server.complete(lines.join('\n'), { line: lines.indexOf('kind: '), character: 6 })).keys()];
}

describe('an editor', () => {
  it.each([
    ['init', 'init manifests --name shop --base-url https://api.test', 2],
    ['export', 'export -o exported --owner shop', 4],
  ])('completes each file that %s writes, and reports no mistake', async (_, line, count) => {
    const account = createServer({
      apiKeys: [parseApiKey('dev:admin')],
      seed: {
        resources: {
          TCPEdge: [{ id: 'edgtcp_1', description: 'one', hostports: ['1.tcp.example.net:1'] }],
          WeightedBackend: [{ id: 'bkdwd_1', description: 'pool', backends: { bkdhr_1: 1 } }],
        },
      },
    });
    const result = await runCommand(line.split(' '), { cwd: folder, transport: account.handle });
    expect(result).toMatchObject({ exitCode: 0 });
    const [, written = ''] = line.split(/ (?:-o )?/);
    const files = globSync(`${written}/**/*.yaml`, { cwd: folder });
    expect(files).toHaveLength(count);
    for (const file of files) {
      const text = readFileSync(join(folder, file), 'utf8');
      expect(await server.diagnose(text, file), file).toEqual([]);
      const found = await server.diagnose(
        text.replace('metadata:\n', 'metadata:\n  nam: x\n'),
        join(file, '../x.yaml'),
      );
      expect(
        found.map((message) => message.replace(/^\S+ /, '')),
        file,
      ).toEqual(['Property nam is not allowed.']);
      expect(await completeKind(text.replace(MODELINE, toModeline())), file).toEqual(DOCUMENT_KINDS);
    }
  });

  it.each(globSync('examples/**/*.yaml').filter(isOurs))('completes %s, and reports no mistake', async (file) => {
    const text = readFileSync(file, 'utf8');
    expect(text, 'one document').not.toMatch(/^---/m);
    expect(await server.diagnose(text.replace(MODELINE, toModeline()))).toEqual([]);
    expect(await completeKind(text.replace(MODELINE, toModeline()))).toEqual(DOCUMENT_KINDS);
  });

  /** The reason why edgewise writes one document a file. */
  it.each([
    ['does nothing without a modeline', HEAD, '  zork: 1\n  ', { offers: 0, problems: [] }],
    ['completes nothing in an empty mapping', `${toModeline()}${HEAD}`, '  ', { offers: 0, problems: [] }],
    ['completes as in other files', `${toModeline()}${HEAD}`, '  zork: 1\n  ', { offers: 6, problems: [ZORK] }],
  ])('shows why edgewise writes one document a file: in a file with two, it %s', async (_, head, spec, expected) => {
    const text = `${toModeline()}${HEAD}---\n${head}spec:\n${spec}`;
    const place: TextPlace = { line: text.split('\n').length - 1, character: 2 };
    const offers = (await server.complete(text, place)).size;
    expect({ offers, problems: await server.diagnose(text) }).toEqual(expected);
  });
});

function toModeline(): string {
  return `# yaml-language-server: $schema=${join(process.cwd(), 'schemas/manifest.schema.json')}\n`;
}

function isOurs(file: string): boolean {
  return /^apiVersion: edgewise\/v1$/m.test(readFileSync(file, 'utf8'));
}
