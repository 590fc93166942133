import type { ByteString } from '../message/bytes.ts';
import { formatMessage, type SipRequest } from '../message/message.ts';
import { tagOf } from '../message/nameAddr.ts';
import { parseHead } from '../message/parse.ts';
import { makeResponse } from '../message/respond.ts';
import type { Flow } from '../transport/types.ts';
import type { Hub } from './hub.ts';

/** Without these there is nobody to answer. */
const NEEDED = ['via', 'from', 'to', 'call-id', 'cseq'];

/**
 * Answers a request that could not be parsed, as far as enough of its headers could be.
 *
 * @see RFC 4475
 */
export function refuseUnparsed(text: ByteString, status: number, reason: string, flow: Flow): void {
  if (/^\s*(?:ACK\s|SIP\/)/i.test(text)) return;
  const end = text.search(/\r?\n\r?\n/);
  const head = (end < 0 ? text : text.slice(0, end)).replace(/^[^\r\n]*/, 'OPTIONS sip:unparsed SIP/2.0');
  try {
    const request = parseHead(head);
    if (request.kind !== 'request' || !NEEDED.every((name) => request.headers.has(name))) return;
    flow.send(formatMessage(makeResponse(request, status, { reason })));
  } catch {
    // Not even its headers can be read: there is nobody to answer.
  }
}

/** Whether there is room for a request: those of calls that there are always have it. */
export function mayBegin(hub: Hub, request: SipRequest, flow: Flow, maxWaiting: number): boolean {
  if (request.method !== 'INVITE' || tagOf(request.headers.get('to')) !== undefined) return true;
  return hub.pending.size < maxWaiting && hub.transport.admitCall(flow.remote);
}

/** Tells scanners by how their User-Agent begins. */
export function createScannerCheck(names: readonly string[]): (request: SipRequest) => boolean {
  const lower = names.map((name) => name.toLowerCase());
  return (request) => {
    const agent = request.headers.get('user-agent')?.toLowerCase();
    return agent !== undefined && lower.some((name) => agent.startsWith(name));
  };
}
