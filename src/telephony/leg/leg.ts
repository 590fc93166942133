import type { Clock, Timer } from '../../base/clock.ts';
import { createEmitter, type Emitter } from '../../base/emitter.ts';
import { CallwayError, invalid } from '../../base/errors.ts';
import type { CallLeg, HangupReason, LegEnd, LegEvents } from '../../calls/telephony.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import type { SipControl } from '../control/control.ts';
import type { IncomingRequest } from '../control/incoming.ts';
import { readUri } from '../sip/address.ts';
import { createAuthenticator } from '../sip/digest.ts';
import { type SipText, splitValues } from '../sip/message.ts';
import { formatReason, Q850 } from '../sip/q850.ts';
import type { CallTrace } from '../trace.ts';
import { credentialsOf, dialledUri } from '../trunks/addressing.ts';
import { createDialog, type Dialog } from './dialog.ts';
import { requireDigits, sendDigits } from './inDialog/dtmf.ts';
import { createInDialogRequests } from './inDialog/inDialogRequests.ts';
import { acceptReferral } from './inDialog/referral.ts';
import { createSessionRefresh, type Refresher } from './inDialog/sessionRefresh.ts';
import { createTransfers, unsupported } from './inDialog/transfer.ts';
import { createLegAudio, type LegAudio } from './legAudio.ts';
import { type LegEffect, type LegEvent, type LegState, legTransition } from './legTransition.ts';

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
  /** In normal form. */
  readonly ownNumber: string;
  /** Our own address in the call, for Referred-By. */
  readonly selfUri: string;
  readonly state: LegState;
  readonly trace: CallTrace;
  readonly steps: LegSteps;
  /** Keeps what is to be announced until `release`, for a leg that reaches its owner through promises. */
  readonly isHeldBack?: boolean;
}

/** A leg, and what its owner in this room does with it. */
export interface LegCore {
  readonly leg: CallLeg;
  readonly audio: LegAudio;
  dispatch(event: LegEvent): void;
  /** What the peer says that it takes, in its Allow headers; nothing is known where it says nothing. */
  learnAllow(values: readonly string[]): void;
  /** The 2xx that the call stands by, which says who refreshes it. @param weAre - In its transaction. */
  keepSession(answer: SipText, weAre: Refresher): void;
  /** Announces what was held back, and all that follows at once. */
  release(): void;
}

/** The call is over for us when the peer has not answered BYE by then; the SIP server goes on asking it. */
const BYE_WAIT_MS = 4000;
/** As long may the final answer to a cancelled INVITE take. */
const CANCEL_WAIT_MS = 5000;
/** What follows a transfer that succeeded: whoever transferred hangs up if the other does not. */
const TRANSFERRED_WAIT_MS = 3000;
const NORMAL: HangupReason = { q850Cause: Q850.normalClearing, text: 'Normal call clearing' };

