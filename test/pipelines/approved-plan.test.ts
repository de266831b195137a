import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { approve, createJob } from './steps.ts';
import { describeWith, runTool } from './tools.ts';

const PAGE = readFileSync('docs/how-to/pipelines.md', 'utf8');
const [, RECIPE = ''] = /^## Approve on the pull request$[\s\S]*?```sh\n([\s\S]*?)```/m.exec(PAGE) ?? [];

/** A `gh` that knows the pull request of a commit, the run of its head, and the artifact of that run. */
const GH = `#!/bin/sh
echo "$*" >>"$HOME/gh.log"
case "$1 $2" in
  'api repos/o/r/commits/abc/pulls') echo def ;;
  'run list') echo 42 ;;
  'run download') mkdir "$7" && cp "$HOME/plan.json" "$7" ;;
esac
`;

describeWith(['sh'], 'the recipe that applies what the pull request approved', () => {
  it('applies the plan of the run of its head, and refuses what differs from it', async () => {
    const job = await createJob();
    await writeFile(join(job.folder, 'bin/gh'), GH, { mode: 0o755 });
    const env = { ...job.env, GITHUB_REPOSITORY: 'o/r', GITHUB_SHA: 'abc' };
    const run = (temporary: string) =>
      runTool('sh', ['-e', '-c', RECIPE], {
        cwd: job.folder,
        env: { ...env, RUNNER_TEMP: join(job.folder, 'temporary', temporary) },
      });
    for (const name of ['first', 'second']) await runTool('mkdir', [join(job.folder, 'temporary', name)]);
    await approve(job);
    const applied = await run('first');
    expect(applied.status, applied.output).toBe(0);
    expect(await readFile(join(job.folder, 'gh.log'), 'utf8')).toMatch(
      /^api repos\/o\/r\/commits\/abc\/pulls .*\nrun list --workflow plan --commit def .*\nrun download 42 --name edgewise-plan /,
    );
    const text = await readFile(join(job.folder, 'manifests/edgewise.yaml'), 'utf8');
    await writeFile(join(job.folder, 'manifests/edgewise.yaml'), text.replace(':20001', ':20011'));
    expect((await run('second')).status).toBe(6);
  });
});
