import { describe, expect, it } from 'vitest';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

const EDGE = toEdge('a', 20001);

/** The first line of a comment. */
function readMarker(comment: string): string | undefined {
  return comment.split('\n')[0];
}

describe('the report of a failure names the stack', () => {
  it.each([
    ['manifests that are invalid', `${STACK}${EDGE.replace('hostports', 'hostport')}`],
    ['a Stack that is invalid itself', `${STACK}spec: { colour: red }\n${EDGE}`],
    ['a document that cannot be read', `${STACK}${EDGE}---\n{ : [\n`],
  ])('of %s', async (_, text) => {
    const { edgewise } = await createWorkspace({ 'edge.yaml': text });
    const comment = await edgewise('plan edge.yaml --format markdown');
    expect(comment.exitCode).toBe(3);
    expect(readMarker(comment.stdout)).toBe('<!-- edgewise:plan stack=test -->');
    const { stdout } = await edgewise('plan edge.yaml --format json');
    expect(readOnlyStack(stdout)).toMatchObject({ ok: false, stack: 'test' });
    const checked = await edgewise('validate edge.yaml --format markdown');
    expect(readMarker(checked.stdout)).toBe('<!-- edgewise:validate stack=test -->');
  });

  it('of a service that does not respond, whatever the command', async () => {
    const { edgewise } = await createWorkspace({ 'edge.yaml': `${STACK}${EDGE}` });
    const transport = async () => Response.json({}, { status: 401 });
    for (const command of ['plan', 'apply', 'destroy', 'drift']) {
      const { exitCode, stdout } = await edgewise(`${command} edge.yaml --format markdown`, { transport });
      expect(exitCode).toBe(4);
      expect(readMarker(stdout)).toBe(`<!-- edgewise:${command} stack=test -->`);
    }
  });

  it('of a saved plan that is for another service, or has no key', async () => {
    const { edgewise } = await createWorkspace({ 'edge.yaml': `${STACK}${EDGE}` });
    await edgewise('plan edge.yaml -o plan.json');
    for (const env of [{ EDGEWISE_BASE_URL: 'https://other.test' }, { EDGEWISE_API_KEY: '' }]) {
      const line = 'apply edge.yaml --approved plan.json --yes --format markdown --rate-limit 0';
      const { stdout } = await edgewise(line, { env });
      expect(readMarker(stdout)).toBe('<!-- edgewise:apply stack=test -->');
    }
  });

  it('never if none can be read', async () => {
    const { edgewise } = await createWorkspace({ 'edge.yaml': EDGE, 'odd.yaml': STACK.replace('test', '"a b"') });
    for (const file of ['edge.yaml', 'odd.yaml', 'none.yaml']) {
      const { stdout } = await edgewise(`plan ${file} --format markdown`);
      expect(readMarker(stdout)).toBe('<!-- edgewise:plan -->');
    }
  });
});
