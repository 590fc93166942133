import { acceptRequest, contactUri } from '../../dialog/dialogState.ts';
import { isIntervalTooSmall } from '../../dialog/sessionTimer.ts';
import type { ByteString } from '../../message/bytes.ts';
import { tagOf } from '../../message/fields/nameAddr.ts';
import { parseCSeq, parseRAck } from '../../message/fields/sequence.ts';
import { formatMessage, type SipRequest } from '../../message/message.ts';
import { parseHead } from '../../message/parse.ts';
import { makeResponse, type ResponseParts } from '../../message/response.ts';
import type { Flow } from '../../transport/types.ts';
import type { Core, Dialog } from '../core.ts';
import { acknowledgeReliable } from './reliableProvisional.ts';

/** The response that rejects a request. */
export type Rejection = { readonly status: number } & ResponseParts;

const ONLY_IN_DIALOG = new Set(['BYE', 'UPDATE', 'PRACK']);
const RETRY_SECONDS = '5';
/** Option tags that the server or the application implements. */
const SUPPORTED = new Set(
  '100rel timer replaces norefersub outbound path gruu tdialog from-change histinfo precondition'.split(' '),
);

/** Validates a request outside a dialog. @returns Undefined when it may be delivered. */
export function rejectNewRequest(core: Core, request: SipRequest, { remote }: Flow): Rejection | undefined {
  if (core.isScanner(request) && !core.transport.isTrusted(remote)) return { status: 603 };
  if (ONLY_IN_DIALOG.has(request.method)) return { status: 481 };
  if (isAtItsEnd(request) && request.method !== 'OPTIONS') return { status: 483 };
  const unsupported = refuseExtensions(request);
  if (unsupported) return unsupported;
  if (cameBefore(core, request)) return { status: 482 };
  if (request.method !== 'INVITE') return undefined;
  if (contactUri(request) === undefined) return { status: 400, reason: 'Bad Contact' };
  return refuseInterval(core, request);
}

function isAtItsEnd({ headers }: SipRequest): boolean {
  return Number(headers.get('max-forwards') ?? 1) === 0;
}

/**
 * Returns true when the request is merged: a forking proxy sent it by several paths, and another copy is pending or
 * established.
 *
 * @see RFC 3261 section 8.2.2.2
 */
function cameBefore({ incomingRequests: incoming, dialogs }: Core, request: SipRequest): boolean {
  if (incoming.hasMerged(request)) return true;
  const { headers, method } = request;
  const fromTag = tagOf(headers.get('from'));
  if (method !== 'INVITE' || fromTag === undefined) return false;
  const { sequence } = parseCSeq(headers.get('cseq') ?? '');
  return dialogs
    .ofCall(headers.get('call-id') ?? '')
    .some(
      ({ role, state: dialog }) =>
        role === 'uas' && dialog.remoteTag === fromTag && sequence <= (dialog.remoteSequence ?? -1),
    );
}

/** @see RFC 4028 section 9 */
function refuseInterval({ times }: Core, request: SipRequest): Rejection | undefined {
  if (!isIntervalTooSmall(request, times.minSessionSeconds)) return undefined;
  return { status: 422, headers: { 'Min-SE': String(times.minSessionSeconds) } };
}

/** Methods that get 405 instead of 501 without a route. */
const KNOWN_METHODS = new Set(
  'INVITE ACK BYE CANCEL OPTIONS REGISTER PRACK UPDATE INFO SUBSCRIBE NOTIFY REFER MESSAGE PUBLISH'.split(
    ' ',
  ),
);

/**
 * The response to a method without a route: 503 when an application had a route for it before, else 405 or 501.
 *
 * @see RFC 3261 sections 8.2.1 and 21.5.2
 */
