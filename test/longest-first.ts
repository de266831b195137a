import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take a minute or more with EDGEWISE_FULL=1. After a clean install nothing is known of durations, and vitest starts with large files: some of these
 * are a few lines, and would run alone at the end.
 */
const LONG =
  /test\/(?:(?:simulation|stranger)\/mutants|try\/page|end-to-end\/(?:killed|monday|html)|pipelines\/(?:github|gitlab|pre-commit)|laws\/stack-graphs|simulation\/walks-\d)\.test\.ts$/;

/** Starts with the files that take longest, so that every processor is busy until the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // The workers of one project are kept until its last file.
    return [...Map.groupBy(sorted, ({ project }) => project.name).values()].flatMap((own) => {
      const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))];
    });
  }
}
