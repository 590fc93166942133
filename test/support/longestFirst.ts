import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders of the slowest files, which wait for phones, processes and servers; slowest first. */
const LONG = ['test/e2e/', 'test/sip/', 'test/app/', 'test/media/engine/'];

/**
 * Starts the longest test files first, so that no worker is idle while another runs a long file at the end.
 * Uses the recorded durations of earlier runs; a fresh clone has none and uses the folders.
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
