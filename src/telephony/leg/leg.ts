import type { SipMessage } from '../../../sip/message/message.ts';
import { createEmitter, type Emitter } from '../../base/emitter.ts';
import { CallwayError, invalid } from '../../base/errors.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import type { StoredDialog } from '../../calls/dialogStore.ts';
import type { CallLeg, HangupReason, LegEnd, LegEvents } from '../../calls/telephony.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import type { DtmfDigit, MediaSession } from '../../media/mediaSession.ts';
import type { SipControl } from '../control/control.ts';
import { type Authenticator, createAuthenticator, type UsedNonces } from '../sip/authenticator.ts';
import { readUri, tokensOf } from '../sip/headerValues.ts';
import { Q850 } from '../sip/q850.ts';
import type { CallTrace } from '../trace.ts';
import { credentialsOf, dialledUri } from '../trunks/addressing.ts';
import { Dialog } from './dialog.ts';
import type { DialogOwner, DialogRecord, DialogRecords } from './dialogRecord.ts';
import { DigitSender } from './inDialog/dtmf.ts';
import { InDialogRequests } from './inDialog/inDialogRequests.ts';
import { createSessionRefresh, type Refresher, type SessionRefresh } from './inDialog/sessionRefresh.ts';
import {
  acceptReferral,
  createTransfers,
  replacingUri,
  type Transfers,
  unsupported,
} from './inDialog/transfer.ts';
import { LegAudio } from './legAudio.ts';
import { type LegEffect, type LegEvent, type LegState, legTransition } from './legTransition.ts';

export interface LegDeps {
  readonly control: SipControl;
  readonly clock: Clock;
  /** Returns unguessable hexadecimal text. */
  readonly makeToken: () => string;
  readonly dialogs: DialogRecords;
  readonly onError: (error: unknown, what: string) => void;
}

/** The steps that differ between outbound and inbound legs. */
export interface LegSteps {
  /** Completes the first offer and answer; audio flows when it resolves. */
  connectAudio(): Promise<void>;
  sendInvite?(): void;
  sendCancel?(reason: HangupReason): void;
  /** The peer's ACK of our 200; its body answers an offer of ours. */
  onAcknowledged?(body: string): void;
  onEnd?(): void;
}

export interface LegOptions {
  readonly callId: string;
  readonly sipCallId: string;
  readonly dialogId: string;
  readonly trunk: Trunk;
  /** Our number in normal form. */
  readonly ownNumber: string;
  /** Our URI, for Referred-By. */
  readonly ownUri: string;
  readonly state: LegState;
  readonly trace: CallTrace;
  readonly steps: LegSteps;
}

/** The SIP server tells that no ACK came after 64·T1, unless the dialog is gone by then. RFC 3261 section 13.3.1.4 */
const ACK_TIMEOUT_MS = 32_000;
/** The leg ends when BYE is not answered within this time; the SIP server keeps retransmitting it. */
const BYE_TIMEOUT_MS = 4000;
/** The leg ends when a canceled INVITE gets no final response within this time. */
const CANCEL_TIMEOUT_MS = 5000;
/** The time that the peer has to hang up after a successful transfer. After it this side hangs up. */
const TRANSFERRED_TIMEOUT_MS = 3000;
const NORMAL: HangupReason = { q850Cause: Q850.normalClearing, text: 'Normal call clearing' };

/**
 * Runs the state machine of a leg: feeds it the events of both sides and performs its effects. Events are held back until
 * `releaseEvents`, since the leg reaches its listeners through promises.
 *
 * @see legTransition
 */
export class Leg implements CallLeg {
  readonly audio: LegAudio;
  readonly events: Emitter<LegEvents>;
  readonly #deps: LegDeps;
  readonly #options: LegOptions;
  readonly #dialog: Dialog;
  readonly #requests: InDialogRequests;
  readonly #transfers: Transfers;
  readonly #refresh: SessionRefresh;
  readonly #digits: DigitSender;
  readonly #timers = new Set<Timer>();
  readonly #nonces: UsedNonces = new Map();
  readonly #stopWatching: () => void;
  readonly #ended: Promise<void>;
  #resolveEnded: () => void = () => undefined;
  #heldBack: (() => void)[] | undefined = [];
  #state: LegState;
  #record: DialogRecord | undefined;
  #allowsRefer = true;
  #allowsUpdate = false;
  /** Notifies the peer that its REFER failed. */
  #failReferral: () => void = () => undefined;

