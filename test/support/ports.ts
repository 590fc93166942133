import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Below Linux's ephemeral ports, which start at 32768, and below the gateway's RTP ports: only these tests use this
 * range. Even ports only, since some programs also bind the next port.
 */
const FIRST_PORT = 10_000;
const PORT_PAIRS = 10_000;
/** `fetch` connects to none of these. @see Fetch Standard, "port blocking" */
const BLOCKED_PORTS = [10_080];
const folder = join(tmpdir(), 'callway-test-ports');
const claims = new Set<string>();
let next = Math.floor(Math.random() * PORT_PAIRS);

/**
 * Reserves a TCP and UDP port of 127.0.0.1 until this process exits; no other test process gets it.
 *
 * @throws {Error} When no port is left.
 */
export async function reservePort(): Promise<number> {
  for (let attempt = 0; attempt < PORT_PAIRS; attempt += 1) {
    const port = FIRST_PORT + 2 * (next++ % PORT_PAIRS);
    if (!BLOCKED_PORTS.includes(port) && claim(port) && (await isUnused(port))) return port;
  }
  throw new Error(`no free port between ${FIRST_PORT} and ${FIRST_PORT + 2 * PORT_PAIRS}`);
}

/** A file named after the port holds the owner's process id; the claim of a dead process is taken over. */
function claim(port: number): boolean {
  const file = join(folder, String(port));
  mkdirSync(folder, { recursive: true });
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      if (claims.size === 0) process.once('exit', () => releaseAll());
      claims.add(file);
      return true;
    } catch {
      if (!removeIfStale(file)) return false;
    }
  }
}

function removeIfStale(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') return false;
    rmSync(file, { force: true });
    return true;
  }
}

function releaseAll(): void {
  for (const file of claims) rmSync(file, { force: true });
}

async function isUnused(port: number): Promise<boolean> {
  const tcp = createServer();
  const udp = createSocket('udp4');
  try {
    tcp.listen(port, '127.0.0.1');
    udp.bind(port, '127.0.0.1');
    await Promise.all([once(tcp, 'listening'), once(udp, 'listening')]);
    return true;
  } catch {
    return false;
  } finally {
    await Promise.all([
      new Promise((resolve) => tcp.close(resolve)),
      new Promise<void>((resolve) => udp.close(() => resolve())),
    ]);
  }
}
