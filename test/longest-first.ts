import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long with EDGEWISE_FULL=1, by how early they start. After a clean install nothing is known of durations, and vitest starts with
 * large files: some of these are a few lines, and would run alone at the end. Those with tools come second: `.ci/run` may still install them.
 */
const LONG = [
  /test\/(?:(?:simulation|stranger)\/mutants|try\/page|end-to-end\/(?:killed|monday|html)|laws\/stack-graphs|simulation\/walks-\d)\.test\.ts$/,
  /test\/pipelines\/(?:github|gitlab|pre-commit)\.test\.ts$/,
];

/** Starts with the files that take longest, so that every processor is busy until the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONG.findIndex((pattern) => pattern.test(moduleId));
      return index === -1 ? LONG.length : index;
    };
    // The workers of one project are kept until its last file.
    return [...Map.groupBy(sorted, ({ project }) => project.name).values()].flatMap((own) =>
      own.toSorted((left, right) => rank(left) - rank(right)),
    );
  }
}
