import { randomBytes } from 'node:crypto';
import type { SipMessage } from '../../../sip/message/message.ts';
import { reasonPhrase } from '../../../sip/message/reasonPhrases.ts';
import { CallwayError } from '../../base/errors.ts';
import { type CallPolicy, callPolicy } from '../../calls/callPolicy.ts';
import type { PhoneNumber } from '../../calls/numbers/phoneNumber.ts';
import { TEST_NUMBER, type TestCall } from '../../calls/setup/testCall.ts';
import type { CallLeg, InboundCall } from '../../calls/telephony.ts';
import type { RejectionReason } from '../../calls/trunks/sipRejection.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import { asLine, variablesFromHeaders } from '../../calls/trunks/trunkHeaders.ts';
import type { DtmfDigit, MediaSession } from '../../media/mediaSession.ts';
import { ALLOW } from '../control/control.ts';
import type { IncomingRequest } from '../control/incoming.ts';
import type { Agreement } from '../sdp/negotiate.ts';
import { warningOf } from '../sdp/read.ts';
import { createSdpSession, type SdpSession } from '../sdp/session.ts';
import { addressesOf, numberOf, readAddress, tokensOf, userOf } from '../sip/headerValues.ts';
import { descriptionOf } from '../sip/sessionBody.ts';
import type { CallTrace } from '../trace.ts';
import { identityUri } from '../trunks/addressing.ts';
import type { CalledParty } from '../trunks/inboundRoute.ts';
import { dialogOfInbound } from './dialogRecord.ts';
import { InDialogRequests } from './inDialog/inDialogRequests.ts';
import { Leg, type LegSteps } from './leg.ts';
import type { OutboundDeps } from './outbound.ts';

export type OnRefused = (status: number, reason: RejectionReason) => void;

/** The longest name of a caller without a public number. */
const MAX_CALLER_CHARACTERS = 64;

/** Presents an INVITE as a call that can be answered or rejected. */
export function offerCall(
  deps: OutboundDeps,
  called: CalledParty,
  invite: IncomingRequest,
  trace: CallTrace,
  onRefused: OnRefused,
): InboundCall {
  return new InboundCallOffer(deps, called, invite, trace, onRefused);
}

class InboundCallOffer implements InboundCall {
  readonly sipCallId: string;
  readonly projectId: string;
  readonly trunk: Trunk;
  readonly fromNumber: string;
  readonly toNumber: string;
  readonly number: PhoneNumber | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly test: TestCall | undefined;
  readonly #mediaAddress: string | undefined;
  readonly #policy: CallPolicy;
  readonly #deps: OutboundDeps;
  readonly #invite: IncomingRequest;
  readonly #trace: CallTrace;
  readonly #onRefused: OnRefused;
  readonly #canceled = new AbortController();
  readonly #release: () => void;
  /** The digits that were pressed before the answer. */
  readonly #digits: DtmfDigit[] = [];
  #isDecided = false;
  #opening: Promise<MediaSession> | undefined;

