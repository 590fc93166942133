import type { ByteString } from '../message/bytes.ts';
import { SipParseError } from '../message/errors.ts';
import { bracketed } from '../message/fields/uri.ts';
import { headerKey } from '../message/headerNames.ts';
import type { SipHeaders } from '../message/headers.ts';
import type { SipMessage } from '../message/message.ts';
import { parseHead } from '../message/parse.ts';
import type { Flow } from '../transport/types.ts';
import type { Core } from './core.ts';

/** The server alone decides about these. */
const IGNORED = new Set(['via', 'route', 'record-route', 'rseq', 'content-length']);
/** Headers in which `localhost` stands for wherever we really are. */
const LOCALISED = ['from', 'to', 'contact', 'p-asserted-identity'];

/**
 * Reads what an application wrote: the body is all that follows the blank line, whatever Content-Length says.
 *
 * @throws {SipParseError} When there is no start line, or a header line is none.
 */
export function parseApplicationMessage(sip: ByteString): SipMessage {
  const end = sip.indexOf('\r\n\r\n');
  const message = parseHead(end < 0 ? sip.replace(/(?:\r\n)+$/, '') : sip.slice(0, end));
  message.body = end < 0 ? '' : sip.slice(end + 4);
  return message;
}

/** Puts the application's headers over those that are there; `skip` names those it has no say in. */
export function overlayHeaders(onto: SipHeaders, from: SipHeaders, skip: ReadonlySet<string>): void {
  const replaced = new Set<string>();
  for (const [name, value] of from) {
    const key = headerKey(name);
    if (IGNORED.has(key) || skip.has(key)) continue;
    if (replaced.has(key)) onto.add(name, value);
    else onto.set(name, value);
    replaced.add(key);
  }
}

/** `sip:host:port` of ours as that peer sees it; over TCP and TLS it says so. */
export function ownUri(core: Core, flow: Flow): string {
  const { host, port } = core.transport.advertised(flow);
  const transport = flow.remote.transport === 'udp' ? '' : `;transport=${flow.remote.transport}`;
  return `sip:${bracketed(host)}:${port}${transport}`;
}

/** Replaces the host `localhost` by our own address and port, in the headers where drachtio-server does. */
export function replaceLocalhost(core: Core, headers: SipHeaders, flow: Flow): void {
  const { host, port } = core.transport.advertised(flow);
  for (const name of LOCALISED) {
    const value = headers.get(name);
    if (!value?.includes('localhost')) continue;
    const pattern =
      name === 'from' ? /(sips?:(?:[^@>\s]*@)?)localhost(?::\d+)?/i : /(sips?:[^@>\s]*@)localhost(?::\d+)?/i;
    headers.set(name, value.replace(pattern, `$1${bracketed(host)}:${port}`));
  }
}

/**
 * Gives a body its Content-Type when it is plainly a session description.
 *
 * @returns Whether the message may go: no body, or a body of a known type.
 */
export function ensureContentType(message: SipMessage): boolean {
  if (message.body === '') return true;
  if (message.headers.has('content-type')) return true;
  if (!message.body.startsWith('v=0')) return false;
  message.headers.add('content-type', 'application/sdp');
  return true;
}

/** A user-facing reason out of whatever was thrown while a command was carried out. */
export function reasonOf(error: unknown): string {
  if (error instanceof SipParseError) return `invalid message: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
