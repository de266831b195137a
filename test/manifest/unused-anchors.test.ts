import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK } from '../cli/workspace.ts';

/** What YAML takes out of a text that begins with `&`. */

async function validate(spec: string) {
  const edge = `---\napiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: a }\nspec:\n${spec}`;
  const { edgewise } = await createWorkspace({ 'm/a.yaml': STACK + edge });
  const { exitCode, stdout, stderr } = await edgewise('validate m');
  return { exitCode, found: `${stdout}${stderr}`.match(/\w+\[unused-anchor\][^\n]*\n[^\n]*/g) ?? [] };
}

describe('an anchor that no alias names', () => {
  it.each([
    '  description: &main database\n',
    '  description: &main\n',
    '  description: &main "database"\n',
    '  metadata: { team: &main data }\n',
    '  hostports: [&main "1.tcp.example.net:20001"]\n',
  ])('is a warning with its position before a text, and before nothing: %s', async (spec) => {
    const { exitCode, found } = await validate(spec);
    expect(exitCode).toBe(0);
    expect(found).toMatchObject([
      expect.stringMatching(/^warning\[unused-anchor\]: TCPEdge\/a: [^\n]*\n +--> m\/a.yaml:10:/),
    ]);
  });

  it.each([
    '  description: &main database\n  metadata: { text: *main }\n',
    '  description: "&main database"\n',
    '  metadata: &main { team: data }\n',
    '  description: a & b\n',
  ])('is none if an alias names it, in quotes, or before a collection: %s', async (spec) => {
    expect(await validate(spec)).toEqual({ exitCode: 0, found: [] });
  });
});
