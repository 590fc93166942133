import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type TryPort, tryPort } from '../../../src/app/node/freePorts.ts';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { checkPorts } from '../../../src/cli/doctor/ports.ts';
import { reservePort } from '../../support/ports.ts';

describe('The ports check', () => {
  const taken =
    (isTaken: (transport: string, port: number) => boolean): TryPort =>
    async (transport, _host, port) =>
      isTaken(transport, port) ? 'EADDRINUSE' : undefined;

  it('passes when all ports are free, and skips SIP with drachtio-server', async () => {
    const own = await checkPorts(
      loadConfig({ SIP_PORT: '5070' }),
      taken(() => false),
    );
    const drachtio = await checkPorts(
      loadConfig({ DRACHTIO_URL: 'drachtio://:s@h:9022' }),
      taken(() => false),
    );

    expect(own.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'PORT tcp ok',
      'SIP_PORT udp ok',
      'SIP_PORT tcp ok',
      'RTP ports ok',
    ]);
    expect(drachtio.map(({ name }) => name)).toEqual(['PORT tcp', 'RTP ports']);
  });

  it('names the setting of a port in use', async () => {
    const findings = await checkPorts(
      loadConfig({}),
      taken((transport, port) => transport === 'tcp' && port === 5060),
    );

    expect(findings.filter(({ status }) => status === 'fail')).toEqual([
      {
        name: 'SIP_PORT tcp',
        status: 'fail',
        message: '127.0.0.1:5060 cannot be bound (EADDRINUSE)',
        remedy: expect.stringContaining('set SIP_PORT'),
      },
    ]);
  });

  it.each([
    { title: 'the last', isTaken: (port: number) => port === 39_999, status: 'warn' },
    { title: 'the first', isTaken: (port: number) => port === 30_000, status: 'warn' },
    { title: 'every', isTaken: (port: number) => port >= 30_000, status: 'fail' },
  ])('reports $status with $title RTP port in use', async ({ isTaken, status }) => {
    const findings = await checkPorts(
      loadConfig({}),
      taken((_transport, port) => isTaken(port)),
    );
    expect(findings.at(-1)).toMatchObject({ name: 'RTP ports', status });
  });

  it('does not bind port 0', async () => {
    const [first] = await checkPorts(
      loadConfig({ PORT: '0' }),
      taken(() => true),
    );
    expect(first).toMatchObject({ status: 'ok', message: 'any free port' });
  });
});

describe('tryPort', () => {
  it('detects a port in use for each transport, and releases a free one', async () => {
    const [tcp, udp] = [await reservePort(), await reservePort()];
    expect(await tryPort('tcp', '127.0.0.1', tcp)).toBeUndefined();
    expect(await tryPort('udp', '127.0.0.1', udp)).toBeUndefined();

    const server = createServer().listen(tcp, '127.0.0.1');
    const socket = createSocket('udp4').bind(udp, '127.0.0.1');
    onTestFinished(() => {
      server.close();
      socket.close();
    });
    await Promise.all([once(server, 'listening'), once(socket, 'listening')]);
    expect(await tryPort('tcp', '127.0.0.1', tcp)).toBe('EADDRINUSE');
    expect(await tryPort('udp', '127.0.0.1', udp)).toBe('EADDRINUSE');
  });

  it('detects an address of another machine', async () => {
    expect(await tryPort('tcp', '192.0.2.1', await reservePort())).toBe('EADDRNOTAVAIL');
  });
});
