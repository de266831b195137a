import { describe, expect, it } from 'vitest';
import { type Field, getNestedFields } from '../../src/kinds/field.ts';
import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import { DIAGNOSTIC_CODES } from '../../src/model/diagnostic.ts';
import { DOCUMENT_KINDS } from '../../src/schemas/document.ts';
import { selectFirst } from '../cases.ts';
import { type CommandResult, runCommand } from './fake-context.ts';

function explain(...words: readonly string[]): Promise<CommandResult> {
  return runCommand(['explain', ...words], { cwd: '/nowhere' });
}

/** Lists every field of a type by its path. */
function listPaths(fields: Readonly<Record<string, Field>>): readonly string[] {
  return Object.entries(fields).flatMap(([name, { type }]) => [
    name,
    ...listPaths(getNestedFields(type)).map((inner) => `${name}.${inner}`),
  ]);
}

describe('edgewise explain', () => {
  it('lists every kind and every code', async () => {
    const { exitCode, stdout } = await explain();
    expect(exitCode).toBe(0);
    for (const name of [...DOCUMENT_KINDS, ...Object.keys(DIAGNOSTIC_CODES)])
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  });

  it('shows the meaning of a code, an example with its output, and the remedy', async () => {
    const { stdout } = await explain('bad-field');
    expect(stdout).toMatchInlineSnapshot(`
      "bad-field
        A manifest has a field that its kind does not have, or lacks one that the kind requires. If a field without effect were ignored, its author would rely on it, so it is an error. So is a second field where only one of two may be set. Where a required field is missing, the help of the diagnostic says what the field is for.

      Example
        \`edge.yaml\`:
          apiVersion: edgewise/v1
          kind: TCPEdge
          metadata:
            name: postgres
          spec:
            hostport: ["1.tcp.example.net:20001"]
            backend:
              backend_id: bkdhr_blue

        $ edgewise validate
        error[bad-field]: TCPEdge/postgres: spec.hostport is not a known field
          --> edge.yaml:6:3
          5 | spec:
          6 |   hostport: ["1.tcp.example.net:20001"]
            |   ^^^^^^^^
          7 |   backend:
          help: Did you mean \`hostports\`?

        1 error.

        A field that is missing:
        \`edge.yaml\`:
          apiVersion: edgewise/v1
          kind: TCPEdge
          metadata:
            name: postgres
          spec:
            hostports: ["1.tcp.example.net:20001"]
            backend:
              enabled: true

        $ edgewise validate
        error[bad-field]: TCPEdge/postgres: spec.backend.backend_id is missing
          --> edge.yaml:7:3
          6 |   hostports: ["1.tcp.example.net:20001"]
          7 |   backend:
            |   ^^^^^^^
          8 |     enabled: true
          help: Add \`backend_id\`: The backend that receives the traffic.

        1 error.

      What to do
        Correct the name, or add the field. \`edgewise explain TCPEdge\` lists the fields of a kind. Remove fields that only the service sets.
      "
    `);
  });

  it('shows everything in the table of a field', async () => {
    const { stdout } = await explain('TCPEdge.backend.backend_id');
    expect(stdout).toMatchInlineSnapshot(`
      "TCPEdge.backend.backend_id
        The backend that receives the traffic.

        Type       \`WeightedBackend/name\`, \`External/name\`, \`bkdwd_…\`, \`bkdhr_…\`, \`bkdtg_…\`
        Lifecycle  mutable
        Required   yes, where backend is set
        A change   updates the TCP edge
        Module     backend, which is set and removed as a whole
        Interface  backend.backend_id of /edges/tcp, and backend.backend in responses
      "
    `);
  });

  it('explains a code as JSON', async () => {
    const { exitCode, stdout } = await explain('bad-field', '--format', 'json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ command: 'explain', ok: true, about: 'code', code: 'bad-field' });
  });

  it.each(MANIFEST_KINDS)('explains $name and each of its fields, with and without spec before it', async (kind) => {
    const { stdout } = await explain(kind.name);
    for (const name of Object.keys(kind.fields)) expect(stdout).toMatch(new RegExp(`^  ${name}: `, 'm'));
    for (const path of listPaths(kind.fields)) {
      const { exitCode, stdout: short } = await explain(`${kind.name}.${path}`);
      expect(exitCode, path).toBe(0);
      if (!path.includes('.')) expect((await explain(`${kind.name}.spec.${path}`)).stdout).toBe(short);
    }
  });

  it('shows the fields inside of each field, with types, defaults and what is required', async () => {
    const { stdout } = await explain('HTTPSEdgeRoute');
    expect(stdout).toContain(`  circuit_breaker: module
      Circuit breaker module: stops traffic to an upstream that fails.
      enabled: \`true\`, \`false\`, default \`true\`
`);
    expect(stdout).toMatch(/^ {6}num_buckets: whole number, 0 to 128, default chosen by the service$/m);
    expect((await explain('TCPEdge')).stdout).toMatch(/^ {10}actions: list.*\n.*\n {14}type: text, required$/m);
    expect((await explain('Stack')).stdout).toMatch(/^ {6}max_deletes: whole number from 0, default `5`$/m);
    expect((await explain('Stack')).stdout).not.toContain('default `{');
    const { fields } = JSON.parse((await explain('TCPEdge', '--format', 'json')).stdout);
    const [backend] = fields.filter(({ name }: { name: string }) => name === 'backend');
    expect(backend.fields).toMatchObject([{ name: 'enabled' }, { name: 'backend_id', fields: [] }]);
  });

  it('says that a change of an immutable field replaces the resource', async () => {
    expect((await explain('AgentIngress.domain')).stdout).toContain('replaces the agent ingress');
    expect((await explain('AgentIngress.description')).stdout).toContain('updates the agent ingress');
    const { stdout } = await explain('AgentIngress');
    expect(stdout).toMatch(/^ *Immutable +fields whose change replaces the resource$/m);
    expect(stdout).toMatch(/^ {2}domain: .*, immutable$/m);
    expect((await explain('WeightedBackend')).stdout).not.toContain('Immutable');
  });

  it('says which fields the service sets, and which are shown once', async () => {
    const { stdout } = await explain('AgentIngress.ns_targets');
    expect(stdout).toContain('computed: ');
    expect(stdout).toMatch(/^ *Interface +ns_targets in responses of \S+$/m);
    expect((await explain('Credential.token')).stdout).toContain('one-time: ');
  });

  it.each([
    ['Stack.api.rate_limit', '120/60s'],
    ['Stack.spec.guard.max_deletes', 'Default   `5`'],
    ['Stack.tokens.credentials.agent.directory', 'Folder'],
    ['Stack.lint.no-backend', '`off`, `warning`, `error`'],
    ['TCPEdge.lifecycle', 'renamed_from'],
    ['TCPEdge.lifecycle.adopt', 'Id of an existing resource'],
    ['SSHUserCertificate.lifecycle.renew_before', 'renewed this long before it expires'],
    ['Credential.lifecycle.rotate_after', '`90d`'],
    ['Stack.tokens.default', 'directory: text, or another of these'],
    ['TCPEdge.metadata.name', 'unique among the documents'],
    ['External.id', 'another External'],
    ['List', 'A list of documents'],
    ['List.items', 'The documents'],
    ['TCPEdge.policy.inbound[0].actions.type', 'The action'],
  ])('explains the setting %s', async (topic, text) => {
    const { exitCode, stdout } = await explain(topic);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(text);
  });

  it.each([
    ['hostports', 'TCPEdge.hostports'],
    ['spec.hostports', 'TCPEdge.hostports'],
    ['circuit_breaker.num_buckets', 'HTTPSEdgeRoute.circuit_breaker.num_buckets'],
    ['num_buckets', 'HTTPSEdgeRoute.circuit_breaker.num_buckets'],
    ['rate_limit', 'Stack.spec.api.rate_limit'],
    ['api.rate_limit', 'Stack.spec.api.rate_limit'],
    ['max_delete_share', 'Stack.spec.guard.max_delete_share'],
    ['rotate_after', 'Credential.lifecycle.rotate_after'],
    ['policy.inbound[0].actions', 'TCPEdge.policy.inbound.actions'],
  ])('finds the field %s without its kind', async (topic, path) => {
    expect(await explain(topic)).toEqual(await explain(path));
  });

  it('lists the fields of one name in several kinds', async () => {
    for (const topic of ['description', 'enabled', 'lifecycle.protect', 'metadata.name']) {
      const { exitCode, stdout } = await explain(topic);
      expect(exitCode, topic).toBe(0);
      const paths = stdout.split('\n').flatMap((line) => /^ {2}(\S+) {2,}\S/.exec(line)?.[1] ?? []);
      expect(paths.length, topic).toBeGreaterThan(0);
      for (const path of paths) expect(await explain(path)).toMatchObject({ exitCode: 0 });
    }
    const { stdout } = await explain('description', '--format', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ about: 'fields', name: 'description', fields: expect.any(Array) });
  });

  it('finds a field by its name alone, in each kind that has it', async () => {
    const paths = MANIFEST_KINDS.flatMap(({ name, fields }) => listPaths(fields).map((path) => `${name}.${path}`));
    const byName = [...Map.groupBy(paths, (path) => path.split('.').at(-1) ?? '')];
    for (const [name, meant] of selectFirst(byName, 20)) {
      const { stdout } = await explain(name);
      expect(meant.filter((path) => !stdout.includes(path))).toEqual([]);
    }
  });

  it.each([
    ['TCPEdge.backend.backendid', 'TCPEdge.backend.backend_id'],
    ['TcpEdges', 'TCPEdge'],
    ['TcpEdge.hostports', 'TCPEdge'],
    ['duplicat-claim', 'duplicate-claim'],
    ['hostport', 'hostports'],
    ['TCPEdge.backend_id', 'TCPEdge.backend.backend_id'],
    ['Stack.rate_limit', 'Stack.api.rate_limit'],
    ['TCPEdge.lifecycle.adpot', 'TCPEdge.lifecycle.adopt'],
    ['Stack.api.ratelimits', 'Stack.spec.api.rate_limit'],
  ])('does not know %s, and proposes %s', async (topic, meant) => {
    const { exitCode, stdout, stderr } = await explain(topic);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toContain(`Did you mean \`${meant}\`?`);
  });

  it('lists what is known if nothing is near', async () => {
    expect((await explain('TCPEdge.xyzzy')).stderr).toContain('Known here: ');
    expect((await explain('xyzzy')).stderr).toContain('edgewise explain');
    expect(await explain('TCPEdge.description.length')).toMatchObject({ exitCode: 3 });
  });

  it('prints one JSON document for an unknown word', async () => {
    const { exitCode, stdout } = await explain('xyzzy', '--format', 'json');
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ command: 'explain', ok: false });
  });
});
