import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Time for a restart of the service to adopt the server with its data. */
export const ORPHAN_SECONDS = 5 * 60;

/** Names the watcher in charge, so that one of an earlier start leaves an adopted server alone. */
const TOKEN_FILE = 'watcher';

/**
 * Arguments: the server's process id, seconds, the token file, the token. Standard input is a pipe from the service that
 * ends with it, however it dies.
 */
const SCRIPT = `read -r _
while [ "$2" -gt 0 ]; do
  kill -0 "$1" 2>/dev/null || exit 0
  token=$(cat "$3" 2>/dev/null) || break
  [ "$token" = "$4" ] || exit 0
  sleep 1
  set -- "$1" "$(($2 - 1))" "$3" "$4"
done
kill -TERM "$1"`;

/**
 * Ends a server that outlives this process for longer than `seconds` without being adopted, or whose folder was removed.
 * A server writes everything to disk before it ends.
 *
 * @returns A function that ends the watch; idempotent.
 */
export async function watchForOrphan(
  folder: string,
  serverPid: number,
  seconds: number,
): Promise<() => void> {
  const token = randomUUID();
  const file = join(folder, TOKEN_FILE);
  await writeFile(file, token, { mode: 0o600 });
  // A process group of its own: Ctrl-C in a terminal must not end the watch before the service.
  const watcher = spawn(
    '/bin/sh',
    ['-c', SCRIPT, 'callway-redis-watcher', `${serverPid}`, `${seconds}`, file, token],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    },
  );
  watcher.on('error', () => {
    // Without a shell, a server whose folder is never used again stays.
  });
  watcher.stdin.on('error', () => {
    // The watcher has ended.
  });
  watcher.unref();
  if ('unref' in watcher.stdin && typeof watcher.stdin.unref === 'function') watcher.stdin.unref();
  return () => void watcher.kill('SIGKILL');
}
