import { randomBytes } from 'node:crypto';
import type { Timer } from '../../base/clock.ts';
import { formatNumber } from '../../calls/numbers/number.ts';
import type { CallLeg, DialRequest } from '../../calls/telephony.ts';
import type { MediaEngine } from '../../media/mediaSession.ts';
import { ALLOW } from '../control/control.ts';
import { createSdpSession } from '../sdp/session.ts';
import { createAuthenticator } from '../sip/digest.ts';
import type { CallTrace } from '../trace.ts';
import {
  contactUri,
  credentialsOf,
  dialledUri,
  identityUri,
  routeOf,
  type TrunkAddress,
  trunkUri,
} from '../trunks/addressing.ts';
import { type InviteClient, type InviteListener, isUnreachable, startInvite } from './inviteClient.ts';
import { createLeg, type LegCore, type LegDeps } from './leg.ts';

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
  const call = new OutboundCall(deps, request);
  call.prepare();
  // What fails at once may do so before the leg has reached, through promises, who listens to it.
  setImmediate(() => call.release());
  return call.leg;
}

class OutboundCall {
  readonly #deps: OutboundDeps;
  readonly #request: DialRequest;
  readonly #own: OwnIdentity;
  readonly #core: LegCore;
  readonly #timers: Timer[] = [];
  #client: InviteClient | undefined;
  /** What of the peer the audio is connected by. */
  #heard: string | undefined;
  /** What came with the 2xx, or before it. */
  #accepted: string | undefined;

