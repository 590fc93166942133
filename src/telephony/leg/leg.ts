import type { Clock, Timer } from '../../base/clock.ts';
import { createEmitter } from '../../base/emitter.ts';
import { CallwayError, invalid } from '../../base/errors.ts';
import type { CallLeg, HangupReason, LegEnd, LegEvents } from '../../calls/callLeg.ts';
import type { Trunk } from '../../calls/trunk.ts';
import type { MediaParameters, MediaSession } from '../../media/mediaSession.ts';
import type { SipControl } from '../control/control.ts';
import type { IncomingRequest } from '../control/incoming.ts';
import type { Agreement } from '../sdp/negotiate.ts';
import type { SdpSession } from '../sdp/session.ts';
import { readUri } from '../sip/address.ts';
import { createAuthenticator } from '../sip/digest.ts';
import { formatReason, Q850 } from '../sip/reason.ts';
import type { CallTrace } from '../trace/traces.ts';
import { credentialsOf, dialledUri } from '../trunks/addressing.ts';
import { createDialog } from './dialog.ts';
import { writeInfoDigit } from './infoDigits.ts';
import { createPeerRequests } from './peerRequests.ts';
import { acceptReferral } from './referral.ts';
import { createTransfers } from './transfer.ts';
import { type LegEffect, type LegEvent, type LegState, transition } from './transition.ts';

/** What legs stand on. */
export interface LegDeps {
  readonly control: SipControl;
  readonly clock: Clock;
  /** Unguessable hexadecimal text. */
  readonly makeToken: () => string;
  readonly onError: (error: unknown, what: string) => void;
}

/** What outbound and inbound legs do differently. */
export interface LegSteps {
  /** The first offer and its answer, as far as they are; audio flows when it resolves. */
  connect(): Promise<void>;
  invite?(): void;
  cancel?(reason: HangupReason): void;
  /** The peer's ACK of our 200, with the answer to an offer of ours. */
  onAcknowledged?(body: string): void;
  onEnd?(): void;
}

export interface LegOptions {
  readonly sipCallId: string;
  readonly dialogId: string;
  readonly trunk: Trunk;
  /** Our own address in the call, for Referred-By. */
  readonly selfUri: string;
  readonly state: LegState;
  readonly trace: CallTrace;
  readonly steps: LegSteps;
}

/** A leg, and what its owner in this room does with it. */
export interface LegCore {
  readonly leg: CallLeg;
  readonly state: () => LegState;
  dispatch(event: LegEvent): void;
  /** Takes the audio; closes it at once when the leg has ended meanwhile. */
  setMedia(session: MediaSession, sdp: SdpSession): void;
  /** Connects or reconnects the audio, and tells whether the peer holds the call. */
  apply(agreement: Agreement): Promise<void>;
}

