import { withTimeout } from '../../base/async/withTimeout.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { HistoryEvent } from '../../engine/session/session.ts';
import { type MediaSamples, MediaSeries } from '../../media/mediaSamples.ts';
import type { MediaReport, MediaSession } from '../../media/mediaSession.ts';
import { type Call, RECORDING_RUNS } from '../call.ts';
import { callPolicy } from '../callPolicy.ts';
import type { CallAnswer, CallRequest, CallRequestTypes } from '../nodes/callRequest.ts';
import { CallParticipants } from '../participants/callParticipants.ts';
import type { StartedSession } from '../setup/callSessions.ts';
import type { CallLeg, LegEnd } from '../telephony.ts';
import type { CallParties } from '../transfer/callParties.ts';
import { CallTransfers } from '../transfer/callTransfers.ts';
import { transferInProgress } from '../transfer/transferPlan.ts';
import { CallAgentStream } from './callAgentStream.ts';
import { CallDisclosures } from './callDisclosures.ts';
import type { LeasedCall } from './callLeases.ts';
import {
  type CallEffect,
  type CallEvent,
  type CallState,
  isAnswered,
  transitionCall,
} from './callMachine.ts';
import type { CallResult, HangupIntent } from './callResult.ts';
import type { CallStreams } from './callStreams.ts';
import type { CallTelemetry } from './callTelemetry.ts';
import type { CallWriter } from './callWriter.ts';
import type { DialedLeg, OutboundLegs } from './outboundLegs.ts';
import { SupervisedCall } from './supervisedCall.ts';

export interface LiveCallDeps {
  readonly telemetry: CallTelemetry;
  readonly writer: CallWriter;
  readonly outboundLegs: OutboundLegs;
  readonly parties: CallParties;
  readonly streams: CallStreams;
  readonly recordingPath: string;
  /** Leg and audio are closed. Never rejects. */
  readonly finish: (
    result: CallResult,
    media: MediaReport | undefined,
    endedAt: string,
    samples: MediaSamples,
  ) => Promise<void>;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly onError: (error: unknown, what: string) => void;
}

/** The longest apology. */
const APOLOGY_TIMEOUT_MS = 12_000;
/** The longest time for the digits of a menu, an extension or a card. */
const DIGITS_TIMEOUT_MS = 10_000;
const NO_TRUNK: LegEnd = { outcome: 'trunk_error', sip: null, q850Cause: null };

/**
 * A call that this node runs: passes events of its leg and its agent stream to the call machine, and runs the effects.
 */
export class LiveCall {
  /** Resolves when the call has ended and is stored. */
  readonly ended: Promise<void>;
  readonly #call: Call;
  readonly #deps: LiveCallDeps;
  readonly #transfers: CallTransfers;
  readonly #timers = new Set<Timer>();
  readonly #resolveEnded: () => void;
  readonly #supervised: SupervisedCall;
  readonly #agent: CallAgentStream;
  readonly #participants: CallParticipants;
  readonly #disclosures: CallDisclosures;
  readonly #series = new MediaSeries();
  /** Aborted when this node hangs up. */
  readonly #hungUp = new AbortController();
  #state: CallState;
  #leg: CallLeg | undefined;
  /** The media session whose events are handled. */
  #media: MediaSession | undefined;
  /** The time of the first INVITE. */
  #startedAt: string | undefined;
  #answeredAtMs: number | undefined;
  /** Settles when the agent's last digits were sent. */
  #digitsSent: Promise<void> | undefined;

