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

/** How a request is refused. */
export type Rejection = { readonly status: number } & ResponseParts;

const ONLY_IN_DIALOG = new Set(['BYE', 'UPDATE', 'PRACK']);
const RETRY_SECONDS = '5';
/** Extensions that the server does, and those that are entirely the application's. */
const SUPPORTED = new Set(
  '100rel timer replaces norefersub outbound path gruu tdialog from-change histinfo precondition'.split(' '),
);

/** Why a new request is not even shown to an application. */
export function rejectNewRequest(core: Core, request: SipRequest, { remote }: Flow): Rejection | undefined {
  if (core.isScanner(request) && !core.transport.isTrusted(remote)) return { status: 603 };
  if (ONLY_IN_DIALOG.has(request.method)) return { status: 481 };
  if (isAtItsEnd(request) && request.method !== 'OPTIONS') return { status: 483 };
  const unsupported = refuseExtensions(request);
  if (unsupported) return unsupported;
  if (cameBefore(core, request)) return { status: 482 };
  if (request.method !== 'INVITE') return undefined;
  if (!/^sips?:/i.test(contactUri(request) ?? '')) return { status: 400, reason: 'Bad Contact' };
  return refuseInterval(core, request);
}

function isAtItsEnd({ headers }: SipRequest): boolean {
  return Number(headers.get('max-forwards') ?? 1) === 0;
}

/**
 * Whether a proxy before us forked, and the same request came by another way: it waits, or its call is up already.
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

/** Methods that are known here, whether an application takes them or not. */
const KNOWN_METHODS = new Set(
  'INVITE ACK BYE CANCEL OPTIONS REGISTER PRACK UPDATE INFO SUBSCRIBE NOTIFY REFER MESSAGE PUBLISH'.split(
    ' ',
  ),
);

/**
 * What a request of a method gets that no application takes: those that were taken before will be again.
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

/** What every application gets that has calls. */
const DIALOG_METHODS = ['ACK', 'BYE', 'CANCEL', 'PRACK', 'UPDATE'];

/** Why a request inside a dialog is not shown to its application. */
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

/** Without these there is nobody to answer. */
const NEEDED = ['via', 'from', 'to', 'call-id', 'cseq'];

/**
 * Answers a request that could not be parsed, as far as enough of its headers could be.
 *
 * @see RFC 4475
 */
export function rejectUnparsable(text: ByteString, status: number, reason: string, flow: Flow): void {
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
export function mayAccept(core: Core, request: SipRequest, flow: Flow, maxWaiting: number): boolean {
  if (request.method !== 'INVITE' || tagOf(request.headers.get('to')) !== undefined) return true;
  return core.incomingRequests.size < maxWaiting && core.transport.admitCall(flow.remote);
}

/** Tells scanners by how their User-Agent begins. */
export function createScannerCheck(names: readonly string[]): (request: SipRequest) => boolean {
  const lower = names.map((name) => name.toLowerCase());
  return (request) => {
    const agent = request.headers.get('user-agent')?.toLowerCase();
    return agent !== undefined && lower.some((name) => agent.startsWith(name));
  };
}
