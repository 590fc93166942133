import { parseNameAddr, tagOf } from '../message/fields/nameAddr.ts';
import { parseCSeq } from '../message/fields/sequence.ts';
import { parseUri } from '../message/fields/uri.ts';
import { SipHeaders } from '../message/headers.ts';
import type { SipMessage, SipRequest, SipResponse } from '../message/message.ts';

/** The state of a dialog. @see RFC 3261 section 12 */
export interface DialogState {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  /** The From of our requests. */
  readonly localAddress: string;
  readonly remoteAddress: string;
  /** The last CSeq sent. */
  localSequence: number;
  /** The last CSeq received; `undefined` before any. */
  remoteSequence: number | undefined;
  /** The Route values, nearest hop first. */
  routeSet: string[];
  /** The peer's Contact URI. */
  remoteTarget: string;
  /** Our Contact value. */
  localTarget: string;
}

/** Target refresh requests. @see RFC 3261 section 12.2, RFC 3311, RFC 6665 */
const TARGET_REFRESH = new Set(['INVITE', 'UPDATE', 'SUBSCRIBE', 'NOTIFY', 'REFER']);

/** The dialog created by our response. @throws {SipParseError} */
export function dialogStateOfUas(request: SipRequest, response: SipResponse): DialogState {
  const to = response.headers.get('to') ?? '';
  const from = request.headers.get('from') ?? '';
  return {
    callId: request.headers.get('call-id') ?? '',
    localTag: tagOf(to) ?? '',
    remoteTag: tagOf(from) ?? '',
    localAddress: to,
    remoteAddress: from,
    localSequence: 0,
    remoteSequence: parseCSeq(request.headers.get('cseq') ?? '').sequence,
    routeSet: request.headers.addresses('record-route'),
    remoteTarget: contactUri(request) ?? '',
    localTarget: response.headers.get('contact') ?? '',
  };
}

/** The dialog created by a response to our request. @throws {SipParseError} */
export function dialogStateOfUac(request: SipRequest, response: SipResponse): DialogState {
  const from = request.headers.get('from') ?? '';
  const to = response.headers.get('to') ?? '';
  return {
    callId: request.headers.get('call-id') ?? '',
    localTag: tagOf(from) ?? '',
    remoteTag: tagOf(to) ?? '',
    localAddress: from,
    remoteAddress: to,
    localSequence: parseCSeq(request.headers.get('cseq') ?? '').sequence,
    remoteSequence: undefined,
    routeSet: routeSetOf(response),
    remoteTarget: contactUri(response) ?? request.uri,
    localTarget: request.headers.get('contact') ?? '',
  };
}

/** The route set of a response: its Record-Route in reverse order. @see RFC 3261 section 12.1.2 */
export function routeSetOf(response: SipResponse): string[] {
  return response.headers.addresses('record-route').reverse();
}

/**
 * Checks that the CSeq of a request is higher than the last one.
 *
 * Updates the remote CSeq, and the remote target where the request refreshes it.
 *
 * @see RFC 3261 section 12.2.2
 */
export function acceptRequest(dialog: DialogState, request: SipRequest): boolean {
  const { sequence } = parseCSeq(request.headers.get('cseq') ?? '');
  if (dialog.remoteSequence !== undefined && sequence <= dialog.remoteSequence) return false;
  dialog.remoteSequence = sequence;
  if (TARGET_REFRESH.has(request.method)) refreshTarget(dialog, request);
  return true;
}

/** Updates the remote target from Contact, if present. */
export function refreshTarget(dialog: DialogState, message: SipMessage): void {
  dialog.remoteTarget = contactUri(message) ?? dialog.remoteTarget;
}

/**
 * Creates a request inside the dialog.
 *
 * @param sequence - The sequence number; an ACK has that of its INVITE. Default: the next one.
 * @see RFC 3261 section 12.2.1.1
 */
export function createDialogRequest(dialog: DialogState, method: string, sequence?: number): SipRequest {
  const number = sequence ?? dialog.localSequence + 1;
  if (method !== 'ACK' && method !== 'CANCEL') dialog.localSequence = Math.max(dialog.localSequence, number);
  const headers = new SipHeaders();
  const { uri, routes } = routed(dialog);
  for (const route of routes) headers.add('route', route);
  headers.add('max-forwards', '70');
  headers.add('from', dialog.localAddress);
  headers.add('to', dialog.remoteAddress);
  headers.add('call-id', dialog.callId);
  headers.add('cseq', `${number} ${method}`);
  return { kind: 'request', method, uri, headers, body: '' };
}

/** The URI of the first Contact; `undefined` when there is none, or it is `*` or no `sip:`, `sips:` or `tel:` URI. */
export function contactUri(message: SipMessage): string | undefined {
  try {
    const [first = ''] = message.headers.addresses('contact');
    const { uri } = parseNameAddr(first);
    return parseUri(uri).scheme === 'other' ? undefined : uri;
  } catch {
    // Neither `*` nor a malformed Contact is an address.
    return undefined;
  }
}

/** A strict router must be in the Request-URI. @see RFC 3261 section 12.2.1.1 */
function routed(dialog: DialogState): { uri: string; routes: readonly string[] } {
  const [first, ...rest] = dialog.routeSet;
  if (first === undefined) return { uri: dialog.remoteTarget, routes: [] };
  const { uri, params } = parseNameAddr(first);
  const parsed = parseUri(uri);
  // Without brackets, the parameter is the header's.
  const isLoose = 'params' in parsed && (parsed.params.has('lr') || params.has('lr'));
  if (isLoose) return { uri: dialog.remoteTarget, routes: dialog.routeSet };
  return { uri, routes: [...rest, `<${dialog.remoteTarget}>`] };
}
