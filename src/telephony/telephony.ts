import type { SipRequest } from '../../sip/message/message.ts';
import type { InboundCall, Telephony } from '../calls/telephony.ts';
import type { IncomingRequest } from './control/incoming.ts';
import { offerCall } from './leg/inbound.ts';
import { dial, type OutboundDeps } from './leg/outbound.ts';
import { tokensOf, userOf } from './sip/headerValues.ts';
import { sessionBody, UNSUPPORTED_BODY } from './sip/sessionBody.ts';
import type { TrunkDirectory } from './trunks/directory.ts';
import { type InboundRouteDeps, routeInvite } from './trunks/inboundRoute.ts';
import type { TestCalls } from './trunks/testCalls.ts';

export interface TelephonyDeps extends OutboundDeps, InboundRouteDeps {
  readonly directory: Pick<TrunkDirectory, 'bySource'>;
  /** Absent where no simulated callers call. */
  readonly testCalls?: Pick<TestCalls, 'take'>;
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
    if (!test && !best) return await invite.respond(403);
    const rejection = validateInvite(invite.message);
    if (rejection) return await invite.respond(rejection.status, rejection);
    if (!handler) return await invite.respond(503, RETRY_AFTER);
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
      else handler(offerCall(deps, called, invite, trace));
      return undefined;
    } catch (error) {
      trace.end();
      onError(error, 'receiving a call failed');
      return await invite.respond(503, RETRY_AFTER);
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
function validateInvite(invite: SipRequest) {
  const unknown = tokensOf(invite.headers, 'require').filter((tag) => !SUPPORTED.has(tag.toLowerCase()));
  if (unknown.length > 0) return { status: 420, headers: { Unsupported: unknown.join(', ') } };
  return sessionBody(invite).kind === 'unreadable' ? UNSUPPORTED_BODY : undefined;
}