/** The call is over for us when the peer has not answered BYE by then; the SIP server goes on asking it. */
const BYE_WAIT_MS = 4000;
/** As long may the final answer to a cancelled INVITE take. */
const CANCEL_WAIT_MS = 5000;
/** What follows a transfer that succeeded: whoever transferred hangs up if the other does not. */
const TRANSFERRED_WAIT_MS = 3000;
const NORMAL: HangupReason = { q850Cause: Q850.normalClearing, text: 'Normal call clearing' };
const DIGITS = /^[0-9*#A-D]{1,128}$/;

export function createLeg(deps: LegDeps, options: LegOptions): LegCore {
  const { control, clock, onError } = deps;
  const { trunk, steps, trace } = options;
  const events = createEmitter<LegEvents>((error, name) => onError(error, `a listener to ${name} threw`));
  const timers = new Set<Timer>();
  let { state } = options;
  let media: MediaSession | undefined;
  let sdp: SdpSession | undefined;
  let parameters: MediaParameters | undefined;
  let isHeld = false;
  let announceDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    announceDone = resolve;
  });

  const dialog = createDialog({
    control,
    id: options.dialogId,
    makeAuthenticator: () => createAuthenticator(credentialsOf(trunk), deps.makeToken),
    onRequest: (request: IncomingRequest) => peer.take(request),
  });
  const transfers = createTransfers(dialog, options.selfUri, clock);
  const after = (delayMs: number, callback: () => void) => timers.add(clock.setTimer(callback, delayMs));

  const apply = async (agreement: Agreement): Promise<void> => {
    if (!media) throw new Error('the leg has no audio yet');
    const { remote } = agreement.parameters;
    const isNowhere = /^[0:.]+$/.test(remote.address) && parameters;
    const next = isNowhere ? { ...agreement.parameters, remote: isNowhere.remote } : agreement.parameters;
    await media.connect(next);
    parameters = next;
    if (agreement.isHeld === isHeld) return;
    isHeld = agreement.isHeld;
    events.emit('held', { isHeld });
  };
  const peer = createPeerRequests({
    numberFormat: trunk.numberFormat,
    sdp: () => sdp,
    apply,
    announce: events.emit,
    dispatch: (event) => dispatch(event),
    isUp: () => state.kind === 'joining' || state.kind === 'talking',
    onAcknowledged: (body) => {
      steps.onAcknowledged?.(body);
      dispatch({ kind: 'acknowledged' });
    },
    acceptReferral: (request) => acceptReferral(request, dialog, after),
    onNotify: transfers.onNotify,
    onError,
  });
  let wasDown = false;
  const stopListening = [
    control.events.on('down', () => {
      wasDown = true;
    }),
    control.events.on('up', () => {
      if (!wasDown || (state.kind !== 'talking' && state.kind !== 'joining')) return;
      wasDown = false;
      dialog.isAlive().then((isAlive) => {
        if (!isAlive) dispatch({ kind: 'lost' });
      });
    }),
  ];

  const end = (result: LegEnd) => {
    for (const timer of timers) timer.cancel();
    for (const stop of stopListening) stop();
    dialog.close();
    transfers.onLegEnded(result.outcome === 'remote_hangup');
    steps.onEnd?.();
    trace.end();
    announceDone();
    events.emit('ended', result);
    media?.close().catch((error: unknown) => onError(error, 'the audio of a call did not close'));
  };
  const bye = (reason: HangupReason) => {
    after(BYE_WAIT_MS, () => dispatch({ kind: 'over' }));
    dialog
      .bye({ Reason: formatReason({ cause: reason.q850Cause, text: reason.text }) })
      // What is gone needs no goodbye.
      .catch(() => undefined)
      .finally(() => dispatch({ kind: 'over' }));
  };
  const connect = () =>
    steps.connect().then(
      () => dispatch({ kind: 'connected' }),
      (error: unknown) => {
        onError(error, 'the audio of a call could not be connected');
        dispatch({ kind: 'failed' });
      },
    );
  const cancel = (reason: HangupReason) => {
    after(CANCEL_WAIT_MS, () => dispatch({ kind: 'over' }));
    steps.cancel?.(reason);
  };
  const run = (effect: LegEffect): void => {
    if (effect.kind === 'invite') steps.invite?.();
    else if (effect.kind === 'cancel') cancel(effect.reason);
    else if (effect.kind === 'connect') connect();
    else if (effect.kind === 'bye') bye(effect.reason);
    else if (effect.kind === 'announceRinging') {
      events.emit('ringing', { hasEarlyMedia: effect.hasEarlyMedia });
    } else if (effect.kind === 'announceAnswered') events.emit('answered', { atMs: clock.now() });
    else end(effect.end);
  };
  const dispatch = (event: LegEvent): void => {
    const step = transition(state, event);
    state = step.state;
    step.effects.forEach(run);
  };

  const sendInfo = async (digit: string) => {
    const { contentType, body } = writeInfoDigit(digit);
    const response = await dialog.request('INFO', { headers: { 'Content-Type': contentType }, body });
    if (response.status >= 300) {
      throw new CallwayError(
        'unavailable',
        'dtmf_refused',
        `The peer takes no digits: ${response.status} ${response.reason}`,
      );
    }
  };
  const requireUp = (what: string) => {
    if (state.kind === 'talking') return;
    throw new CallwayError('conflict', 'call_not_in_progress', `${what} only while the call is in progress`);
  };

  const leg: CallLeg = {
    sipCallId: options.sipCallId,
    trunkId: trunk.id,
    get media() {
      return media;
    },
    events,
    hangup(reason = NORMAL) {
      dispatch({ kind: 'hangup', reason });
      return done;
    },
    async sendDtmf(digits) {
      if (!DIGITS.test(digits)) throw invalid('dtmf_invalid', 'digits must be 1 to 128 of 0-9, *, # and A-D');
      requireUp('Digits can be sent');
      if (trunk.dtmf === 'rfc4733' && parameters?.dtmfPayloadType !== undefined && media) {
        return await media.sendDtmf(digits);
      }
      for (const digit of digits) await sendInfo(digit);
    },
    async transfer(to) {
      requireUp('A call can be transferred');
      await transfers.transfer(referTarget(trunk, to));
      after(TRANSFERRED_WAIT_MS, () => dispatch({ kind: 'hangup', reason: NORMAL }));
    },
  };
  return {
    leg,
    state: () => state,
    dispatch,
    apply,
    setMedia(session, description) {
      if (state.kind === 'ended') {
        session.close().catch((error: unknown) => onError(error, 'the audio of a call did not close'));
        return;
      }
      media = session;
      sdp = description;
    },
  };
}

/** @throws {CallwayError} `transfer_target_invalid` for what could not stand in a header. */
function referTarget(trunk: Trunk, to: string): string {
  const isUri = /^(sips?|tel):[^\s<>"]+$/i.test(to) && readUri(to) !== undefined;
  if (!isUri && !/^\+?[0-9*#]{1,32}$/.test(to)) {
    throw invalid('transfer_target_invalid', 'the target must be a phone number or a sip: URI');
  }
  return isUri ? to : dialledUri(trunk, to);
}
