import { readFileSync } from 'node:fs';
import { REPOSITORY_FILE, readPinnedFiles, readRepository, refreshPins } from './repository.ts';

/**
 * `node .ci/check-release.ts`, in the release job before it installs anything: whether this tag can be published. Nothing else needs
 * REPOSITORY_FILE to be filled in. Each line that it prints is an error of the job, at a file.
 */

const { version }: { readonly version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
const { GITHUB_REF_NAME: tag, GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
const repository = readRepository();
const isFilledIn =
  /^https:\/\/github\.com\/[\w.-]+\/[\w.-]+(?<!\.git)$/.test(repository.url) &&
  /^[0-9a-f]{40}$/.test(repository.commit);

if (!isFilledIn)
  fail(
    REPOSITORY_FILE,
    `${REPOSITORY_FILE} is not filled in. Write url, such as https://github.com/ada/edgewise, and commit, all 40 digits of the one that the pages pin. Then run npm run docs, and commit both.`,
  );
else if (repository.url !== `${server}/${name}`)
  fail(
    REPOSITORY_FILE,
    `${REPOSITORY_FILE} names ${repository.url}, and this job runs in ${server}/${name}. npm refuses the provenance of another repository.`,
  );
else
  for (const [file, text] of readPinnedFiles())
    if (refreshPins(text, repository) !== text)
      fail(file, `${file} does not name the repository and commit of ${REPOSITORY_FILE}. Run npm run docs.`);

if (tag !== `v${version}`) fail('package.json', `The tag is ${tag}, and package.json says ${version}.`);
const parts = readFileSync('CHANGELOG.md', 'utf8').split('\n## ');
if (!parts.some((part) => part.startsWith(`[${version}] - `) && /^\S+ - \d{4}-\d\d-\d\d\n/.test(part)))
  fail('CHANGELOG.md', `CHANGELOG.md has no part "## [${version}] - DATE".`);

function fail(file: string, message: string): void {
  console.log(`::error file=${file}::${message}`);
  process.exitCode = 1;
}
