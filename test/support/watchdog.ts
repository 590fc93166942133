import { spawn } from 'node:child_process';

/**
 * Waits for its input to end, which it does when we do, however we do; then ends the process, and removes the folder
 * once the process no longer writes to it.
 */
const SCRIPT = `
read -r _
kill -"$1" "$2" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
  kill -0 "$2" 2>/dev/null || break
  sleep 0.1
done
[ -z "$3" ] || rm -rf -- "$3"`;

/**
 * Sees to it that a process which a test started does not outlive the test run, even one that was killed.
 *
 * @param pid - The process to end.
 * @param signal - What ends it for certain: `QUIT` for Postgres, whose children `KILL` would orphan.
 * @param folder - Removed with it.
 * @returns Dismisses the watchdog; to be called before the process is ended in the ordinary way.
 */
export function startWatchdog(pid: number, signal: 'KILL' | 'QUIT', folder = ''): () => void {
  const watchdog = spawn('sh', ['-c', SCRIPT, 'sh', signal, String(pid), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.unref();
  return () => {
    watchdog.kill('SIGKILL');
    watchdog.stdin.destroy();
  };
}
