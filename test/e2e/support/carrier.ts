import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** How a carrier's callee reacts to a call: `opt_out` answers, sends the digit 9, and waits for the caller to hang up. */
export type Reaction = 'answer' | 'opt_out' | 'busy' | 'no_answer' | 'declined' | 'unknown' | 'broken';

/** The outcome of an attempt by the callee's reaction. */
export const OUTCOMES: Readonly<Record<Reaction, string>> = {
  answer: 'answered',
  opt_out: 'answered',
  busy: 'busy',
  no_answer: 'no_answer',
  declined: 'declined',
  unknown: 'invalid_number',
  broken: 'failed',
};

/** The first INVITE of a call. */
export interface Invite {
  readonly number: string;
  /** The header of SIP. */
  readonly callId: string;
  /** When it arrived, in milliseconds since the Unix epoch by the carrier's clock. */
  readonly atMs: number;
  readonly reaction: Reaction;
}

export interface CarrierOptions {
  /** @param attempt - From 1, of the calls to this number. */
  readonly reactionOf: (number: string, attempt: number) => Reaction;
  /** Default: this machine's time. */
  readonly now?: () => number;
  /** How long an answered call lasts. */
  readonly talkMs?: number;
}

/** A SIP peer over UDP that reacts to each call as its number says. */
export interface Carrier {
  readonly port: number;
  /** In order; grows. */
  readonly invites: readonly Invite[];
  /** The number of answered calls that no one has hung up. */
  readonly live: () => number;
  /** When calls were hung up, as {@link Invite.atMs}; grows. */
  readonly hangUps: readonly number[];
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
/** The agent listens by then. */
const DIGIT_AFTER_MS = 200;
/** The caller has hung up by then. */
const OPT_OUT_MS = 15_000;
const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 9 RTP/AVP 0',
  '',
];

export async function startCarrier({
  reactionOf,
  now = Date.now,
  talkMs = TALK_MS,
}: CarrierOptions): Promise<Carrier> {
  const socket = createSocket('udp4');
  const invites: Invite[] = [];
  const attempts = new Map<string, number>();
  /** The answers to INVITEs by Call-ID, sent again to each retransmission. */
  const answers = new Map<string, string>();
  const live = new Set<string>();
  const hangUps: number[] = [];
  /** @returns False when the call is over already. */
  const end = (callId: string): boolean => {
    const isLive = live.delete(callId);
    if (isLive) hangUps.push(now());
    return isLive;
  };
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address() as AddressInfo;
  const send = (message: string, to: RemoteInfo) => socket.send(message, to.port, to.address);
  const responseTo = (request: string, status: string, body = '') => {
    const copied = headers(request, 'Via|From|Call-ID|CSeq|Record-Route');
    const contact = `Contact: <sip:callee@127.0.0.1:${port}>`;
    const type = body === '' ? [] : ['Content-Type: application/sdp'];
    return messageOf([`SIP/2.0 ${status}`, ...copied, `To: ${tagged(request)}`, contact, ...type], body);
  };
  /** Sends a request within the dialog that an INVITE has made. */
  const request = (invite: string, from: RemoteInfo, method: string, sequence: number, body = '') => {
    const target = /<([^>]+)>/.exec(header(invite, 'Contact'))?.[1] ?? '';
    const via = `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${Math.random()}`;
    const ends = [`From: ${tagged(invite)}`, `To: ${header(invite, 'From')}`];
    const callId = `Call-ID: ${header(invite, 'Call-ID')}`;
    const type = body === '' ? [] : ['Content-Type: application/dtmf-relay'];
    const first = [`${method} ${target} SIP/2.0`, via, 'Max-Forwards: 70', ...ends, callId];
    send(messageOf([...first, `CSeq: ${sequence} ${method}`, ...type], body), from);
  };
  const answer = (invite: string, from: RemoteInfo, callId: string, reaction: Reaction) => {
    live.add(callId);
    if (reaction === 'opt_out')
      setTimeout(
        () => live.has(callId) && request(invite, from, 'INFO', 1, 'Signal=9\r\nDuration=160\r\n'),
        DIGIT_AFTER_MS,
      );
    const hangUp = () => end(callId) && request(invite, from, 'BYE', 2);
    setTimeout(hangUp, reaction === 'opt_out' ? OPT_OUT_MS : talkMs);
  };
  socket.on('message', (bytes, from) => {
    const message = bytes.toString();
    const [method] = message.split(' ', 1);
    const callId = header(message, 'Call-ID');
    if (method === 'ACK' || method === 'SIP/2.0') return;
    if (method !== 'INVITE') {
      if (method === 'BYE') end(callId);
      return send(responseTo(message, '200 OK'), from);
    }
    const known = answers.get(callId);
    if (known !== undefined) return send(known, from);
    const number = /^INVITE sip:([^@;]+)/.exec(message)?.[1] ?? '';
    const attempt = (attempts.get(number) ?? 0) + 1;
    attempts.set(number, attempt);
    const reaction = reactionOf(number, attempt);
    invites.push({ number, callId, atMs: now(), reaction });
    const isAnswered = reaction === 'answer' || reaction === 'opt_out';
    const response = isAnswered
      ? responseTo(message, '200 OK', SDP.join('\r\n'))
      : responseTo(message, RESPONSES[reaction]);
    answers.set(callId, response);
    send(response, from);
    if (isAnswered) answer(message, from, callId, reaction);
  });
  const close = () => {
    live.clear();
    socket.close();
  };
  return { port, invites, live: () => live.size, hangUps, close };
}

function messageOf(lines: readonly string[], body: string): string {
  return [...lines, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');
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
