import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { describeWith, runTool } from './tools.ts';

const EXAMPLE = 'examples/pipelines/gitlab';

describeWith(['check-jsonschema'], 'the component for GitLab', () => {
  it('and the pipeline that includes it are as the schema of GitLab says', async () => {
    const { jobs } = await readComponent();
    const folder = await mkdtemp(join(tmpdir(), 'edgewise-gitlab-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, '.gitlab-ci.yml');
    await writeFile(file, jobs);
    const check = ['--builtin-schema', 'vendor.gitlab-ci', '--data-transform', 'gitlab-ci'];
    const result = await runTool('check-jsonschema', [...check, file, join(EXAMPLE, '.gitlab-ci.yml')]);
    expect(result, result.output).toMatchObject({ status: 0 });
    await writeFile(file, jobs.replace('when: manual', 'when: sometimes'));
    expect(await runTool('check-jsonschema', [...check, file])).toMatchObject({ status: 1 });
  });

  it('uses each input that it declares, and no other', async () => {
    const { header, jobs } = await readComponent();
    const used = new Set(Array.from(jobs.matchAll(/\$\[\[ inputs\.([\w-]+) \]\]/g), ([, name]) => name));
    expect([...used].sort()).toEqual(Object.keys(header.spec.inputs).sort());
  });
});

async function readComponent(): Promise<{
  readonly header: { readonly spec: { readonly inputs: object } };
  readonly jobs: string;
}> {
  const text = await readFile(join(EXAMPLE, 'templates', 'edgewise.yml'), 'utf8');
  const [header] = parseAllDocuments(text);
  return { header: header?.toJS(), jobs: text.slice(text.indexOf('\n---\n') + 5) };
}