  constructor(
    deps: OutboundDeps,
    called: CalledParty,
    invite: IncomingRequest,
    trace: CallTrace,
    onRefused: OnRefused,
  ) {
    const { trunk, number, toNumber, test } = called;
    this.#deps = deps;
    this.#invite = invite;
    this.#trace = trace;
    this.#onRefused = onRefused;
    this.sipCallId = invite.message.headers.get('call-id') ?? '';
    this.projectId = trunk.projectId;
    this.trunk = trunk;
    this.number = number;
    this.test = test?.call;
    this.#mediaAddress = test?.mediaAddress;
    this.#policy = callPolicy({ isTest: test !== undefined });
    this.fromNumber = test ? TEST_NUMBER : callerOf(invite.message);
    const { headers } = invite.message;
    this.variables = variablesFromHeaders(trunk.headersToVariables, (name) => headers.all(name)[0]);
    this.toNumber = toNumber;
    invite.onCancel(() => this.#cancel());
    const requests = this.#createEarlyRequests();
    // The leg takes them over.
    this.#release = deps.control.onDialogRequest(invite.dialogId, (request) => requests.handle(request));
  }

  get canceled(): AbortSignal {
    return this.#canceled.signal;
  }

  ring(): void {
    if (this.#isDecided) return;
    const isReliable = tokensOf(this.#invite.message.headers, 'require').some(
      (tag) => tag.toLowerCase() === '100rel',
    );
    this.#respond(180, isReliable ? { Require: '100rel' } : {});
  }

  prepareMedia(callId: string): void {
    if (!this.#isDecided) this.#openAudio(callId).catch(() => undefined);
  }

  reject(sipCode: number, reason: RejectionReason, retryAfterSeconds?: number) {
    const response = { code: sipCode, reason: reasonPhrase(sipCode) };
    if (this.#isDecided) return response;
    this.#isDecided = true;
    this.#closeAudio();
    const headers =
      retryAfterSeconds === undefined ? undefined : { 'Retry-After': String(retryAfterSeconds) };
    this.#refuse(sipCode, reason, headers);
    return response;
  }

  async answer(callId: string): Promise<CallLeg> {
    this.#decide();
    this.#trace.assign(this.projectId, callId);
    const opening = this.#openAudio(callId);
    // The leg closes the session from here on.
    this.#opening = undefined;
    const session = await opening.catch((error: unknown) => {
      this.#refuse(503, 'overloaded', { 'Retry-After': '10' });
      throw error;
    });
    return await this.#accept(callId, session);
  }

  #cancel(): void {
    this.#isDecided = true;
    this.#release();
    this.#trace.end();
    this.#closeAudio();
    this.#canceled.abort();
  }

  /** The caller's requests between our 180 and the answer. */
  #createEarlyRequests(): InDialogRequests {
    const never = async () => undefined;
    return new InDialogRequests({
      sdp: () => undefined,
      apply: never,
      emit: (name, value) => {
        if (name === 'dtmf' && 'digit' in value) this.#digits.push(value);
      },
      dispatch: ({ kind }) => {
        if (kind === 'byeReceived' || kind === 'dialogLost') this.#cancel();
      },
      isConfirmed: () => false,
      onAcknowledged: () => undefined,
      acceptReferral: never,
      onNotify: () => false,
      onOffer: () => undefined,
      onError: this.#deps.onError,
    });
  }

  #decide(): void {
    if (this.#canceled.signal.aborted) {
      throw new CallwayError('gone', 'call_canceled', 'The caller hung up before the answer');
    }
    if (this.#isDecided)
      throw new CallwayError('conflict', 'call_decided', 'The call was answered or refused before');
    this.#isDecided = true;
  }

  /** Sends 200; the leg then waits for the ACK. */
  async #accept(callId: string, session: MediaSession): Promise<CallLeg> {
    const { address, rtpPort } = session;
    const { codecs, srtp } = this.trunk;
    const sdp = createSdpSession({
      address: this.#mediaAddress ?? address,
      rtpPort,
      codecs,
      srtp,
      randomBytes,
      resolveHost: this.#deps.resolveHost,
    });
    let answer: (Agreement & { readonly body: string }) | undefined;
    try {
      const offer = descriptionOf(this.#invite.message);
      answer = offer === '' ? undefined : await sdp.answer(offer);
    } catch (error) {
      this.#refuse(488, 'media_not_acceptable', { Warning: warningOf(error) });
      await session.close();
      throw error;
    }
    const leg: Leg = this.#createLeg(
      callId,
      lateOffer(sdp, answer !== undefined, (agreed) => leg.audio.apply(agreed)),
    );
    leg.setAllowedMethods(this.#invite.message);
    for (const digit of this.#digits) leg.receiveDtmf(digit);
    leg.audio.set(session, sdp, this.#invite.source.address);
    try {
      if (answer) await leg.audio.apply(answer);
    } catch (error) {
      leg.dispatch({ kind: 'failed' });
      this.#refuse(500, 'overloaded');
      throw error;
    }
    try {
      const body = answer?.body ?? sdp.offer();
      const sent = await this.#invite.respond(200, { headers: { Allow: ALLOW }, body });
      leg.startSessionRefresh(sent, 'uas');
      if (this.#policy.hasTrunk)
        leg.recordDialog((owner) => dialogOfInbound(owner, this.#invite.message, sent));
    } catch (error) {
      leg.dispatch({ kind: 'failed' });
      const message = 'The call could not be answered; the caller may have hung up';
      throw new CallwayError('unavailable', 'call_not_answered', message, { cause: error });
    }
    // The ACK and even a BYE may have arrived, before the caller of `answer` could subscribe to the leg.
    setImmediate(() => leg.releaseEvents());
    return leg;
  }

  #createLeg(callId: string, steps: LegSteps): Leg {
    return new Leg(this.#deps, {
      callId,
      sipCallId: this.sipCallId,
      dialogId: this.#invite.dialogId,
      trunk: this.trunk,
      ownNumber: this.toNumber,
      ownUri: identityUri(this.trunk, this.toNumber),
      state: { kind: 'awaitingAck' },
      trace: this.#trace,
      steps,
    });
  }

  #openAudio(callId: string): Promise<MediaSession> {
    const { media, mediaTimeoutMs } = this.#deps;
    this.#opening ??= media.open({
      callId,
      timeoutMs: mediaTimeoutMs,
      latching: this.trunk.media.latching,
    });
    return this.#opening;
  }

  #closeAudio(): void {
    // A failure to open is reported by `answer`.
    this.#opening?.then((session) => session.close()).catch(() => undefined);
  }

  #refuse(status: number, reason: RejectionReason, headers: Record<string, string> = {}): void {
    this.#onRefused(status, reason);
    this.#release();
    this.#trace.end();
    this.#respond(status, headers);
  }

  #respond(status: number, headers: Record<string, string>): void {
    this.#invite
      .respond(status, { headers })
      .catch((error: unknown) => this.#deps.onError(error, `sending ${status} to an INVITE failed`));
  }
}

/** Handles an INVITE without an offer: our 200 has the offer, and the ACK its answer. */
function lateOffer(
  sdp: SdpSession,
  isConnected: boolean,
  apply: (agreement: Agreement) => Promise<void>,
): LegSteps {
  let answer: string | undefined;
  return {
    onAcknowledged(body) {
      answer ??= body;
    },
    async connectAudio() {
      if (!isConnected) await apply(await sdp.acceptAnswer(answer ?? ''));
    },
  };
}

/**
 * The asserted identity takes precedence over Remote-Party-ID, and that over From; the first that is a number is used.
 *
 * @see RFC 3325, draft-ietf-sip-privacy-04
 */
function callerOf({ headers }: SipMessage): string {
  const remote = addressesOf(headers, 'remote-party-id').filter(
    ({ params }) => params.get('party')?.toLowerCase() !== 'called',
  );
  const from = readAddress(headers.get('from') ?? '');
  const identities = [...addressesOf(headers, 'p-asserted-identity'), ...remote, ...(from ? [from] : [])];
  const [number] = identities.flatMap(({ uri }) => numberOf(uri) ?? []);
  const users = identities.map(({ uri }) => userOf(uri));
  return number ?? asLine(users.find((user) => user !== '') ?? '', MAX_CALLER_CHARACTERS);
}
