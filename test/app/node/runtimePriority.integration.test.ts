import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MODULE = new URL('../../../src/app/node/runtimePriority.ts', import.meta.url).href;
/** Prints whether it was allowed, and the priorities of the main thread and of the lowest other one before and after. */
const PROGRAM = `
const { readdirSync } = await import('node:fs');
const { getPriority } = await import('node:os');
const { raiseRuntimeThreads } = await import('${MODULE}');
const others = readdirSync('/proc/self/task').map(Number).filter((id) => id !== process.pid);
const lowest = () => Math.max(...others.map((id) => getPriority(id)));
const before = [getPriority(), lowest()];
console.log(JSON.stringify([raiseRuntimeThreads(), before, [getPriority(), lowest()]]));`;

test.runIf(process.platform === 'linux')(
  'The runtime’s threads are raised, and the main thread is not, where that is allowed',
  async () => {
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', PROGRAM]);
    const [isRaised, [mainBefore, othersBefore], [main, others]] = JSON.parse(stdout);
    expect(main).toBe(mainBefore);
    if (isRaised) expect(others).toBeLessThan(othersBefore);
    else expect(others).toBe(othersBefore);
  },
);
