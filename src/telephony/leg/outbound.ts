import { randomBytes } from 'node:crypto';
import type { Timer } from '../../base/values/clock.ts';
import { formatNumber } from '../../calls/numbers/number.ts';
import type { CallLeg, DialRequest } from '../../calls/telephony.ts';
import { headersFromVariables, isSipHeader } from '../../calls/trunks/trunkHeaders.ts';
import type { MediaEngine } from '../../media/mediaSession.ts';
import { ALLOW } from '../control/control.ts';
import type { ResolveHost } from '../sdp/hosts.ts';
import { createSdpSession } from '../sdp/session.ts';
import type { CallTrace } from '../trace.ts';
import {
  contactUri,
  dialledUri,
  identityUri,
  routeOf,
  type TrunkAddress,
  trunkUri,
  USER_AGENT,
} from '../trunks/addressing.ts';
import { beginsDialog, dialogOfOutbound } from './dialogRecord.ts';
import { InviteClient, type InviteListener, isUnreachable } from './inviteClient.ts';
import { Leg, type LegDeps } from './leg.ts';

export interface OutboundDeps extends LegDeps {
  readonly media: MediaEngine;
  readonly makeCallId: () => string;
  /** Resolves a media host, within a time limit. */
  readonly resolveHost: ResolveHost;
  readonly traceCall: (sipCallId: string) => CallTrace;
  /** The media timeout; 0 disables it. */
  readonly mediaTimeoutMs: number;
  /** URIs of the proxies that calls over a trunk's registration go by, the nearest first. @see RFC 3608 section 5 */
  readonly serviceRoute: (trunkId: string) => Promise<readonly string[]>;
  /**
   * True when the SIP server reports 100 Trying. Without it a live peer that rings late looks unreachable, so the
   * trunk's response timeout is not applied and the SIP server's own (32 s) counts.
   */
  readonly showsTrying: boolean;
}

/** Places a call over one trunk. */
export function dial(deps: OutboundDeps, request: DialRequest): CallLeg {
  const call = new OutboundCall(deps, request);
  call.prepare();
  // An immediate failure must not be emitted before the caller has subscribed, which may take a promise.
  setImmediate(() => call.leg.releaseEvents());
  return call.leg;
}

