import { SipParseError } from '../message/errors.ts';
import { bracketed } from '../message/fields/uri.ts';
import { headerKey } from '../message/headerNames.ts';
import type { SipHeaders } from '../message/headers.ts';
import type { SipMessage } from '../message/message.ts';
import type { Flow } from '../transport/types.ts';
import type { Core } from './core.ts';

/** Headers that only the server sets. */
const IGNORED = new Set(['via', 'route', 'record-route', 'rseq', 'content-length']);
/** Headers in which `localhost` is replaced by our own address, as drachtio-server does. */
const WITH_LOCALHOST = ['from', 'to', 'contact', 'p-asserted-identity'];

/** Copies the application's headers onto a message; `skip` names those that it cannot set. */
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

/** Our `sip:host:port` as the peer of a flow sees it, with the transport unless it is UDP. */
export function ownUri(core: Core, flow: Flow): string {
  const { host, port } = core.transport.advertised(flow);
  const transport = flow.remote.transport === 'udp' ? '' : `;transport=${flow.remote.transport}`;
  return `sip:${bracketed(host)}:${port}${transport}`;
}

/** Replaces the host `localhost` by our own address and port. */
export function replaceLocalhost(core: Core, headers: SipHeaders, flow: Flow): void {
  const { host, port } = core.transport.advertised(flow);
  for (const name of WITH_LOCALHOST) {
    const value = headers.get(name);
    if (!value?.includes('localhost')) continue;
    const pattern =
      name === 'from' ? /(sips?:(?:[^@>\s]*@)?)localhost(?::\d+)?/i : /(sips?:[^@>\s]*@)localhost(?::\d+)?/i;
    headers.set(name, value.replace(pattern, `$1${bracketed(host)}:${port}`));
  }
}

/**
 * Puts URIs without angle brackets into them, as drachtio-server does. Parameters after a bare URI belong to the header.
 *
 * @param names - The headers that contain addresses.
 * @throws {SipParseError} When a quoted string or an angle bracket is never closed.
 * @see RFC 3261 section 20.10
 */
export function bracketAddresses(headers: SipHeaders, names: readonly string[]): void {
  for (const name of names) {
    if (headers.all(name).every((value) => value.includes('<'))) continue;
    headers.replaceAll(name, headers.list(name).map(bracketAddress));
  }
}

function bracketAddress(value: string): string {
  const [, uri, params = ''] = /^([a-z][a-z0-9+.-]*:[^;<>]+?)\s*(;.*)?$/is.exec(value) ?? [];
  return uri === undefined ? value : `<${uri}>${params}`;
}

/**
 * Adds Content-Type `application/sdp` to a body that is a session description.
 *
 * @returns False when the body has an unknown type.
 */
export function ensureContentType(message: SipMessage): boolean {
  if (message.body === '') return true;
  if (message.headers.has('content-type')) return true;
  if (!message.body.startsWith('v=0')) return false;
  message.headers.add('content-type', 'application/sdp');
  return true;
}

/** The text of a refusal (NOK) for an error while a command was carried out. */
export function refusalOf(error: unknown): string {
  if (error instanceof SipParseError) return `invalid message: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
