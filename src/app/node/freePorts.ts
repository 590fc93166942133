import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

import { PortPool } from '../../media/engine/portPool.ts';
import type { Config } from '../settings/config.ts';
import { portError } from './portErrors.ts';

export type Transport = 'tcp' | 'udp';
export type TryPort = typeof tryPort;

type PortSettings = Pick<
  Config,
  'SIP_HOST' | 'SIP_PORT' | 'SIP_TLS_PORT' | 'DRACHTIO_URL' | 'RTP_PORT_MIN' | 'RTP_PORT_MAX'
>;

/**
 * Tries the ports of calls, so that a start that cannot succeed ends before anything slow is started.
 *
 * @throws {Error} Which names the setting.
 */
export async function requireFreePorts(config: PortSettings): Promise<void> {
  const { SIP_HOST } = config;
  for (const [setting, transport, port] of sipPorts(config)) {
    const code = await tryPort(transport, SIP_HOST, port);
    if (code !== undefined) throw portError(code === 'EADDRNOTAVAIL' ? 'SIP_HOST' : setting, code, port);
  }
  await requireRtpPorts(config);
}

/** The ports of the embedded SIP server. */
export function sipPorts({ SIP_PORT, SIP_TLS_PORT, DRACHTIO_URL }: PortSettings) {
  if (DRACHTIO_URL !== undefined) return [];
  const ports: ['SIP_PORT' | 'SIP_TLS_PORT', Transport, number][] = [
    ['SIP_PORT', 'udp', SIP_PORT],
    ['SIP_PORT', 'tcp', SIP_PORT],
  ];
  if (SIP_TLS_PORT !== undefined) ports.push(['SIP_TLS_PORT', 'tcp', SIP_TLS_PORT]);
  return ports;
}

/** @throws {Error} When there is no pair of ports in the range that can be bound. */
async function requireRtpPorts({ SIP_HOST, RTP_PORT_MIN, RTP_PORT_MAX }: PortSettings): Promise<void> {
  const pairs = new PortPool({ min: RTP_PORT_MIN, max: RTP_PORT_MAX });
  for (let port = pairs.take(); port !== undefined; port = pairs.take()) {
    const codes = await Promise.all([port, port + 1].map((each) => tryPort('udp', SIP_HOST, each)));
    if (codes.every((code) => code === undefined)) return;
  }
  const range = `${RTP_PORT_MIN} to ${RTP_PORT_MAX}`;
  throw new Error(
    `RTP_PORT_MIN, RTP_PORT_MAX: other processes use all UDP ports from ${range}; choose another range`,
  );
}

/** Binds the port and releases it. @returns The error code when it cannot be bound; undefined when it can. */
export function tryPort(transport: Transport, host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message);
    if (transport === 'tcp') {
      const server = createServer().once('error', failed);
      server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
    } else {
      const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4').once('error', (error) => {
        socket.close();
        failed(error);
      });
      socket.bind({ port, address: host, exclusive: true }, () => socket.close(() => resolve(undefined)));
    }
  });
}
