import { expect, it } from 'vitest';
import { detectInvocation } from '../../src/cli/output/invocation.ts';
import { nameCalls } from '../../src/report/view/finding-wording.ts';
import { sendByHand } from '../by-hand.ts';
import { runCommand } from './fake-context.ts';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

it.each([
  ['/work/tools/dist/cli.js', 'node tools/dist/cli.js'],
  ['/work/edgewise', './edgewise'],
  ['/opt/edgewise', '/opt/edgewise'],
  ['/opt/my tools/edgewise', "'/opt/my tools/edgewise'"],
  [undefined, 'edgewise'],
])('a program that is nowhere on the path, %s, is called %s', (program, command) => {
  expect(detectInvocation({ env: {}, cwd: '/work', uid: undefined, root: '/', program })).toBe(command);
});

it('every command in a remedy begins as edgewise was started, and a sentence about edgewise stays', async () => {
  const { stdout } = await runCommand(['--help'], { cwd: '/' });
  const commands = Array.from(stdout.matchAll(/^ {2}([a-z][a-z-]+) /gm), ([, name = '']) => name);
  expect(commands).toContain('abuse-report');
  const remedy = commands.map((name) => `Run \`edgewise ${name} x\``).join();
  expect(nameCalls(remedy, () => 'npx --no-install edgewise')).toBe(
    remedy.replaceAll('edgewise', 'npx --no-install edgewise'),
  );
  for (const kept of ['what edgewise manages', '/opt/edgewise plan', 'my-edgewise plan', 'edgewise plans'])
    expect(nameCalls(kept, () => 'x')).toBe(kept);
});

it('a mistake names the command as it was started, and a comment names edgewise', async () => {
  const bad = 'apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: a }\nspec: { hostports: 1 }\n';
  const { edgewise } = await createWorkspace({ 'm.yaml': `${STACK}---\n${bad}`, 'node_modules/.bin/edgewise': '' });
  const topic = 'explain TCPEdge.hostports';
  const { stdout, stderr } = await edgewise('plan m.yaml');
  expect(stdout + stderr).toContain(`\`npx --no-install edgewise ${topic}\``);
  expect((await edgewise('plan m.yaml --format markdown')).stdout).toContain(`edgewise ${topic}`);
  expect((await edgewise('plan m.yaml --format markdown')).stdout).not.toContain('npx');
  expect((await edgewise('stacks --foo')).stderr).toContain('\nnpx --no-install edgewise stacks --help shows');
});

it('a plan is applied with the command as it was started', async () => {
  const { edgewise } = await createWorkspace({
    'm.yaml': STACK + toEdge('a', 20_001),
    'node_modules/.bin/edgewise': '',
  });
  const { stdout } = await edgewise('plan m.yaml', { terminal: 200 });
  expect(stdout).toContain('To apply: npx --no-install edgewise apply m.yaml');
});

it('the hint of drift names the command as it was started', async () => {
  const workspace = await createWorkspace({ 'm.yaml': STACK + toEdge('a', 20_001), 'node_modules/.bin/edgewise': '' });
  await workspace.edgewise('apply m.yaml --yes');
  const [{ id = '' } = {}] = workspace.server.snapshot().resources['TCPEdge'] ?? [];
  await sendByHand(workspace, 'PATCH', `/edges/tcp/${String(id)}`, { description: 'by hand' });
  const { stdout } = await workspace.edgewise('drift m.yaml');
  expect(stdout).toContain('npx --no-install edgewise accept TCPEdge/a:description m.yaml');
});