class OutboundCall {
  readonly leg: Leg;
  readonly #deps: OutboundDeps;
  readonly #request: DialRequest;
  readonly #local: LocalIdentity;
  readonly #timers: Timer[] = [];
  #serviceRoute: readonly string[] = [];
  #client: InviteClient | undefined;
  /** The peer's session description that the audio is connected with. */
  #appliedSdp: string | undefined;
  /**
   * The answer that is being applied. Answers are applied one after the other, since host names may be resolved while
   * the next one arrives.
   */
  #applying = Promise.resolve();
  /** The session description of the 2xx, or the last one before it. */
  #acceptedSdp: string | undefined;

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
    this.#local = { sipCallId, tag: deps.makeToken(), user, uri: identityUri(trunk, user) };
    const trace = deps.traceCall(sipCallId);
    trace.assign(request.projectId, request.callId);
    this.leg = new Leg(deps, {
      callId: request.callId,
      sipCallId,
      dialogId: this.#dialogId,
      trunk,
      ownNumber: fromNumber,
      ownUri: this.#local.uri,
      state: { kind: 'preparing' },
      trace,
      steps: {
        connectAudio: () => this.#connectAudio(),
        sendInvite: () => this.#sendInvite(),
        sendCancel: (reason) => this.#client?.cancel(reason),
        onEnd: () => this.#cancelTimers(),
      },
    });
  }

  /** Reserves the port that the offer names, and finds the route. */
  prepare(): void {
    const { media, mediaTimeoutMs, onError } = this.#deps;
    const { trunk, callId, bridgeWith: sameThreadAs } = this.#request;
    const { latching } = trunk.media;
    const opening = media.open({ callId, timeoutMs: mediaTimeoutMs, latching, sameThreadAs });
    Promise.all([opening, this.#findServiceRoute()]).then(
      ([session, serviceRoute]) => {
        const { address, rtpPort } = session;
        const { codecs, srtp } = trunk;
        this.#serviceRoute = serviceRoute;
        const sdp = { address, rtpPort, codecs, srtp, randomBytes, resolveHost: this.#deps.resolveHost };
        this.leg.audio.set(session, createSdpSession(sdp));
        this.leg.dispatch({ kind: 'prepared' });
      },
      (error: unknown) => {
        onError(error, 'opening the audio of a call failed');
        this.leg.dispatch({ kind: 'failed' });
      },
    );
  }

  async #findServiceRoute(): Promise<readonly string[]> {
    const { serviceRoute, onError } = this.#deps;
    const { trunk } = this.#request;
    if (!trunk.register) return [];
    try {
      return await serviceRoute(trunk.id);
    } catch (error) {
      onError(error, 'service route of a trunk not read');
      return [];
    }
  }

  #sendInvite(): void {
    const { control } = this.#deps;
    const { trunk, targetUri } = this.#request;
    const invite = {
      uri: calleeUri(this.#request, trunk),
      // A call to a URI also goes through the trunk.
      route:
        routeOf(trunk) ?? this.#serviceRoute[0] ?? (targetUri === undefined ? undefined : trunkUri(trunk)),
      headers: inviteHeaders(this.#request, this.#local, this.#serviceRoute),
      body: this.leg.audio.sdp?.offer() ?? '',
      dialogId: this.#dialogId,
      followRedirects: trunk.followRedirects,
      mayRedirectTo: this.#request.mayRedirectTo,
    };
    this.#client = new InviteClient(control, invite, this.leg.makeAuthenticator(), this.#listener());
    this.#client.send();
  }

  #listener(): InviteListener {
    const { onError, showsTrying } = this.#deps;
    const { dispatch } = this.leg;
    const responseTimeoutMs = this.#request.trunk.responseTimeoutSeconds * 1000;
    const responseTimer = showsTrying ? this.#startTimer(responseTimeoutMs, 'responseTimeout') : undefined;
    this.#startTimer(this.#request.ringTimeoutMs, 'ringTimeout');
    return {
      onAnyResponse: () => responseTimer?.cancel(),
      onRinging: (sdp, response) => {
        // Where this node fails, another one ends an early dialog by BYE: the phone would ring on.
        if (beginsDialog(response)) this.leg.recordDialog((owner) => dialogOfOutbound(owner, response));
        this.#onRinging(sdp);
      },
      onAccepted: (sdp, response) => {
        this.leg.setAllowedMethods(response);
        this.leg.startSessionRefresh(response, 'uac');
        this.leg.recordDialog((owner) => dialogOfOutbound(owner, response));
        this.#acceptedSdp = sdp ?? this.#appliedSdp;
        this.#cancelTimers();
        dispatch({ kind: 'accepted' });
      },
      onRejected: (response) => dispatch({ kind: 'rejected', response }),
      onSendError(error) {
        onError(error, 'sending an INVITE failed');
        dispatch({ kind: 'failed', isUnreachable: isUnreachable(error) });
      },
      onConnectionLost: () => dispatch({ kind: 'dialogLost' }),
    };
  }

  #onRinging(sdp: string | undefined): void {
    const ring = (hasEarlyMedia: boolean) => this.leg.dispatch({ kind: 'ringing', hasEarlyMedia });
    if (sdp === undefined) ring(false);
    else {
      this.#applySdp(sdp).then(
        () => ring(true),
        // Early media that cannot be played does not fail the call.
        () => ring(false),
      );
    }
  }

  /** Connects the audio by an answer of the peer, in a provisional response or the 2xx. */
  #applySdp(sdp: string): Promise<void> {
    const applied = this.#applying.then(() => this.#applyNow(sdp));
    this.#applying = applied.catch(() => undefined);
    return applied;
  }

  async #applyNow(sdp: string): Promise<void> {
    const { audio } = this.leg;
    if (!audio.sdp || sdp === this.#appliedSdp) return;
    const agreement = await audio.sdp.acceptAnswer(sdp);
    this.#appliedSdp = sdp;
    await audio.apply(agreement);
  }

  async #connectAudio(): Promise<void> {
    if (this.#acceptedSdp === undefined) throw new Error('the 2xx has no session description');
    await this.#applySdp(this.#acceptedSdp);
  }

  get #dialogId(): string {
    return `${this.#local.sipCallId};from-tag=${this.#local.tag}`;
  }

  #startTimer(delayMs: number, kind: 'ringTimeout' | 'responseTimeout'): Timer {
    const timer = this.#deps.clock.setTimer(() => this.leg.dispatch({ kind }), delayMs);
    this.#timers.push(timer);
    return timer;
  }

  #cancelTimers(): void {
    for (const timer of this.#timers) timer.cancel();
  }
}

/** Our side of a call. */
interface LocalIdentity {
  readonly sipCallId: string;
  readonly tag: string;
  readonly user: string;
  readonly uri: string;
}

function calleeUri({ toNumber, targetUri, fromNumber, asGiven }: DialRequest, trunk: TrunkAddress): string {
  return targetUri ?? dialledUri(trunk, toNumber, fromNumber, asGiven?.toNumber);
}

function inviteHeaders(
  request: DialRequest,
  local: LocalIdentity,
  serviceRoute: readonly string[],
): Record<string, string> {
  const { trunk, variables = {} } = request;
  const route = serviceRoute.map((uri) => `<${uri}>`).join(', ');
  return {
    ...(route === '' ? {} : { Route: route }),
    ...withoutRepetition([
      ['P-Asserted-Identity', `<${local.uri}>`],
      ['User-Agent', USER_AGENT],
      ...Object.entries(trunk.headers).filter(([name]) => !isSipHeader(name)),
      ...Object.entries(headersFromVariables(trunk.variablesToHeaders, variables)),
    ]),
    'Call-ID': local.sipCallId,
    From: `<${local.uri}>;tag=${local.tag}`,
    To: `<${calleeUri(request, { ...trunk, transport: 'udp' })}>`,
    Contact: `<${contactUri(trunk, trunk.username ?? local.user)}>`,
    Allow: ALLOW,
    Supported: 'timer, 100rel',
    'Content-Type': 'application/sdp',
  };
}

/** Keeps the last one of headers whose names differ only in case. */
function withoutRepetition(headers: readonly (readonly [string, string])[]): Record<string, string> {
  const byName = new Map(headers.map((header) => [header[0].toLowerCase(), header]));
  return Object.fromEntries(byName.values());
}
