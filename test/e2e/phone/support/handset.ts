import { calleeRequest, header, Phone } from '../../../sip/support/phone.ts';
import type { Installation } from './installation.ts';

/** A phone operated by the test, message by message. */
export interface Handset {
  readonly port: number;
  /** All messages in order: `< INVITE` was received, `> 200` was sent. */
  readonly ladder: readonly string[];
  /** The next received message, retransmissions included. @param what - Its method or status, and for a status its CSeq method. */
  next(what: string, method?: string, timeoutMs?: number): Promise<string>;
  /** The INVITE of the next call, not one that is retransmitted, as it is on a busy machine. */
  nextCall(): Promise<string>;
  /** Runs this for each such request from now on. */
  onRequest(method: string, respond: (request: string) => void): void;
  /** Answers a request. @returns The response. */
  answer(request: string, status: string, body?: string): string;
  /** Sends a request within a call that it answered. */
  request(method: string, invite: string, accepted: string, body?: string): void;
  /** Sends a request of a call that it makes. */
  call(method: string, parts: Parameters<Phone['request']>[2]): string;
  send(text: string): void;
}

const SLOW_MS = 20_000;

/** Opens a phone for the calls of the installation; it stays until the end of the file. */
export async function openHandset({
  sipPort,
  closeAfterTests,
}: Pick<Installation, 'sipPort' | 'closeAfterTests'>): Promise<Handset> {
  const phone = await Phone.open();
  closeAfterTests(() => phone.close());
  const ladder: string[] = [];
  const note = (arrow: string, text: string) => {
    ladder.push(`${arrow} ${/^(?:SIP\/2\.0 )?(\w+)/.exec(text)?.[1]}`);
  };
  const responders = new Map<string, (request: string) => void>();
  phone.onMessage = (text) => {
    note('<', text);
    for (const [method, respond] of responders) if (text.startsWith(`${method} `)) respond(text);
  };
  let sequence = 100;
  const send = (text: string) => {
    note('>', text);
    phone.send(text, sipPort);
  };
  const next = (what: string, method = '', timeoutMs = SLOW_MS) =>
    phone.next(new RegExp(`^(?:SIP/2\\.0 )?${what} [^]*^CSeq: \\d+ ${method}`, 'm'), timeoutMs);
  const callIds = new Set<string>();
  const nextCall = async (): Promise<string> => {
    const invite = await next('INVITE');
    const callId = header(invite, 'Call-ID');
    if (callIds.has(callId)) return await nextCall();
    callIds.add(callId);
    return invite;
  };
  return {
    port: phone.port,
    ladder,
    next,
    nextCall,
    onRequest: (method, respond) => void responders.set(method, respond),
    answer(request, status, body = '') {
      const answer = phone.answer(request, status, { body });
      send(answer);
      return answer;
    },
    request(method, invite, accepted, body = '') {
      sequence += 1;
      const extra = body === '' ? [] : ['Content-Type: application/sdp'];
      send(calleeRequest(phone, { method, invite, accepted, sequence, extra, body }));
    },
    call(method, parts) {
      const request = phone.request(method, sipPort, parts);
      send(request);
      return request;
    },
    send,
  };
}
