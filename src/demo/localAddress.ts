import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';

import { DemoError } from './demoError.ts';

/**
 * Finds this machine's address on the route to a host; sends nothing.
 *
 * @throws {DemoError} When there is no route to the host.
 */
export async function addressTowards(host: string, port: number): Promise<string> {
  const bare = host.replace(/^\[|\]$/g, '');
  try {
    const { address, family } = await lookup(bare);
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
    try {
      const connected = once(socket, 'connect');
      socket.connect(port, address);
      await connected;
      return socket.address().address;
    } finally {
      socket.close();
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DemoError(`There is no route to the trunk ${host}: ${reason}.`, { cause });
  }
}
