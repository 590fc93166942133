import { spawn } from 'node:child_process';

/**
 * Waits for the end of its input, which comes when the test process exits for any reason; then kills the process and
 * removes the folder once the process has exited.
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
 * Starts a watchdog that kills a process when the test process exits first, even by SIGKILL.
 *
 * @param pid - The process to kill.
 * @param signal - `QUIT` for Postgres, whose children `KILL` would orphan.
 * @param folder - Removed after the process.
 * @returns Dismisses the watchdog; call it before an ordinary stop.
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
