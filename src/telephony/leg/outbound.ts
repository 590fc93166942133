import { randomBytes } from 'node:crypto';
import type { CallLeg, DialRequest } from '../../calls/callLeg.ts';
import { writeNumber } from '../../calls/number.ts';
import type { MediaEngine } from '../../media/mediaSession.ts';
import { ALLOW } from '../control/control.ts';
import { createSdpSession, type SdpSession } from '../sdp/session.ts';
import { createAuthenticator } from '../sip/digest.ts';
import type { CallTrace } from '../trace/traces.ts';
import { contactUri, credentialsOf, dialledUri, identityUri, routeOf } from '../trunks/addressing.ts';
import { type InviteClient, isUnreachable, startInvite } from './inviteClient.ts';
import { createLeg, type LegDeps } from './leg.ts';

export interface OutboundDeps extends LegDeps {
  readonly media: MediaEngine;
  readonly makeCallId: () => string;
  readonly traceCall: (sipCallId: string) => CallTrace;
  /** 0 is never. */
  readonly mediaTimeoutMs: number;
  /**
   * Whether the SIP server shows 100 Trying. Where it does not, a live peer that takes its time to ring looks like a dead
   * one, and the trunk's response timeout cannot be kept: the SIP server's own (32 s) counts.
   */
  readonly showsTrying: boolean;
}

export const USER_AGENT = 'Callway';
/** Headers that a trunk's own may not replace. */
const OURS = new Set(
  'via from to contact call-id cseq route record-route max-forwards content-type content-length authorization proxy-authorization session-expires min-se require supported allow'.split(
    ' ',
  ),
);

/** Places a call over one trunk. */
export function dial(deps: OutboundDeps, request: DialRequest): CallLeg {
  const { clock, onError } = deps;
  const { trunk } = request;
  const sipCallId = deps.makeCallId();
  const tag = deps.makeToken();
  const { fromNumber } = request;
  const ownUser = writeNumber(fromNumber, { format: trunk.numberFormat, callingNumber: fromNumber });
  const selfUri = identityUri(trunk, ownUser);
  const trace = deps.traceCall(sipCallId);
  trace.assign(request.projectId, request.callId);
  const dialogId = `${sipCallId};from-tag=${tag}`;
  const stopTimers: (() => void)[] = [];
  let client: InviteClient | undefined;
  let sdp: SdpSession | undefined;
  let answer: string | undefined;

  const startTimer = (delayMs: number, kind: 'ringTimeout' | 'responseTimeout') => {
    const timer = clock.setTimer(() => core.dispatch({ kind }), delayMs);
    stopTimers.push(() => timer.cancel());
    return timer;
  };
  /** Takes what the peer plays before the answer, or says with it. A later description replaces an earlier one. */
  const hear = async (description: string) => {
    if (!sdp || description === answer) return;
    const agreement = sdp.acceptAnswer(description);
    answer = description;
    await core.audio.apply(agreement);
  };
  const invite = () => {
    const response = deps.showsTrying
      ? startTimer(trunk.responseTimeoutSeconds * 1000, 'responseTimeout')
      : undefined;
    startTimer(request.ringTimeoutMs, 'ringTimeout');
    const outgoing = {
      uri: dialledUri(trunk, request.toNumber, fromNumber),
      route: routeOf(trunk),
      headers: inviteHeaders(request, { sipCallId, tag, selfUri, ownUser }),
      body: sdp?.offer() ?? '',
      dialogId,
      followRedirects: trunk.followRedirects,
    };
    const authenticator = createAuthenticator(credentialsOf(trunk), deps.makeToken);
    client = startInvite(deps.control, outgoing, authenticator, {
      onAnyAnswer: () => response?.cancel(),
      onRinging(description) {
        if (description === undefined) return core.dispatch({ kind: 'ringing', hasEarlyMedia: false });
        hear(description).then(
          () => core.dispatch({ kind: 'ringing', hasEarlyMedia: true }),
          () => core.dispatch({ kind: 'ringing', hasEarlyMedia: false }),
        );
      },
      onAccepted(description) {
        accepted = description ?? answer;
        for (const stop of stopTimers) stop();
        core.dispatch({ kind: 'accepted' });
      },
      onRefused: (refusal) => core.dispatch({ kind: 'refused', refusal }),
      onFailed(error) {
        onError(error, 'an INVITE could not be sent');
        core.dispatch({ kind: 'failed', isUnreachable: isUnreachable(error) });
      },
      onLost: () => core.dispatch({ kind: 'lost' }),
    });
  };
  let accepted: string | undefined;
  const connect = async () => {
    if (accepted === undefined) throw new Error('the peer took the call without a session description');
    await hear(accepted);
  };

  const core = createLeg(deps, {
    sipCallId,
    dialogId,
    trunk,
    ownNumber: fromNumber,
    selfUri,
    state: { kind: 'preparing' },
    trace,
    steps: {
      connect,
      invite,
      cancel: ({ q850Cause, text }) => client?.cancel({ cause: q850Cause, text }),
      onEnd() {
        for (const stop of stopTimers) stop();
      },
    },
  });
  deps.media.open({ callId: request.callId, timeoutMs: deps.mediaTimeoutMs }).then(
    (session) => {
      const { address, rtpPort } = session;
      const { codecs, srtp } = trunk;
      sdp = createSdpSession({ address, rtpPort, codecs, srtp, randomBytes });
      core.audio.set(session, sdp);
      core.dispatch({ kind: 'prepared' });
    },
    (error: unknown) => {
      onError(error, 'no audio could be opened for a call');
      core.dispatch({ kind: 'failed' });
    },
  );
  return core.leg;
}

function inviteHeaders(
  { trunk, fromNumber, toNumber }: DialRequest,
  own: { sipCallId: string; tag: string; selfUri: string; ownUser: string },
): Record<string, string> {
  const added = Object.entries(trunk.headers).filter(([name]) => !OURS.has(name.toLowerCase()));
  return {
    'P-Asserted-Identity': `<${own.selfUri}>`,
    'User-Agent': USER_AGENT,
    ...Object.fromEntries(added),
    'Call-ID': own.sipCallId,
    From: `<${own.selfUri}>;tag=${own.tag}`,
    To: `<${dialledUri({ ...trunk, transport: 'udp' }, toNumber, fromNumber)}>`,
    Contact: `<${contactUri(trunk, trunk.username ?? own.ownUser)}>`,
    Allow: ALLOW,
    Supported: 'timer, 100rel',
    'Content-Type': 'application/sdp',
  };
}
