import type { SipRequest } from '../../sip/message/message.ts';
import type { InboundCall, Telephony } from '../calls/telephony.ts';
import type { RejectionReason } from '../calls/trunks/sipRejection.ts';
import type { Trunk } from '../calls/trunks/trunk.ts';
import type { IncomingRequest, ResponseParts } from './control/incoming.ts';
import { type OnRefused, offerCall } from './leg/inbound.ts';
import { dial, type OutboundDeps } from './leg/outbound.ts';
import { tokensOf, userOf } from './sip/headerValues.ts';
import { sessionBody, UNSUPPORTED_BODY } from './sip/sessionBody.ts';
import type { TrunkDirectory } from './trunks/directory.ts';
import { type InboundRejections, refusedInvite, strangerReason } from './trunks/inboundRejections.ts';
import { type InboundRouteDeps, routeInvite } from './trunks/inboundRoute.ts';
import type { TestCalls } from './trunks/testCalls.ts';

export interface TelephonyDeps extends OutboundDeps, InboundRouteDeps {
  /** Records rejected calls; undefined in the simulator. */
  readonly rejections?: InboundRejections | undefined;
  readonly directory: TrunkDirectory;
  /** The expected test calls; undefined when no simulated callers call. */
  readonly testCalls?: TestCalls;
}

interface Rejection {
  readonly status: number;
  readonly reason: RejectionReason;
  readonly headers: Readonly<Record<string, string>>;
}

/** Extensions that the SIP server implements, or that need no action. */
const SUPPORTED = new Set(['100rel', 'timer', 'norefersub', 'histinfo', 'path', 'outbound', 'gruu']);
const RETRY_AFTER = { headers: { 'Retry-After': '5' } };

/** Places and receives calls through a SIP server. */
export function createTelephony(deps: TelephonyDeps): Telephony {
  const { control, clock, onError } = deps;
  let handler: ((call: InboundCall) => void) | undefined;

  const receive = async (invite: IncomingRequest): Promise<unknown> => {
    const { address, port, transport } = invite.source;
    const test = deps.testCalls?.take(userOf(invite.message.uri), address);
    const [best, ...others] = deps.directory.bySource(address, port);
    const sources = best ? [best, ...others] : [];
    const report = (status: number, reason: RejectionReason, trunks: readonly Trunk[] = sources) => {
      if (!test)
        deps.rejections?.report(refusedInvite(invite.message, invite.source, status), reason, trunks);
    };
    const refuse = async (status: number, reason: RejectionReason, parts?: ResponseParts) => {
      report(status, reason);
      return await invite.respond(status, parts);
    };
    if (!test && !best) return await refuse(403, strangerReason(invite.message));
    const rejection = validateInvite(invite.message);
    if (rejection) return await refuse(rejection.status, rejection.reason, { headers: rejection.headers });
    if (!handler) return await refuse(503, 'overloaded', RETRY_AFTER);
    const trace = deps.traceCall(invite.message.headers.get('call-id') ?? '');
    const at = new Date(clock.now()).toISOString();
    trace.add({ at, direction: 'in', transport, remote: `${address}:${port}`, text: invite.raw });
    let isCanceled = false;
    invite.onCancel(() => {
      isCanceled = true;
    });
    try {
      const called = test ?? (best && (await routeInvite(deps, [best, ...others], invite.message)));
      if (isCanceled || !called) trace.end();
      else {
        const trunks = called.number ? [called.trunk] : sources;
        const onRefused: OnRefused = (status, reason) => report(status, reason, trunks);
        handler(offerCall(deps, called, invite, trace, onRefused));
      }
      return undefined;
    } catch (error) {
      trace.end();
      onError(error, 'receiving a call failed');
      return await refuse(503, 'overloaded', RETRY_AFTER);
    }
  };
  control.onInvite((invite) => {
    receive(invite).catch((error: unknown) => onError(error, 'responding to an INVITE failed'));
  });

  return {
    dial: (request) => dial(deps, request),
    onInboundCall(next) {
      handler = next;
    },
  };
}

/** @returns The rejection of an INVITE whose headers or body are unsupported. @see RFC 3261 section 8.2 */
function validateInvite(invite: SipRequest): Rejection | undefined {
  const unknown = tokensOf(invite.headers, 'require').filter((tag) => !SUPPORTED.has(tag.toLowerCase()));
  if (unknown.length > 0)
    return { status: 420, reason: 'bad_request', headers: { Unsupported: unknown.join(', ') } };
  if (sessionBody(invite).kind !== 'unreadable') return undefined;
  return { ...UNSUPPORTED_BODY, reason: 'media_not_acceptable' };
}
