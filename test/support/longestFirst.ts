import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What takes longest comes first: the console's pages and calls in real time, then tests that wait for processes and
 * servers. Unit tests fill the end, where no long file may run alone.
 */
const ORDER = [
  /^test\/console\/pages/,
  /^test\/e2e\/.*\.realtime\.test\.ts$/,
  /\.realtime\.test\.ts$/,
  /^test\/e2e\//,
  /^test\/app\/.*\.integration\.test\.ts$/,
  /\.integration\.test\.ts$/,
];

/**
 * Starts the longest test files first, so that no worker is idle while another runs a long file at the end.
 * Uses the recorded durations of earlier runs; a fresh clone has none and uses the kinds of tests.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => this.#rank(one) - this.#rank(other));
  }

  #rank({ moduleId }: TestSpecification): number {
    const path = relative(this.ctx.config.root, moduleId);
    const rank = ORDER.findIndex((kind) => kind.test(path));
    return rank < 0 ? ORDER.length : rank;
  }
}
