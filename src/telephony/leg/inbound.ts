import { randomBytes } from 'node:crypto';
import { CallwayError } from '../../base/errors.ts';
import { parseCarrierNumber } from '../../calls/numbers/number.ts';
import type { PhoneNumber } from '../../calls/numbers/phoneNumber.ts';
import type { CallLeg, InboundCall } from '../../calls/telephony.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import { ALLOW } from '../control/control.ts';
import type { IncomingRequest } from '../control/incoming.ts';
import type { Agreement } from '../sdp/negotiate.ts';
import { createSdpSession, type SdpSession } from '../sdp/session.ts';
import { readNameAddress, readUri } from '../sip/address.ts';
import { splitValues } from '../sip/message.ts';
import { descriptionOf } from '../sip/sessionBody.ts';
import type { CallTrace } from '../trace.ts';
import { identityUri } from '../trunks/addressing.ts';
import { createLeg } from './leg.ts';
import type { OutboundDeps } from './outbound.ts';

/** What a caller has reached. */
export interface Called {
  readonly trunk: Trunk;
  readonly number: PhoneNumber | undefined;
}

/** A call that rings here, before anybody took it. */
export function offerCall(
  deps: OutboundDeps,
  { trunk, number }: Called,
  invite: IncomingRequest,
  trace: CallTrace,
): InboundCall {
  const { onError } = deps;
  const canceled = new AbortController();
  const sipCallId = invite.text.header('call-id') ?? '';
  const { fromNumber, toNumber } = numbersOf(invite, trunk);
  let isDecided = false;
  let opening: Promise<MediaSession> | undefined;
  const open = (callId: string) => {
    opening ??= deps.media.open({ callId, timeoutMs: deps.mediaTimeoutMs });
    return opening;
  };
  // What could not be opened needs no closing; whoever answers is told.
  const forget = () => opening?.then((session) => session.close()).catch(() => undefined);
  invite.onCancel(() => {
    isDecided = true;
    trace.end();
    forget();
    canceled.abort();
  });
  const decide = () => {
    if (canceled.signal.aborted) {
      throw new CallwayError('gone', 'call_canceled', 'The caller hung up before the answer');
    }
    if (isDecided)
      throw new CallwayError('conflict', 'call_decided', 'The call was answered or refused before');
    isDecided = true;
  };
  const refuse = (status: number, headers: Record<string, string> = {}) => {
    trace.end();
    invite
      .respond(status, { headers })
      .catch((error: unknown) => onError(error, 'a call could not be refused'));
  };

  return {
    sipCallId,
    projectId: trunk.projectId,
    trunk,
    fromNumber,
    toNumber,
    number,
    canceled: canceled.signal,
    ring() {
      if (isDecided) return;
      const isReliable = /(^|,)\s*100rel\b/i.test(invite.text.headers('require').join(','));
      const headers: Record<string, string> = isReliable ? { Require: '100rel' } : {};
      invite.respond(180, { headers }).catch((error: unknown) => onError(error, 'a call could not ring'));
    },
    prepareMedia(callId) {
      if (!isDecided) open(callId).catch(() => undefined);
    },
    reject(sipCode, options) {
      if (isDecided) return;
      isDecided = true;
      forget();
      refuse(sipCode, options && { 'Retry-After': String(options.retryAfterSeconds) });
    },
    async answer(callId) {
      decide();
      trace.assign(trunk.projectId, callId);
      const opened = open(callId);
      // From here on the leg closes it.
      opening = undefined;
      return await accept(deps, { trunk, invite, trace, opened, sipCallId, toNumber, refuse });
    },
  };
}

interface Acceptance {
  readonly trunk: Trunk;
  readonly invite: IncomingRequest;
  readonly trace: CallTrace;
  readonly opened: Promise<MediaSession>;
  readonly sipCallId: string;
  readonly toNumber: string;
  readonly refuse: (status: number, headers?: Record<string, string>) => void;
}

/** Says 200 when the audio is open, and leaves the leg waiting for its ACK. */
async function accept(deps: OutboundDeps, call: Acceptance): Promise<CallLeg> {
  const { trunk, invite } = call;
  const session = await call.opened.catch((error: unknown) => {
    call.refuse(503, { 'Retry-After': '10' });
    throw error;
  });
  const sdp = createSdpSession({
    address: session.address,
    rtpPort: session.rtpPort,
    codecs: trunk.codecs,
    srtp: trunk.srtp,
    randomBytes,
  });
  const offer = descriptionOf(invite.text);
  let answered: (Agreement & { readonly body: string }) | undefined;
  try {
    answered = offer === '' ? undefined : sdp.answer(offer);
  } catch (error) {
    call.refuse(488);
    await session.close();
    throw error;
  }
  const core = createLeg(deps, {
    sipCallId: call.sipCallId,
    dialogId: invite.dialogId,
    trunk,
    ownNumber: call.toNumber,
    selfUri: identityUri(trunk, call.toNumber),
    state: { kind: 'confirming' },
    trace: call.trace,
    isHeldBack: true,
    steps: lateOffer(sdp, answered !== undefined, (agreement) => core.audio.apply(agreement)),
  });
  core.learnAllow(invite.text.headers('allow'));
  core.audio.set(session, sdp);
  try {
    if (answered) await core.audio.apply(answered);
  } catch (error) {
    core.dispatch({ kind: 'failed' });
    call.refuse(500);
    throw error;
  }
  try {
    const body = answered?.body ?? sdp.offer();
    core.keepSession(await invite.respond(200, { headers: { Allow: ALLOW }, body }), 'uas');
  } catch (error) {
    core.dispatch({ kind: 'failed' });
    const message = 'The call could not be answered; the caller may have hung up';
    throw new CallwayError('unavailable', 'call_not_answered', message, { cause: error });
  }
  // The ACK, and a hasty BYE, may be here already: behind the promises through which the leg reaches who listens to it.
  setImmediate(core.release);
  return core.leg;
}

/** Where the INVITE made no offer, ours is in the 200, and the answer to it comes with the ACK. */
function lateOffer(sdp: SdpSession, isConnected: boolean, apply: (agreement: Agreement) => Promise<void>) {
  let answer: string | undefined;
  return {
    onAcknowledged(body: string) {
      answer ??= body;
    },
    async connect() {
      if (!isConnected) await apply(sdp.acceptAnswer(answer ?? ''));
    },
  };
}

function numbersOf(invite: IncomingRequest, trunk: Trunk): { fromNumber: string; toNumber: string } {
  const callee = dialledUser(invite, trunk);
  return { fromNumber: callerOf(invite), toNumber: parseCarrierNumber(callee) ?? callee };
}

/** What the carrier vouches for comes before what the caller says; of each the first that is a number. @see RFC 3325 */
function callerOf({ text }: IncomingRequest): string {
  const identities = [...text.headers('p-asserted-identity').flatMap(splitValues), text.header('from') ?? ''];
  const users = identities.map((identity) => readUri(readNameAddress(identity)?.uri ?? '')?.user ?? '');
  const [number] = users.flatMap((user) => parseCarrierNumber(user) ?? []);
  return number ?? users.find((user) => user !== '') ?? '';
}

/** A registrar sends calls to our registered name; the number that was dialled is in To then. */
export function dialledUser(invite: IncomingRequest, trunk: Trunk): string {
  const user = readUri(invite.uri)?.user ?? '';
  if (user !== '' && user !== trunk.username) return user;
  const to = readUri(readNameAddress(invite.text.header('to') ?? '')?.uri ?? '')?.user ?? '';
  return to === '' ? user : to;
}
