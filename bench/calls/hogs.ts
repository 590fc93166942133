import { spawn } from 'node:child_process';

/** Starts processes that use a core each. @returns Ends them. */
export function startHogs(count: number): () => void {
  const hogs = Array.from({ length: count }, () =>
    spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
  );
  return () => {
    for (const hog of hogs) hog.kill('SIGKILL');
  };
}
