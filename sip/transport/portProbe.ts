import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Endpoint } from './types.ts';

/** How long the ICMP message may take. */
const WAIT_MS = 250;
/** The keep-alive of RFC 5626 section 3.5.1, which means nothing to whoever gets it. */
const KEEP_ALIVE = Buffer.from('\r\n\r\n', 'latin1');

/**
 * Whether the machine at that end says that nobody listens on its UDP port.
 *
 * Only a connected socket hears of that, and ours is not: so a short-lived one asks. No answer means no.
 *
 * @see RFC 1122 section 4.1.3.3
 */
export function isPortUnreachable(remote: Endpoint, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(isIP(remote.address) === 6 ? 'udp6' : 'udp4');
    // Whoever closes the server need not wait for it.
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
      // Without a way there the transaction's own sending says so.
      if (error) finish(false);
      else socket.send(KEEP_ALIVE, () => undefined);
    });
  });
}