  /** @param started - The session of an inbound call, from while the phone rang. */
  constructor(call: Call, initial: CallState, deps: LiveCallDeps, started?: StartedSession) {
    let resolveEnded = () => {};
    this.ended = new Promise((resolve) => {
      resolveEnded = resolve;
    });
    this.#resolveEnded = resolveEnded;
    this.#call = call;
    this.#state = initial;
    this.#deps = deps;
    const { telemetry, writer, parties, streams, clock, makeId, onError } = deps;
    const media = () => this.#requireMedia();
    const state = () => this.#state;
    const dispatch = (event: CallEvent) => this.#dispatch(event);
    this.#transfers = new CallTransfers(call, { parties, writer, telemetry, dispatch, clock, onError });
    this.#participants = new CallParticipants({
      call,
      media,
      parties,
      writer,
      telemetry,
      clock,
      makeId,
      onError,
    });
    this.#supervised = new SupervisedCall({
      call,
      media,
      state,
      participants: this.#participants,
      writer,
      streams,
      onTakeover: (isTakenOver) => this.#dispatch({ type: 'takeover', isTakenOver }),
      clock,
      makeId,
      onError,
    });
    this.#agent = new CallAgentStream({
      streams,
      supervised: this.#supervised,
      state,
      dispatch,
      addError: (code, message) => this.#addEvent('error', { code, message }),
      onError,
    });
    this.#agent.bring(started);
    this.#disclosures = new CallDisclosures(call, writer, clock);
  }

  /** Starts an outbound call. */
  dial(): void {
    this.#deps.outboundLegs.next(this.#hungUp.signal).then(
      (dialed) => this.#onDialed(dialed),
      (error: unknown) => {
        this.#deps.onError(error, 'call not dialed');
        this.#dispatch({ type: 'leg_ended', end: NO_TRUNK });
      },
    );
  }

  /** Starts with an existing leg, or switches to it. */
  follow(leg: CallLeg): void {
    this.#leg = leg;
    leg.events.on('ringing', () => this.#dispatch({ type: 'leg_ringing' }));
    leg.events.on('answered', () => {
      if (leg.media) this.#handleMedia(leg.media);
      this.#dispatch({ type: 'leg_answered' });
    });
    leg.events.on('dtmf', (digit) => {
      leg.media?.receiveDtmf(digit).catch(this.#failed('DTMF digit not passed on'));
    });
    leg.events.on('held', ({ isHeld }) => {
      this.#deps.telemetry.held(isHeld);
      this.#transfers.setCallerHeld(isHeld);
    });
    leg.events.on('warning', ({ code, message }) => this.#addEvent('warning', { code, message }));
    leg.events.on('transferRequested', ({ to }) => this.#dispatch({ type: 'peer_transfer', to }));
    leg.events.on('ended', (end) => {
      if (this.#leg === leg) this.#dispatch({ type: 'leg_ended', end });
    });
  }

  /** Talk time so far of the outbound leg, of transfer targets and of participants. */
  get billedLegs(): LeasedCall['billedLegs'] {
    const { direction, toNumber } = this.#call;
    const nowMs = this.#deps.clock.now();
    const talkTimeMs = Math.max(0, nowMs - (this.#answeredAtMs ?? nowMs));
    return {
      call: direction === 'outbound' ? [{ to: toNumber, talkTimeMs }] : [],
      transfers: this.#transfers.billedLegs,
      participants: this.#participants.billedLegs,
    };
  }

  hangUp(intent: HangupIntent): void {
    this.#dispatch({ type: 'hang_up', intent });
  }

  /** @throws {CallwayError} As the method that carries the request out. */
  async perform(request: CallRequest): Promise<CallAnswer> {
    switch (request.name) {
      case 'read_quality':
        // Without audio there are no figures yet.
        return (isAnswered(this.#state) && (await this.#media?.quality())) || null;
      case 'read_media_samples':
        return this.#series.samples;
      case 'transfer':
        return this.#takeTransfer(request.argument);
      case 'add_participant':
        return this.#participants.add(request.argument);
      case 'list_participants':
        return this.#participants.list();
      case 'change_participant':
        return await this.#participants.change(request.argument);
      case 'remove_participant':
        return this.#participants.remove(request.argument.id);
      default:
        return await this.#supervised.perform(request);
    }
  }

  /** Accepts the first of several requests. @throws {CallwayError} 409 `transfer_in_progress`, `call_not_in_progress`. */
  #takeTransfer({ to, options }: CallRequestTypes['transfer'][0]): null {
    if (this.#state.transfer !== 'none') throw transferInProgress();
    this.#requireMedia();
    this.#dispatch({ type: 'command', command: { kind: 'transfer', to, options } });
    return null;
  }

  #requireMedia(): MediaSession {
    if (isAnswered(this.#state) && this.#media) return this.#media;
    throw new CallwayError('conflict', 'call_not_in_progress', 'The call is not in progress');
  }

  #dispatch(event: CallEvent): void {
    const step = transitionCall(this.#state, event);
    this.#state = step.state;
    for (const effect of step.effects) this.#run(effect);
  }

  #run(effect: CallEffect): void {
    switch (effect.type) {
      case 'dial_next':
        this.dial();
        break;
      case 'store_status':
        this.#storeStatus(effect.status);
        break;
      case 'start':
        this.#start();
        break;
      case 'open_stream':
        if (effect.afterMs > 0) this.#after(effect.afterMs, () => this.#openStream());
        else this.#openStream();
        break;
      case 'transfer':
        // Only answered calls are transferred, and they have both.
        if (this.#leg?.media) this.#transfers.start(effect, this.#leg, this.#leg.media);
        break;
      case 'close_stream':
        this.#leg?.media?.stopStream().catch(this.#failed('agent stream not closed'));
        break;
      case 'send_dtmf':
        this.#digitsSent = this.#leg?.sendDtmf(effect.digits).catch(this.#failed('DTMF digits not sent'));
        break;
      case 'hang_up':
        this.#hungUp.abort();
        void this.#hangUpLeg(effect.withApology);
        void this.#transfers.cancel();
        void this.#participants.close();
        break;
      case 'finish':
        void this.#finish(effect.result);
        break;
      default:
        effect satisfies never;
    }
  }

  #onDialed(dialed: DialedLeg | undefined): void {
    if (!dialed || 'hangUp' in dialed) {
      if (dialed) this.hangUp(dialed.hangUp);
      this.#dispatch({ type: 'leg_ended', end: NO_TRUNK });
      return;
    }
    const { trunk, leg, started } = dialed;
    this.#agent.bring(started);
    this.#deps.telemetry.dialing(trunk.id, leg.sipCallId);
    const at = this.#now();
    this.#startedAt ??= at;
    this.#update(
      { status: 'dialing', startedAt: this.#startedAt, trunkId: trunk.id, sipCallId: leg.sipCallId },
      { type: 'call_status', at, data: { status: 'dialing', trunkId: trunk.id } },
    );
    this.follow(leg);
    // Hung up while the leg was being dialed.
    if (this.#state.phase === 'hanging_up') void this.#hangUpLeg(false);
  }

  #storeStatus(status: 'ringing' | 'in_progress'): void {
    const at = this.#now();
    const event: HistoryEvent = { type: 'call_status', at, data: { status } };
    if (status === 'ringing') {
      this.#deps.telemetry.ringing();
      this.#update({ status }, event);
    } else {
      this.#deps.telemetry.answered();
      this.#answeredAtMs = Date.parse(at);
      this.#transfers.onAnswered(this.#answeredAtMs);
      const recording = this.#call.settings.record ? RECORDING_RUNS : null;
      this.#update({ status, answeredAt: at, recording }, event);
    }
  }

  #update(...change: Parameters<CallWriter['update']>): void {
    void this.#deps.writer.update(...change).then((stored) => {
      // The hang-up was requested before this node was known to run the call.
      if (stored?.hangupRequested) this.hangUp('api_hangup');
    });
  }

  #start(): void {
    const { maxDurationSeconds, record } = this.#call.settings;
    this.#after(maxDurationSeconds * 1000, () => this.hangUp('max_duration'));
    if (!record) return;
    this.#leg?.media?.startRecording({ path: this.#deps.recordingPath }).catch((error: unknown) => {
      this.#deps.onError(error, 'recording not started');
      this.#addEvent('error', { code: 'recording_failed', message: 'The recording could not be started' });
    });
  }

  #openStream(): void {
    const { media, trunkId = null } = this.#leg ?? {};
    const call = { ...this.#call, disclosures: this.#disclosures.unsaid };
    const onTrunk = callPolicy(call).hasTrunk ? { ...call, trunkId } : call;
    if (media) void this.#agent.open(onTrunk, media);
  }

  #handleMedia(media: MediaSession): void {
    if (this.#media === media) return;
    this.#media = media;
    media.events.on('command', (command) => {
      if (command.kind === 'said') this.#supervised.onSaid(command.number);
      else if (command.kind === 'message_began') this.#disclosures.onMessageBegan();
      else if (command.kind === 'disclosed')
        this.#disclosures.onHeard(command, this.#answeredAtMs ?? this.#deps.clock.now());
      else this.#dispatch({ type: 'command', command });
    });
    media.events.on('streamClosed', ({ how }) => this.#agent.onClosed(how));
    media.events.on('firstAgentAudio', () => this.#deps.telemetry.agentAudio());
    media.events.on('sample', (sample) => this.#series.add(sample));
    media.events.on('supervisor', (change) => this.#supervised.onSupervisor(change));
    media.events.on('mediaTimeout', () => this.hangUp('media_timeout'));
    media.events.on('lost', ({ reason }) => {
      this.#addEvent('error', { code: 'media_lost', message: reason });
      this.hangUp('node_lost');
    });
    media.events.on('recordingFailed', ({ reason }) =>
      this.#addEvent('error', { code: 'recording_failed', message: reason }),
    );
  }

  async #hangUpLeg(withApology: boolean): Promise<void> {
    // Digits are among an agent's last words.
    if (this.#state.intent === 'agent_hangup' && this.#digitsSent)
      await withTimeout(this.#deps.clock, this.#digitsSent, DIGITS_TIMEOUT_MS);
    if (withApology && this.#media) {
      const apology = this.#media.playApology().catch(this.#failed('apology not played'));
      await withTimeout(this.#deps.clock, apology, APOLOGY_TIMEOUT_MS);
    }
    this.#leg?.hangup().catch(this.#failed('leg not hung up'));
  }

  async #finish(result: CallResult): Promise<void> {
    const endedAt = this.#now();
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    await Promise.all([this.#transfers.cancel(), this.#participants.close()]);
    const report = await this.#leg?.media?.close().catch((error: unknown) => {
      this.#deps.onError(error, 'media session not closed');
      return undefined;
    });
    await this.#deps.finish(result, report, endedAt, this.#series.samples);
    this.#resolveEnded();
  }

  #after(delayMs: number, work: () => void): void {
    const timer = this.#deps.clock.setTimer(() => {
      this.#timers.delete(timer);
      work();
    }, delayMs);
    this.#timers.add(timer);
  }

  #addEvent(type: HistoryEvent['type'], data: HistoryEvent['data']): void {
    this.#deps.writer.addEvent({ type, at: this.#now(), data });
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }

  #failed(what: string): (error: unknown) => void {
    return (error) => this.#deps.onError(error, what);
  }
}