  constructor(deps: LegDeps, options: LegOptions) {
    const { control, clock, onError } = deps;
    const { trunk, steps } = options;
    this.#deps = deps;
    this.#options = options;
    this.#state = options.state;
    this.events = createEmitter((error, name) => onError(error, `a ${String(name)} listener threw`));
    this.#ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.audio = new LegAudio((isHeld) => this.#emit('held', { isHeld }), onError);
    this.#dialog = new Dialog({
      control,
      id: options.dialogId,
      makeAuthenticator: () => this.makeAuthenticator(),
      onRequest: (request) => this.#requests.handle(request),
    });
    this.#digits = new DigitSender({ trunk, audio: this.audio, dialog: this.#dialog });
    this.#transfers = createTransfers(this.#dialog, options.ownUri, clock, trunk.transfer === 'refer');
    this.#requests = new InDialogRequests({
      sdp: () => this.audio.sdp,
      apply: (agreement) => this.audio.apply(agreement),
      emit: (name, value) => this.#emit(name, value),
      dispatch: (event) => this.dispatch(event),
      isConfirmed: () => this.#isConfirmed(),
      onAcknowledged: (body) => {
        steps.onAcknowledged?.(body);
        this.dispatch({ kind: 'acknowledged' });
      },
      acceptReferral: async (request) => {
        this.#failReferral = await acceptReferral(request, this.#dialog, (delayMs, callback) =>
          this.#after(delayMs, callback),
        );
      },
      onNotify: this.#transfers.onNotify,
      onOffer: (request) => {
        this.#refresh.stop();
        this.#record?.refreshTarget(request);
      },
      onError,
    });
    this.#refresh = createSessionRefresh({
      dialog: this.#dialog,
      clock,
      takesUpdate: () => this.#allowsUpdate,
      description: () => this.audio.sdp?.current ?? '',
      onAnswer: (description) => this.#requests.acceptAnswer(description),
      onError,
    });
    this.#stopWatching = this.#watchControl();
  }

  get sipCallId(): string {
    return this.#options.sipCallId;
  }

  get trunkId(): string {
    return this.#options.trunk.id;
  }

  get transferMethod(): Trunk['transfer'] {
    return this.#options.trunk.transfer;
  }

  get replacingUri(): string | undefined {
    return this.#record && replacingUri(this.#record.dialog);
  }

  get media(): MediaSession | undefined {
    return this.audio.media;
  }

  hangup(reason: HangupReason = NORMAL): Promise<void> {
    this.dispatch({ kind: 'hangup', reason });
    return this.#ended;
  }

  async sendDtmf(digits: string): Promise<void> {
    this.#requireEstablished('Digits can be sent');
    await this.#digits.send(digits);
  }

  async refer(to: string, timeoutMs?: number): Promise<void> {
    try {
      await this.#refer(to, timeoutMs);
    } catch (error) {
      this.#failReferral();
      throw error;
    }
    this.#after(TRANSFERRED_TIMEOUT_MS, () => this.dispatch({ kind: 'hangup', reason: NORMAL }));
  }

  makeAuthenticator(): Authenticator {
    return createAuthenticator(credentialsOf(this.#options.trunk), this.#deps.makeToken, this.#nonces);
  }

  readonly dispatch = (event: LegEvent): void => {
    const { state, effects } = legTransition(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
  };

  /** Emits the events held back, and all that follow at once. */
  releaseEvents(): void {
    const events = this.#heldBack ?? [];
    this.#heldBack = undefined;
    for (const emit of events) emit();
  }

  /** A digit that came before the leg began. */
  receiveDtmf(digit: DtmfDigit): void {
    this.#emit('dtmf', digit);
  }

  /** Reads the Allow headers of the peer; without any, REFER is assumed to be allowed and UPDATE is not. */
  setAllowedMethods({ headers }: SipMessage): void {
    const methods = tokensOf(headers, 'allow').map((method) => method.toUpperCase());
    this.#allowsRefer = methods.length === 0 || methods.includes('REFER');
    this.#allowsUpdate = methods.includes('UPDATE');
  }

  /** The call rings or is answered. @param describe - The dialog, of the messages that established it. */
  recordDialog(describe: (owner: DialogOwner) => StoredDialog): void {
    if (this.#state.kind === 'terminated') return;
    const { callId, dialogId, trunk } = this.#options;
    const dialog = describe({ callId, dialogId, trunkId: trunk.id });
    if (this.#record) this.#record.replace(dialog);
    else this.#record = this.#deps.dialogs.open(dialog);
  }

  /** Refreshes the session as the 2xx to INVITE says. @param role - Ours in its transaction. */
  startSessionRefresh(response: SipMessage, role: Refresher): void {
    const isOver = this.#state.kind === 'terminated';
    if (!isOver && credentialsOf(this.#options.trunk)) this.#refresh.onAgreed(response, role);
  }

  #perform(effect: LegEffect): void {
    switch (effect.kind) {
      case 'sendInvite':
        this.#options.steps.sendInvite?.();
        break;
      case 'sendCancel':
        this.#after(CANCEL_TIMEOUT_MS, () => this.dispatch({ kind: 'completed' }));
        this.#options.steps.sendCancel?.(effect.reason);
        break;
      case 'connectAudio':
        this.#connectAudio();
        break;
      case 'sendBye':
        this.#sendBye(effect.reason);
        break;
      case 'emitRinging':
        this.#emit('ringing', { hasEarlyMedia: effect.hasEarlyMedia });
        break;
      case 'emitAnswered':
        this.#emit('answered', { atMs: this.#deps.clock.now() });
        break;
      case 'limitAckWait':
        this.#after(ACK_TIMEOUT_MS, () => this.dispatch({ kind: 'failed' }));
        break;
      case 'end':
        this.#end(effect.end);
        break;
    }
  }

  #connectAudio(): void {
    this.#options.steps.connectAudio().then(
      () => {
        this.dispatch({ kind: 'connected' });
        this.#warnWithoutDtmf();
      },
      (error: unknown) => {
        this.#deps.onError(error, 'connecting the audio of a call failed');
        this.dispatch({ kind: 'failed', reason: error instanceof CallwayError ? error.message : undefined });
      },
    );
  }

  #warnWithoutDtmf(): void {
    const { trunk, callId } = this.#options;
    const { parameters } = this.audio;
    if (this.#state.kind !== 'established' || trunk.dtmf !== 'rfc4733' || parameters?.dtmf) return;
    const message =
      'The peer agreed to no telephone events: its digits count only where it sends them by INFO';
    this.#emit('warning', { code: 'no_dtmf', message });
    const error = new CallwayError('unsupported', 'no_dtmf', `call ${callId}: ${message}`);
    this.#deps.onError(error, 'no DTMF negotiated');
  }

  #sendBye(reason: HangupReason): void {
    this.#after(BYE_TIMEOUT_MS, () => this.dispatch({ kind: 'completed' }));
    this.#dialog
      .bye(reason)
      // A dialog that is gone needs no BYE.
      .catch(() => undefined)
      .finally(() => this.dispatch({ kind: 'completed' }));
  }

  #end(end: LegEnd): void {
    for (const timer of this.#timers) timer.cancel();
    this.#stopWatching();
    this.#refresh.stop();
    this.#dialog.close();
    this.#record?.close();
    this.#transfers.onLegEnded(end.outcome === 'remote_hangup');
    this.#options.steps.onEnd?.();
    this.#options.trace.end();
    this.#resolveEnded();
    this.#emit('ended', end);
    this.audio.close();
  }

  async #refer(to: string, timeoutMs: number | undefined): Promise<void> {
    const { trunk, ownNumber } = this.#options;
    const target = referTarget(trunk, ownNumber, to);
    this.#requireEstablished('A call can be transferred');
    if (trunk.transfer === 'second_leg') throw unsupported('the trunk’s transfers are by a second leg');
    if (!this.#allowsRefer && trunk.transfer === 'auto') {
      throw unsupported('REFER is not among what it allows');
    }
    await this.#transfers.transfer(target, timeoutMs);
  }

  /**
   * Watches the control connection. After a reconnect it asks the SIP server and the peer whether they still know the
   * call.
   */
  #watchControl(): () => void {
    const { events } = this.#deps.control;
    let wasDisconnected = false;
    const stops = [
      events.on('disconnected', () => {
        wasDisconnected = true;
      }),
      events.on('connected', async () => {
        if (!wasDisconnected || !this.#isConfirmed()) return;
        wasDisconnected = false;
        if (!(await this.#dialog.isAlive())) this.dispatch({ kind: 'dialogLost' });
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  #emit<Name extends keyof LegEvents>(name: Name, value: LegEvents[Name]): void {
    if (this.#heldBack) this.#heldBack.push(() => this.events.emit(name, value));
    else this.events.emit(name, value);
  }

  #after(delayMs: number, callback: () => void): void {
    this.#timers.add(this.#deps.clock.setTimer(callback, delayMs));
  }

  #isConfirmed(): boolean {
    return this.#state.kind === 'connecting' || this.#state.kind === 'established';
  }

  #requireEstablished(what: string): void {
    if (this.#state.kind === 'established') return;
    throw new CallwayError('conflict', 'call_not_in_progress', `${what} only while the call is in progress`);
  }
}

/** @throws {CallwayError} `transfer_target_invalid` for anything but a number or a URI. */
function referTarget(trunk: Trunk, ownNumber: string, to: string): string {
  const isUri = /^(sips?|tel):[^\s<>"]+$/i.test(to) && readUri(to) !== undefined;
  if (isUri) return to;
  if (/^\+?[0-9*#]{1,32}$/.test(to)) return dialledUri(trunk, to, ownNumber);
  throw invalid('transfer_target_invalid', 'the target must be a phone number or a sip: URI');
}
