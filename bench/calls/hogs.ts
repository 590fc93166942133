import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';

/** Starts processes that use a core each. @returns Ends them. */
export function startHogs(count: number): () => void {
  const hogs = Array.from({ length: count }, () =>
    spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
  );
  // The phones' priority is not for them.
  for (const { pid } of hogs) if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_NORMAL);
  return () => {
    for (const hog of hogs) hog.kill('SIGKILL');
  };
}
