import type { Clock, Timer } from '../../base/clock.ts';
import { withTimeout } from '../../base/withTimeout.ts';
import type { HistoryEvent } from '../../engine/session/session.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';
import type { MediaReport, MediaSession } from '../../media/mediaSession.ts';
import type { Call, CallChange } from '../call.ts';
import type { CallMetrics, SetupPhase } from '../callMetrics.ts';
import type { BilledLeg } from '../limits/callLimiter.ts';
import type { CallLeg, LegEnd } from '../telephony.ts';
import { startTransfer, type Transfer } from '../transfer/transfer.ts';
import type { Trunk } from '../trunks/trunk.ts';
import { type CallEffect, type CallEvent, type CallState, transitionCall } from './callMachine.ts';
import type { CallResult, HangupIntent } from './callResult.ts';
import type { CallTelemetry } from './callTelemetry.ts';

export interface LiveCallDeps {
  readonly clock: Clock;
  readonly meter: Pick<CallMetrics, 'setupPhase'>;
  readonly trace: CallTelemetry;
  /** Where the call's audio goes; asked anew for each attempt. */
  readonly engine: (call: Call) => Promise<StreamTarget>;
  /** @throws {CallwayError} 403 where the project may not send a call there. */
  readonly requireDestination: (to: string) => Promise<void>;
  /** A file for the recording; undefined where none is wanted. */
  readonly recordingPath: (call: Call) => string | undefined;
  /** Puts a change of the call away, in the order of calling; never throws. */
  readonly save: (change: CallChange, event?: HistoryEvent) => void;
  /** Adds to the call's history; never throws. */
  readonly note: (event: HistoryEvent) => void;
  /** Places a leg on the next trunk that has room; undefined where there is none. */
  readonly dialNext: () => Promise<{ readonly leg: CallLeg; readonly trunk: Trunk } | undefined>;
  /** Calls whom the caller is transferred to. @see secondLegs */
  readonly legsTo: (to: string, beside: MediaSession) => AsyncIterable<CallLeg>;
  /** All is over: the leg and the audio are closed. Never rejects. */
  readonly finish: (result: CallResult, media: MediaReport | undefined, endedAt: string) => Promise<void>;
  readonly onError: (error: unknown, what: string) => void;
}

/** Longer than any apology is. */
const APOLOGY_TIMEOUT_MS = 12_000;
const NO_TRUNK: LegEnd = { outcome: 'trunk_error', sip: null, q850Cause: null };

/** A call that this node carries: joins a leg, its audio and an engine, and does what the call machine decides. */
export class LiveCall {
  /** Resolves when the call is over and put away. */
  readonly over: Promise<void>;
  readonly #call: Call;
  readonly #deps: LiveCallDeps;
  readonly #timers = new Set<Timer>();
  readonly #settle: () => void;
  #state: CallState;
  #leg: CallLeg | undefined;
  /** When the first INVITE went out. */
  #startedAt: string | undefined;
  #answeredAtMs: number | undefined;
  #isSpeaking = false;
  #media: MediaSession | undefined;
  /** The last one. */
  #handOver: Transfer | undefined;
  /** Whom the caller was joined with by a leg of ours, and since when. */
  #joined: { readonly to: string; readonly sinceMs: number } | undefined;
  /** Whether the engine that was reached last may be reached again. */
  #canReconnect = true;

  constructor(call: Call, initial: CallState, deps: LiveCallDeps) {
    let settle = () => {};
    this.over = new Promise((resolve) => {
      settle = resolve;
    });
    this.#settle = settle;
    this.#call = call;
    this.#state = initial;
    this.#deps = deps;
  }

  /** Begins by placing a leg. */
  dial(): void {
    this.#deps.dialNext().then(
      (dialled) => {
        if (!dialled) return this.#take({ type: 'leg_ended', end: NO_TRUNK });
        this.#tellDialing(dialled.trunk, dialled.leg);
        this.follow(dialled.leg);
        // It was hung up while a trunk was being found.
        if (this.#state.phase === 'leaving') void this.#leave(false);
      },
      (error: unknown) => {
        this.#deps.onError(error, 'a leg could not be placed');
        this.#take({ type: 'leg_ended', end: NO_TRUNK });
      },
    );
  }

