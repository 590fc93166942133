import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';

/** A scripted stateless proxy that record-routes and keeps Call-ID and tags. */
export interface Forwarder {
  readonly port: number;
  close(): Promise<void>;
}

/** @param target - The port for calls to the proxy itself. */
export async function startForwarder(target: () => number): Promise<Forwarder> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  const isOurs = (line: string) => line.includes(`127.0.0.1:${port}`);

  const forwardRequest = (text: string): void => {
    const lines = text.split('\r\n');
    const routes = lines.filter((line) => /^Route:/i.test(line) && !isOurs(line));
    const [startLine = '', ...rest] = lines.filter((line) => !/^Route:/i.test(line));
    const isForUs = isOurs(startLine);
    const uri = isForUs ? `sip:app@127.0.0.1:${target()}` : (startLine.split(' ')[1] ?? '');
    const [method = ''] = startLine.split(' ');
    // Equal for an INVITE, its CANCEL and retransmissions.
    const branch = createHash('md5').update(topVia(text)).digest('hex');
    const added = [
      `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${branch}`,
      ...(method === 'INVITE' ? [`Record-Route: <sip:127.0.0.1:${port};lr>`] : []),
      ...routes,
    ];
    const nextPort = Number(/:(\d+)(?=[;>\s]|$)/.exec(routes[0] ?? uri)?.[1]);
    socket.send([`${method} ${uri} SIP/2.0`, ...added, ...rest].join('\r\n'), nextPort, '127.0.0.1');
  };
  const forwardAnswer = (text: string): void => {
    const rest = text.replace(/^Via:.*\r\n/im, '');
    socket.send(rest, Number(/:(\d+)/.exec(topVia(rest).replace(/^Via:/i, ''))?.[1]), '127.0.0.1');
  };
  socket.on('message', (bytes) => {
    const text = bytes.toString('latin1');
    if (text.trim() === '') return; // A port probe.
    if (text.startsWith('SIP/2.0')) forwardAnswer(text);
    else forwardRequest(text);
  });
  return { port, close: () => new Promise((resolve) => socket.close(() => resolve())) };
}

function topVia(text: string): string {
  return /^Via:.*$/im.exec(text)?.[0] ?? '';
}