  constructor(deps: OutboundDeps, request: DialRequest) {
    this.#deps = deps;
    this.#request = request;
    const { trunk, fromNumber, asGiven } = request;
    const user = formatNumber(fromNumber, {
      format: trunk.numberFormat,
      callingNumber: fromNumber,
      asGiven: asGiven?.fromNumber,
    });
    const sipCallId = deps.makeCallId();
    this.#own = { sipCallId, tag: deps.makeToken(), user, uri: identityUri(trunk, user) };
    const trace = deps.traceCall(sipCallId);
    trace.assign(request.projectId, request.callId);
    this.#core = createLeg(deps, {
      sipCallId,
      dialogId: this.#dialogId,
      trunk,
      ownNumber: fromNumber,
      selfUri: this.#own.uri,
      state: { kind: 'preparing' },
      trace,
      isHeldBack: true,
      steps: {
        connect: () => this.#connect(),
        invite: () => this.#invite(),
        cancel: ({ q850Cause, text }) => this.#client?.cancel({ cause: q850Cause, text }),
        onEnd: () => this.#stopTimers(),
      },
    });
  }

  get leg(): CallLeg {
    return this.#core.leg;
  }

  /** Announces what was held back, and all that follows at once. */
  release(): void {
    this.#core.release();
  }

  /** Reserves a port, which the offer names. */
  prepare(): void {
    const { media, mediaTimeoutMs, onError } = this.#deps;
    const { trunk, callId, bridgeWith: beside } = this.#request;
    media.open({ callId, timeoutMs: mediaTimeoutMs, ...(beside ? { sameThreadAs: beside } : {}) }).then(
      (session) => {
        const { address, rtpPort } = session;
        const { codecs, srtp } = trunk;
        this.#core.audio.set(session, createSdpSession({ address, rtpPort, codecs, srtp, randomBytes }));
        this.#core.dispatch({ kind: 'prepared' });
      },
      (error: unknown) => {
        onError(error, 'no audio could be opened for a call');
        this.#core.dispatch({ kind: 'failed' });
      },
    );
  }

  #invite(): void {
    const { control, makeToken } = this.#deps;
    const { trunk, targetUri: toUri } = this.#request;
    const outgoing = {
      uri: calleeUri(this.#request, trunk),
      // Wherever a URI leads, it is the trunk that is asked to go there.
      route: routeOf(trunk) ?? (toUri === undefined ? undefined : trunkUri(trunk)),
      headers: inviteHeaders(this.#request, this.#own),
      body: this.#core.audio.sdp?.offer() ?? '',
      dialogId: this.#dialogId,
      followRedirects: trunk.followRedirects,
    };
    const authenticator = createAuthenticator(credentialsOf(trunk), makeToken);
    this.#client = startInvite(control, outgoing, authenticator, this.#listener());
  }

  #listener(): InviteListener {
    const { onError, showsTrying } = this.#deps;
    const { dispatch } = this.#core;
    const responseMs = this.#request.trunk.responseTimeoutSeconds * 1000;
    const response = showsTrying ? this.#startTimer(responseMs, 'responseTimeout') : undefined;
    this.#startTimer(this.#request.ringTimeoutMs, 'ringTimeout');
    return {
      onAnyAnswer: () => response?.cancel(),
      onRinging: (description) => this.#onRinging(description),
      onAccepted: (description, answer) => {
        this.#core.learnAllow(answer.headers('allow'));
        this.#core.keepSession(answer, 'uac');
        this.#accepted = description ?? this.#heard;
        this.#stopTimers();
        dispatch({ kind: 'accepted' });
      },
      onRefused: (refusal) => dispatch({ kind: 'refused', refusal }),
      onFailed(error) {
        onError(error, 'an INVITE could not be sent');
        dispatch({ kind: 'failed', isUnreachable: isUnreachable(error) });
      },
      onLost: () => dispatch({ kind: 'lost' }),
    };
  }

  #onRinging(description: string | undefined): void {
    const ring = (hasEarlyMedia: boolean) => this.#core.dispatch({ kind: 'ringing', hasEarlyMedia });
    if (description === undefined) ring(false);
    else {
      this.#hear(description).then(
        () => ring(true),
        // What cannot be played before the answer is no reason not to wait for it.
        () => ring(false),
      );
    }
  }

  /** Takes what the peer plays before the answer, or says with it. A later description replaces an earlier one. */
  async #hear(description: string): Promise<void> {
    const { sdp, apply } = this.#core.audio;
    if (!sdp || description === this.#heard) return;
    const agreement = sdp.acceptAnswer(description);
    this.#heard = description;
    await apply(agreement);
  }

  async #connect(): Promise<void> {
    if (this.#accepted === undefined) {
      throw new Error('the peer took the call without a session description');
    }
    await this.#hear(this.#accepted);
  }

  get #dialogId(): string {
    return `${this.#own.sipCallId};from-tag=${this.#own.tag}`;
  }

  #startTimer(delayMs: number, kind: 'ringTimeout' | 'responseTimeout'): Timer {
    const timer = this.#deps.clock.setTimer(() => this.#core.dispatch({ kind }), delayMs);
    this.#timers.push(timer);
    return timer;
  }

  #stopTimers(): void {
    for (const timer of this.#timers) timer.cancel();
  }
}

/** Who we are in one call. */
interface OwnIdentity {
  readonly sipCallId: string;
  readonly tag: string;
  readonly user: string;
  readonly uri: string;
}

function calleeUri(
  { toNumber, targetUri: toUri, fromNumber, asGiven }: DialRequest,
  trunk: TrunkAddress,
): string {
  return toUri ?? dialledUri(trunk, toNumber, fromNumber, asGiven?.toNumber);
}

function inviteHeaders(request: DialRequest, own: OwnIdentity): Record<string, string> {
  const { trunk } = request;
  const added = Object.entries(trunk.headers).filter(([name]) => !OURS.has(name.toLowerCase()));
  return {
    'P-Asserted-Identity': `<${own.uri}>`,
    'User-Agent': USER_AGENT,
    ...Object.fromEntries(added),
    'Call-ID': own.sipCallId,
    From: `<${own.uri}>;tag=${own.tag}`,
    To: `<${calleeUri(request, { ...trunk, transport: 'udp' })}>`,
    Contact: `<${contactUri(trunk, trunk.username ?? own.user)}>`,
    Allow: ALLOW,
    Supported: 'timer, 100rel',
    'Content-Type': 'application/sdp',
  };
}