  /** Begins with, or goes on to, a leg that is there. */
  follow(leg: CallLeg): void {
    this.#leg = leg;
    leg.events.on('ringing', () => this.#take({ type: 'leg_ringing' }));
    leg.events.on('answered', () => {
      if (leg.media) this.#listen(leg.media);
      this.#take({ type: 'leg_answered' });
    });
    leg.events.on('dtmf', (key) => {
      leg.media?.receiveDtmf(key).catch(this.#failed('a key of the peer was not taken'));
    });
    leg.events.on('transferRequested', ({ to }) => this.#take({ type: 'peer_transfer', to }));
    leg.events.on('ended', (end) => {
      if (this.#leg === leg) this.#take({ type: 'leg_ended', end });
    });
  }

  /**
   * What was talked so far on each leg that was placed for the project: on the call itself where it went out, and with
   * whom the caller was joined. A leg keeps its place in the list.
   */
  get paidLegs(): readonly BilledLeg[] {
    const { direction, toNumber } = this.#call;
    const since = (ms: number | undefined) =>
      ms === undefined ? 0 : Math.max(0, this.#deps.clock.now() - ms);
    return [
      ...(direction === 'outbound' ? [{ to: toNumber, talkTimeMs: since(this.#answeredAtMs) }] : []),
      ...(this.#joined ? [{ to: this.#joined.to, talkTimeMs: since(this.#joined.sinceMs) }] : []),
    ];
  }

  hangUp(intent: HangupIntent): void {
    this.#take({ type: 'hang_up', intent });
  }

  /** @returns False while there is nobody to transfer. */
  transfer(to: string): boolean {
    if (this.#state.phase !== 'talking' && this.#state.phase !== 'connecting') return false;
    this.#take({ type: 'command', command: { kind: 'transfer', to } });
    return true;
  }

  #take(event: CallEvent): void {
    const step = transitionCall(this.#state, event);
    this.#state = step.state;
    for (const effect of step.effects) this.#effects[effect.type](effect as never);
  }

  readonly #effects: {
    [Type in CallEffect['type']]: (effect: Extract<CallEffect, { type: Type }> | undefined) => void;
  } = {
    dial_next: () => this.dial(),
    tell: (effect) => effect && this.#tell(effect.status),
    begin: () => this.#begin(),
    open_engine: (effect) => {
      if (!effect?.afterMs) void this.#openEngine();
      else this.#after(effect.afterMs, () => void this.#openEngine());
    },
    transfer: (effect) => effect && this.#transfer(effect.to, effect.maySpend),
    leave_engine: () => {
      this.#leg?.media?.stopStream().catch(this.#failed('the engine was not taken leave of'));
    },
    send_dtmf: (effect) => {
      if (effect) this.#leg?.sendDtmf(effect.digits).catch(this.#failed('digits were not sent'));
    },
    hang_up: (effect) => {
      void this.#leave(effect?.withApology === true);
      void this.#handOver?.cancel();
    },
    finish: (effect) => effect && void this.#finish(effect.result),
  };

  #tell(status: 'ringing' | 'in_progress'): void {
    const at = this.#now();
    if (status === 'ringing') this.#deps.trace.ringing();
    else this.#deps.trace.answered();
    if (status === 'in_progress') {
      this.#answeredAtMs = Date.parse(at);
      this.#measure('invite_to_answer', this.#startedAt ?? this.#call.startedAt);
    }
    const change = status === 'in_progress' ? { status, answeredAt: at } : { status };
    this.#deps.save(change, { type: 'call_status', at, data: { status } });
  }

  #tellDialing(trunk: Trunk, { sipCallId }: CallLeg): void {
    this.#deps.trace.dialing(trunk.id, sipCallId);
    const at = this.#now();
    if (this.#startedAt === undefined) this.#measure('accepted_to_invite', this.#call.createdAt);
    this.#startedAt ??= at;
    const change = { status: 'dialing', startedAt: this.#startedAt, trunkId: trunk.id, sipCallId } as const;
    this.#deps.save(change, { type: 'call_status', at, data: { status: 'dialing', trunkId: trunk.id } });
  }

  #begin(): void {
    const { maxDurationSeconds, record } = this.#call.settings;
    this.#after(maxDurationSeconds * 1000, () => this.hangUp('max_duration'));
    const path = record ? this.#deps.recordingPath(this.#call) : undefined;
    if (path === undefined) return;
    this.#leg?.media?.startRecording({ path }).catch((error: unknown) => {
      this.#deps.onError(error, 'a recording could not begin');
      this.#note('error', { code: 'recording_failed', message: 'The recording could not begin' });
    });
  }

  async #openEngine(): Promise<void> {
    const media = this.#leg?.media;
    if (!media || this.#state.phase !== 'connecting') return;
    try {
      const engine = await this.#deps.engine(this.#call);
      this.#canReconnect = engine.canReconnect;
      await media.startStream(engine);
      this.#take({ type: 'engine_open' });
    } catch (error) {
      // The call ended meanwhile, and with it the engine's use.
      if (this.#state.phase !== 'connecting') return;
      this.#deps.onError(error, 'the engine could not be reached');
      this.#note('error', { code: 'engine_unavailable', message: 'The engine could not be reached' });
      this.#take({ type: 'engine_failed', isOurs: this.#canReconnect });
    }
  }

  /** The audio of a leg is there with its answer; it is listened to once. */
  #listen(media: MediaSession): void {
    if (this.#media === media) return;
    this.#media = media;
    media.events.on('command', (command) => this.#take({ type: 'command', command }));
    media.events.on('streamClosed', ({ how }) => this.#onEngineGone(this.#canReconnect ? how : 'stopped'));
    media.events.on('firstAgentAudio', ({ atMs }) => this.#onSpeaking(atMs));
    media.events.on('mediaTimeout', () => this.hangUp('media_timeout'));
    media.events.on('lost', ({ reason }) => {
      this.#note('error', { code: 'media_lost', message: reason });
      this.hangUp('node_lost');
    });
    media.events.on('recordingFailed', ({ reason }) =>
      this.#note('error', { code: 'recording_failed', message: reason }),
    );
  }

  #onEngineGone(how: 'stopped' | 'broken'): void {
    if (how === 'broken' && this.#state.phase === 'talking') {
      this.#note('error', {
        code: 'engine_lost',
        message: 'The connection to the agent was lost; another is sought',
      });
    }
    this.#take({ type: 'engine_closed', how });
  }

  /** @param withApology - The caller hears first that it is not their fault. */
  async #leave(withApology: boolean): Promise<void> {
    if (withApology && this.#media) {
      const apology = this.#media.playApology().catch(this.#failed('no apology was said'));
      await withTimeout(this.#deps.clock, apology, APOLOGY_TIMEOUT_MS);
    }
    this.#leg?.hangup().catch(this.#failed('a leg was not hung up'));
  }

  #onSpeaking(atMs: number): void {
    if (this.#isSpeaking || this.#answeredAtMs === undefined) return;
    this.#isSpeaking = true;
    this.#deps.meter.setupPhase('answer_to_audio', Math.max(0, atMs - this.#answeredAtMs) / 1000);
  }

  /** @param since - ISO 8601; null where nobody knows. */
  #measure(phase: SetupPhase, since: string | null): void {
    const sinceMs = Date.parse(since ?? '');
    if (Number.isNaN(sinceMs)) return;
    this.#deps.meter.setupPhase(phase, Math.max(0, this.#deps.clock.now() - sinceMs) / 1000);
  }

  #transfer(to: string, maySpend: boolean): void {
    const leg = this.#leg;
    const media = leg?.media;
    // Only a call that was answered is transferred, and one that was has both.
    if (!leg || !media) return;
    this.#handOver = startTransfer(
      {
        leg,
        media,
        requireDestination: this.#deps.requireDestination,
        ...(maySpend ? { legsTo: (target) => this.#deps.legsTo(target, media) } : {}),
        take: (event) => {
          if (event.type === 'joined') this.#joined = { to, sinceMs: this.#deps.clock.now() };
          this.#take(event);
        },
        note: (data) => this.#note('transfer', data),
        onError: this.#deps.onError,
      },
      to,
    );
  }

  async #finish(result: CallResult): Promise<void> {
    const endedAt = this.#now();
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    await this.#handOver?.cancel();
    const report = await this.#leg?.media?.close().catch((error: unknown) => {
      this.#deps.onError(error, 'the audio was not closed');
      return undefined;
    });
    await this.#deps.finish(result, report, endedAt);
    this.#settle();
  }

  #after(delayMs: number, work: () => void): void {
    const timer = this.#deps.clock.setTimer(() => {
      this.#timers.delete(timer);
      work();
    }, delayMs);
    this.#timers.add(timer);
  }

  #note(type: HistoryEvent['type'], data: HistoryEvent['data']): void {
    this.#deps.note({ type, at: this.#now(), data });
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }

  #failed(what: string): (error: unknown) => void {
    return (error) => this.#deps.onError(error, what);
  }
}
