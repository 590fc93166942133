import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose files wait for phones, processes and servers for longer than others take, longest first. */
const LONG = ['test/e2e/', 'test/sip/', 'test/app/', 'test/media/engine/'];

/**
 * Begins with the files that take longest, so that none of them runs alone at the end while the other worker has nothing
 * left to do. A machine that has run the tests before knows their times; a fresh clone goes by their folders.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => this.#rank(one) - this.#rank(other));
  }

  #rank({ moduleId }: TestSpecification): number {
    const path = relative(this.ctx.config.root, moduleId);
    const rank = LONG.findIndex((folder) => path.startsWith(folder));
    return rank < 0 ? LONG.length : rank;
  }
}
