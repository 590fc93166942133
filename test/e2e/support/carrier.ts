import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** How a carrier's callee reacts to a call. */
export type Reaction = 'answer' | 'busy' | 'no_answer' | 'declined' | 'unknown' | 'broken';

/** A SIP peer over UDP that reacts to each call as its number says. */
export interface Carrier {
  readonly port: number;
  /** The called numbers, one for each INVITE of a new call, in order; grows. */
  readonly invites: readonly string[];
  close(): void;
}

const RESPONSES = {
  busy: '486 Busy Here',
  no_answer: '480 Temporarily Unavailable',
  declined: '603 Decline',
  unknown: '404 Not Found',
  broken: '503 Service Unavailable',
} as const;
const TALK_MS = 300;
const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 9 RTP/AVP 0',
  '',
];

export async function startCarrier(reactionOf: (number: string) => Reaction): Promise<Carrier> {
  const socket = createSocket('udp4');
  const invites: string[] = [];
  const known = new Set<string>();
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address() as AddressInfo;
  const send = (lines: readonly string[], to: RemoteInfo, body = '') => {
    const message = [...lines, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');
    socket.send(message, to.port, to.address);
  };
  const respond = (request: string, from: RemoteInfo, status: string, body = '') => {
    const copied = headers(request, 'Via|From|Call-ID|CSeq|Record-Route');
    const type = body === '' ? [] : ['Content-Type: application/sdp'];
    const lines = [
      `SIP/2.0 ${status}`,
      ...copied,
      `To: ${tagged(request)}`,
      `Contact: <sip:callee@127.0.0.1:${port}>`,
    ];
    send([...lines, ...type], from, body);
  };
  const hangUp = (invite: string, from: RemoteInfo) => {
    const target = /<([^>]+)>/.exec(header(invite, 'Contact'))?.[1] ?? '';
    const via = `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${known.size}${Math.random()}`;
    const ends = [`From: ${tagged(invite)}`, `To: ${header(invite, 'From')}`];
    const callId = `Call-ID: ${header(invite, 'Call-ID')}`;
    send([`BYE ${target} SIP/2.0`, via, 'Max-Forwards: 70', ...ends, callId, 'CSeq: 1 BYE'], from);
  };
  socket.on('message', (bytes, from) => {
    const message = bytes.toString();
    const [method] = message.split(' ', 1);
    if (method === 'INVITE') {
      const callId = header(message, 'Call-ID');
      // A retransmission has its answer on the way.
      if (known.has(callId)) return;
      known.add(callId);
      const number = /^INVITE sip:([^@;]+)/.exec(message)?.[1] ?? '';
      invites.push(number);
      const reaction = reactionOf(number);
      if (reaction !== 'answer') return respond(message, from, RESPONSES[reaction]);
      respond(message, from, '200 OK', SDP.join('\r\n'));
      setTimeout(() => hangUp(message, from), TALK_MS);
    } else if (method !== 'ACK' && method !== 'SIP/2.0') respond(message, from, '200 OK');
  });
  return { port, invites, close: () => socket.close() };
}

/** The lines of these headers. @param names - Separated by `|`. */
function headers(message: string, names: string): string[] {
  return message.split('\r\n').filter((line) => new RegExp(`^(?:${names}):`, 'i').test(line));
}

function header(message: string, name: string): string {
  return (
    headers(message, name)[0]
      ?.slice(name.length + 1)
      .trim() ?? ''
  );
}

/** Our side of the dialog. */
function tagged(message: string): string {
  return `${header(message, 'To')};tag=carrier`;
}
