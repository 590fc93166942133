import { once } from 'node:events';
import { lstat, mkdtemp, readdir, rm, rmdir, unlink } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

/** The system cuts a longer one: at 103 bytes on macOS, at 107 on Linux. */
const MAX_PATH_BYTES = 100;
const FOLDER_PREFIX = 'callway-voice-';
const SOCKET_NAME = 'socket';
/** A thread that has just made its folder does not listen yet. */
const MIN_STALE_MS = 10_000;

/** A Unix domain socket that only this user's processes can open. */
export interface LocalListener {
  /** Fits a URL `ws+unix:PATH:/path`. */
  readonly path: string;
  /** Takes no more connections and removes the socket with its folder. Connections that are open stay. */
  close(): Promise<void>;
}

/**
 * Listens in a folder of mode 0700 of its own, and removes the folders that processes left behind when they crashed.
 *
 * @param below - The folder that gets it: the system's temporary one, since a network disk has no sockets.
 * @throws {Error} Where there can be no socket: the path is too long or does not fit a URL, or the system refuses it.
 */
export async function listenLocally(
  below: string,
  onConnection: (socket: Socket) => void,
): Promise<LocalListener> {
  await removeStale(below);
  const folder = await mkdtemp(join(below, FOLDER_PREFIX));
  const path = join(folder, SOCKET_NAME);
  const remove = () => rm(folder, { recursive: true, force: true });
  const server = createServer({ allowHalfOpen: true }, onConnection);
  try {
    requireUsable(path);
    server.listen(path);
    await once(server, 'listening');
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    path,
    async close() {
      server.close();
      await remove();
    },
  };
}

/** @param path - The path of a listener. @returns The URL of a path of its HTTP server, as `ws` reads it. */
export function localUrl(path: string, pathname: string): string {
  return `ws+unix:${path}:${pathname}`;
}

/** @throws {Error} */
function requireUsable(path: string): void {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new Error(`${path} is longer than ${MAX_PATH_BYTES} bytes`);
  const { pathname } = new URL(localUrl(path, '/'));
  if (pathname !== `${path}:/` || path.includes(':'))
    throw new Error(`${path} has characters that a URL cannot carry`);
}

/**
 * Removes what no process uses: this user's folders that are empty, as threads leave them that are terminated, or hold a
 * socket alone that refuses connections.
 */
async function removeStale(below: string): Promise<void> {
  const names = await readdir(below);
  const ours = names.filter((name) => name.startsWith(FOLDER_PREFIX)).map((name) => join(below, name));
  for (const folder of ours) {
    if (!(await isOld(folder))) continue;
    const path = join(folder, SOCKET_NAME);
    if (await isRefused(path)) await unlink(path).catch(ignoreMissing);
    await rmdir(folder).catch(ignoreMissing);
  }
}

async function isOld(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  if (found === undefined || !found.isDirectory() || found.uid !== process.getuid?.()) return false;
  return Date.now() - found.mtimeMs >= MIN_STALE_MS;
}

function isRefused(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
  });
}

/** Another thread that starts removes the same; a folder with more in it is not ours. */
function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTEMPTY') throw error;
}
