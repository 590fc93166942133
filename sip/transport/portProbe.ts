import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Endpoint } from './types.ts';

/** The timeout for the ICMP message. */
const WAIT_MS = 250;
/** The keep-alive of RFC 5626 section 3.5.1, which peers ignore. */
const KEEP_ALIVE = Buffer.from('\r\n\r\n', 'latin1');

/**
 * Resolves to true when a host reports by ICMP that a UDP port is closed.
 *
 * Only connected sockets receive that error, so a short-lived one sends a keep-alive. Without an error the result is
 * false.
 *
 * @see RFC 1122 section 4.1.3.3
 */
export function isPortUnreachable(remote: Endpoint, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(isIP(remote.address) === 6 ? 'udp6' : 'udp4');
    // Must not delay the end of the process.
    socket.unref();
    let over = false;
    const finish = (refused: boolean): void => {
      if (over) return;
      over = true;
      timer.cancel();
      socket.close();
      resolve(refused);
    };
    const timer = clock.setTimer(() => finish(false), WAIT_MS);
    socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code === 'ECONNREFUSED'));
    socket.connect(remote.port, remote.address, (error?: Error) => {
      // The transaction's own transmission reports a missing route.
      if (error) finish(false);
      else socket.send(KEEP_ALIVE, () => undefined);
    });
  });
}