/** Runs the state machine of a leg: its events come in from the peer and from our side, its effects go out. */
export function createLeg(deps: LegDeps, options: LegOptions): LegCore {
  const { control, clock, onError } = deps;
  const { trunk, steps } = options;
  const events = createEmitter<LegEvents>((error, name) => onError(error, `a listener to ${name} threw`));
  let heldBack: (() => void)[] | undefined = options.isHeldBack ? [] : undefined;
  const announce: Emitter<LegEvents>['emit'] = (name, value) => {
    if (heldBack) heldBack.push(() => events.emit(name, value));
    else events.emit(name, value);
  };
  const timers = new Set<Timer>();
  const after = (delayMs: number, callback: () => void) => timers.add(clock.setTimer(callback, delayMs));
  const audio = createLegAudio((isHeld) => announce('held', { isHeld }), onError);
  let { state } = options;
  let takesRefer = true;
  let takesUpdate = false;
  /** The peer's own wish for a transfer, which ours may be the way to. */
  let referralFailed: () => void = () => undefined;
  let announceDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    announceDone = resolve;
  });
  const isUp = () => state.kind === 'joining' || state.kind === 'talking';

  const dialog = createDialog({
    control,
    id: options.dialogId,
    makeAuthenticator: () => createAuthenticator(credentialsOf(trunk), deps.makeToken),
    onRequest: (request: IncomingRequest) => peer.take(request),
  });
  const transfers = createTransfers(dialog, options.selfUri, clock, trunk.transfer === 'refer');
  const peer = createInDialogRequests({
    sdp: () => audio.sdp,
    apply: audio.apply,
    announce,
    dispatch: (event) => dispatch(event),
    isUp,
    onAcknowledged: (body) => {
      steps.onAcknowledged?.(body);
      dispatch({ kind: 'acknowledged' });
    },
    async acceptReferral(request) {
      referralFailed = await acceptReferral(request, dialog, after);
    },
    onNotify: transfers.onNotify,
    onOffer: () => refresh.stop(),
    onError,
  });
  const refresh = createSessionRefresh({
    dialog,
    clock,
    takesUpdate: () => takesUpdate,
    description: () => audio.sdp?.current ?? '',
    onAnswer: peer.acceptAnswer,
    onError,
  });
  const stopWatching = watchControl(control, dialog, isUp, () => dispatch({ kind: 'lost' }));

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
  const bye = ({ q850Cause, text }: HangupReason) => {
    after(BYE_WAIT_MS, () => dispatch({ kind: 'over' }));
    dialog
      .bye({ Reason: formatReason({ cause: q850Cause, text }) })
      // What is gone needs no goodbye.
      .catch(() => undefined)
      .finally(() => dispatch({ kind: 'over' }));
  };
  const end = (result: LegEnd) => {
    for (const timer of timers) timer.cancel();
    stopWatching();
    refresh.stop();
    dialog.close();
    transfers.onLegEnded(result.outcome === 'remote_hangup');
    steps.onEnd?.();
    options.trace.end();
    announceDone();
    announce('ended', result);
    audio.close();
  };
  const run = (effect: LegEffect): void => {
    if (effect.kind === 'invite') steps.invite?.();
    else if (effect.kind === 'cancel') cancel(effect.reason);
    else if (effect.kind === 'connect') connect();
    else if (effect.kind === 'bye') bye(effect.reason);
    else if (effect.kind === 'announceRinging') {
      announce('ringing', { hasEarlyMedia: effect.hasEarlyMedia });
    } else if (effect.kind === 'announceAnswered') announce('answered', { atMs: clock.now() });
    else end(effect.end);
  };
  const dispatch = (event: LegEvent): void => {
    const step = legTransition(state, event);
    state = step.state;
    step.effects.forEach(run);
  };

  const refer = async (to: string): Promise<void> => {
    const target = referTarget(options, to);
    requireTalking(state, 'A call can be transferred');
    if (trunk.transfer === 'second_leg') throw unsupported('the trunk’s transfers are by a second leg');
    if (!takesRefer && trunk.transfer === 'auto') throw unsupported('REFER is not among what it allows');
    await transfers.transfer(target);
  };

  const leg: CallLeg = {
    sipCallId: options.sipCallId,
    trunkId: trunk.id,
    get media() {
      return audio.media;
    },
    events,
    hangup(reason = NORMAL) {
      dispatch({ kind: 'hangup', reason });
      return done;
    },
    async sendDtmf(digits) {
      requireDigits(digits);
      requireTalking(state, 'Digits can be sent');
      await sendDigits(digits, trunk, audio, dialog);
    },
    async transfer(to) {
      try {
        await refer(to);
      } catch (error) {
        referralFailed();
        throw error;
      }
      after(TRANSFERRED_WAIT_MS, () => dispatch({ kind: 'hangup', reason: NORMAL }));
    },
  };
  const release = () => {
    const due = heldBack ?? [];
    heldBack = undefined;
    for (const tell of due) tell();
  };
  const learnAllow = (values: readonly string[]) => {
    takesRefer = values.length === 0 || allows(values, 'REFER');
    takesUpdate = allows(values, 'UPDATE');
  };
  const keepSession = (answer: SipText, weAre: Refresher) => {
    if (state.kind !== 'ended' && credentialsOf(trunk)) refresh.agreed(answer, weAre);
  };
  return { leg, audio, dispatch, learnAllow, keepSession, release };
}

/** When the SIP server was away, it and the peer are asked whether they still know the call. */
function watchControl(
  control: SipControl,
  dialog: Dialog,
  isUp: () => boolean,
  onLost: () => void,
): () => void {
  let wasDown = false;
  const stopDown = control.events.on('disconnected', () => {
    wasDown = true;
  });
  const stopUp = control.events.on('connected', () => {
    if (!wasDown || !isUp()) return;
    wasDown = false;
    dialog.isAlive().then((isAlive) => {
      if (!isAlive) onLost();
    });
  });
  return () => {
    stopDown();
    stopUp();
  };
}

function allows(values: readonly string[], method: string): boolean {
  return values.flatMap(splitValues).some((value) => value.toUpperCase() === method);
}

function requireTalking(state: LegState, what: string): void {
  if (state.kind === 'talking') return;
  throw new CallwayError('conflict', 'call_not_in_progress', `${what} only while the call is in progress`);
}

/** @throws {CallwayError} `transfer_target_invalid` for what is neither a number nor a URI. */
function referTarget({ trunk, ownNumber }: LegOptions, to: string): string {
  const isUri = /^(sips?|tel):[^\s<>"]+$/i.test(to) && readUri(to) !== undefined;
  if (isUri) return to;
  if (/^\+?[0-9*#]{1,32}$/.test(to)) return dialledUri(trunk, to, ownNumber);
  throw invalid('transfer_target_invalid', 'the target must be a phone number or a sip: URI');
}