export function rejectUnroutedMethod({ applications: apps }: Core, { method }: SipRequest): Rejection {
  const { routedVerbs: wanted } = apps;
  if (apps.size === 0 || wanted.has(method.toLowerCase())) {
    return { status: 503, headers: { 'Retry-After': RETRY_SECONDS } };
  }
  const methods = new Set(
    [...wanted].filter((verb) => !verb.includes(':')).map((verb) => verb.toUpperCase()),
  );
  const status = KNOWN_METHODS.has(method) ? 405 : 501;
  return { status, headers: { Allow: [...methods, ...DIALOG_METHODS].join(', ') } };
}

/** The methods that need no route. */
const DIALOG_METHODS = ['ACK', 'BYE', 'CANCEL', 'PRACK', 'UPDATE'];

/** Validates a request inside a dialog. @returns Undefined when it may be delivered. */
export function rejectInDialogRequest(
  core: Core,
  dialog: Dialog,
  request: SipRequest,
): Rejection | undefined {
  if (
    request.method === 'PRACK' &&
    !acknowledgeReliable(core, dialog, parseRAck(request.headers.get('rack') ?? ''))
  ) {
    return { status: 481 };
  }
  const unsupported = refuseExtensions(request);
  if (unsupported) return unsupported;
  if (!acceptRequest(dialog.state, request))
    return { status: 500, headers: { 'Retry-After': RETRY_SECONDS } };
  if (request.method === 'UPDATE') return refuseInterval(core, request);
  if (request.method !== 'INVITE') return undefined;
  if (dialog.incomingInvite) return { status: 500, headers: { 'Retry-After': RETRY_SECONDS } };
  if (dialog.outgoingInvite || dialog.unacknowledged2xx) return { status: 491 };
  return refuseInterval(core, request);
}

function refuseExtensions({ headers }: SipRequest): Rejection | undefined {
  const unknown = headers.list('require').filter((tag) => !SUPPORTED.has(tag.toLowerCase()));
  return unknown.length === 0 ? undefined : { status: 420, headers: { Unsupported: unknown.join(', ') } };
}

/** A response cannot be addressed without these. */
const NEEDED = ['via', 'from', 'to', 'call-id', 'cseq'];

/**
 * Rejects a malformed request, if its headers suffice for a response.
 *
 * @returns The request's method and headers; undefined without a response.
 * @see RFC 4475
 */
export function rejectUnparsable(
  text: ByteString,
  status: number,
  reason: string,
  flow: Flow,
): SipRequest | undefined {
  if (/^\s*(?:ACK\s|SIP\/)/i.test(text)) return undefined;
  const end = text.search(/\r?\n\r?\n/);
  const head = (end < 0 ? text : text.slice(0, end)).replace(/^[^\r\n]*/, 'OPTIONS sip:unparsed SIP/2.0');
  try {
    const request = parseHead(head);
    if (request.kind !== 'request' || !NEEDED.every((name) => request.headers.has(name))) return undefined;
    flow.send(formatMessage(makeResponse(request, status, { reason })));
    return { ...request, method: /^\s*(\S*)/.exec(text)?.[1] ?? '', uri: '' };
  } catch {
    // The headers are malformed too; no response can be addressed.
    return undefined;
  }
}

/** The share of waiting calls that strangers may have, however many addresses they use. The rest is for known peers. */
const STRANGERS_SHARE = 0.5;

/** Returns true when a new call is within the limits. Requests of existing calls always are. */
export function mayAccept(core: Core, request: SipRequest, flow: Flow, maxWaiting: number): boolean {
  if (request.method !== 'INVITE' || tagOf(request.headers.get('to')) !== undefined) return true;
  const { incomingRequests, transport } = core;
  const maxWaitingHere = transport.isTrusted(flow.remote) ? maxWaiting : maxWaiting * STRANGERS_SHARE;
  return incomingRequests.size < maxWaitingHere && transport.admitCall(flow.remote);
}

/** Recognizes scanners by the beginning of their User-Agent. */
export function createScannerCheck(names: readonly string[]): (request: SipRequest) => boolean {
  const lower = names.map((name) => name.toLowerCase());
  return (request) => {
    const agent = request.headers.get('user-agent')?.toLowerCase();
    return agent !== undefined && lower.some((name) => agent.startsWith(name));
  };
}
