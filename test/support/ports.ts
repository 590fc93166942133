import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

const ATTEMPTS = 50;

/**
 * A port of 127.0.0.1 on which nothing listens, neither TCP nor UDP.
 * Somebody else may take it before you do; whoever starts a server on it tries again with another.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = await freeTcpPort();
    if (await isFreeUdpPort(port)) return port;
  }
  throw new Error(`No port was free for TCP and UDP in ${ATTEMPTS} attempts`);
}

async function freeTcpPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('A TCP server without a port');
  return address.port;
}

async function isFreeUdpPort(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  try {
    socket.bind(port, '127.0.0.1');
    await once(socket, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    socket.close();
  }
}
