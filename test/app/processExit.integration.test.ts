import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { prepareDatabase } from '../infra/postgres/support/databases.ts';
import { startTestGateway } from '../support/gateway.ts';
import { type ServiceProcess, startService } from '../support/processes.ts';
import { makeTempDir, tempDir } from '../support/tempDir.ts';

/** A process that waits for a thread or a socket stays for seconds. */
const AT_ONCE_MS = 3_000;

async function occupyTcp(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

async function occupyUdp(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return socket.address().port;
}

describe('A start with a port in use names the setting', () => {
  test('PORT', async () => {
    const starting = startService({ env: { PORT: String(await occupyTcp()) } });
    await expect(starting).rejects.toThrow('Callway cannot run: PORT: ');
  });

  test.each([
    ['SIP_PORT', occupyUdp, (port: number) => ({ SIP_PORT: String(port) })],
    ['SIP_PORT', occupyTcp, (port: number) => ({ SIP_PORT: String(port) })],
    [
      'RTP_PORT_MIN, RTP_PORT_MAX',
      occupyUdp,
      (port: number) => {
        const even = String(port - (port % 2));
        return { RTP_PORT_MIN: even, RTP_PORT_MAX: String(Number(even) + 1) };
      },
    ],
  ])('%s, before a database is created', async (setting, occupy, settings) => {
    const dataDir = tempDir();
    const env = { ROLES: 'api,media', SIP_HOST: '127.0.0.1', ...settings(await occupy()) };
    const starting = startTestGateway({ env, dataDir, database: 'embedded' });
    await expect(starting).rejects.toThrow(`${setting}: `);
    expect(existsSync(join(dataDir, 'database'))).toBe(false);
  });
});

test('A start without its database says what refused it', async () => {
  const starting = startService({ env: { DATABASE_URL: 'postgres://x@127.0.0.1/x?host=/missing' } });
  await expect(starting).rejects.toThrow(/Callway cannot run: database is unavailable.* \(.*ENOENT/);
});

/** Files and folders that other users may use. */
function openTo(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return ['.', ...names].filter((name) => {
    const status = lstatSync(join(folder, name));
    const mode = status.mode & 0o777;
    return status.isDirectory() ? mode !== 0o700 : status.isFile() && mode !== 0o600;
  });
}

describe('A service with a data folder of its own', () => {
  let service: ServiceProcess;
  const folder = makeTempDir();
  const umask = process.umask();
  beforeAll(async () => {
    const recordings = join(folder.path, 'recordings', 'old');
    mkdirSync(recordings, { recursive: true });
    writeFileSync(join(recordings, 'call.wav'), 'RIFF');
    await prepareDatabase(folder.path);
    expect(spawnSync('chmod', ['-R', 'a+rwX', folder.path]).status).toBe(0);
    process.umask(0);
    service = await startService({ dataDir: folder.path });
  });
  afterAll(async () => {
    process.umask(umask);
    await service?.close();
    folder.remove();
  });

  test('is readable by its owner alone, whatever was there before', () => {
    expect(openTo(folder.path)).toEqual([]);
  });

  test('exits at once after its last line, and leaves nothing that others can read', async () => {
    const stopping = service.stop();
    const isStopped = () => service.lines.some((line) => line.includes('"msg":"stopped"'));
    await expect.poll(isStopped, { timeout: 30_000, interval: 10 }).toBe(true);
    const saidMs = performance.now();
    expect(await stopping).toEqual({ code: 0, signal: null });
    expect(performance.now() - saidMs).toBeLessThan(AT_ONCE_MS);
    expect(openTo(folder.path)).toEqual([]);
  });
});
