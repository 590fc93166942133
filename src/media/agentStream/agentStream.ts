import { CallwayError, unavailable } from '../../base/errors.ts';
import type { DtmfDigit, EmitMediaEvent, MediaCounters } from '../mediaSession.ts';
import { frameLength } from '../resample/frameResampler.ts';
import { type SampleRateHz, speechRateHz } from '../resample/resampler.ts';
import { AgentConnection } from './agentConnection.ts';
import { FailoverPlayer } from './failoverPlayer.ts';
import type { AgentMessage, ConnectStream, StreamTarget } from './streamClient.ts';

export interface AgentStreamOptions {
  readonly codecRateHz: SampleRateHz;
  readonly connectStream: ConnectStream;
  readonly emit: EmitMediaEvent;
  /** On the ticks' clock. */
  readonly nowMs: () => number;
}

type Counts = Pick<MediaCounters, 'callerFramesDropped' | 'agentSamplesDropped' | 'playoutUnderruns'>;

/** More than a person presses until an agent is connected. */
const MAX_EARLY_DIGITS = 100;
/** @see RFC 6455 section 7.4.1 */
const NORMAL_CLOSURE = 1000;

/** A call's audio stream to its agent: successive connections, and the failover prompts played between them. */
export class AgentStream {
  readonly #options: AgentStreamOptions;
  readonly #failover: FailoverPlayer;
  readonly #callEnd = new AbortController();
  #codecRateHz: SampleRateHz;
  #isHeld = false;
  #isMuted = false;
  #isTakenOver = false;
  /** For an agent that is not to hear the caller. */
  #silence: Int16Array;
  /** Whether the connection is to one of our voice sessions, which is never muted by a pause. */
  #isInternal = false;
  #connection: AgentConnection | undefined;
  /** The connection is lost or was refused, and no other one is made yet. */
  #isBroken = false;
  /** The frames that the caller sent meanwhile. */
  #unheardFrames = 0;
  /** Pressed before the agent was connected; undefined while it is, and when none is awaited. */
  #early: DtmfDigit[] | undefined = [];
  #earlierCounts: Counts = { callerFramesDropped: 0, agentSamplesDropped: 0, playoutUnderruns: 0 };

  constructor(options: AgentStreamOptions) {
    this.#options = options;
    this.#codecRateHz = options.codecRateHz;
    this.#failover = new FailoverPlayer(options.codecRateHz);
    this.#silence = new Int16Array(frameLength(options.codecRateHz));
  }

  /**
   * Connects to an agent, in place of an earlier connection that is closed.
   *
   * @param messages - Sent before anything else.
   * @throws {CallwayError} `engine_unavailable`, or `bridge_running`.
   */
  async start(target: StreamTarget, messages: readonly AgentMessage[]): Promise<void> {
    if (this.#connection?.isOpen === true) {
      throw new CallwayError('conflict', 'bridge_running', 'the call is connected to an agent already');
    }
    const { emit, nowMs } = this.#options;
    const connection: AgentConnection = new AgentConnection(this.#codecRateHz, {
      onCommand: (command) => emit('command', command),
      onFailoverPrompts: (prompts, sampleRateHz) => this.#failover.keep(prompts, sampleRateHz),
      onClosed: (end) => {
        if (target.canReconnect && end.how === 'broken') {
          this.#failover.start(nowMs());
          this.#early = [];
        }
        this.#isBroken = end.how === 'broken';
        emit('streamClosed', end);
      },
    });
    const request = { target, sampleRateHz: speechRateHz(this.#codecRateHz), signal: this.#callEnd.signal };
    const client = await this.#options.connectStream(request, connection.handler).catch((error: unknown) => {
      this.#isBroken = true;
      throw error;
    });
    if (this.#callEnd.signal.aborted) {
      await client.close(NORMAL_CLOSURE, 'the call has ended');
      throw unavailable('engine');
    }
    this.#retire('replaced');
    this.#connection = connection;
    this.#isInternal = target.isInternal === true;
    this.#applyMute();
    connection.setHeld(this.#isHeld);
    connection.open(client);
    connection.changeRate(this.#codecRateHz);
    this.#isBroken = !connection.isOpen;
    if (!connection.isOpen) return;
    for (const message of messages) this.tell(message);
    this.#failover.stop();
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const digit of early) this.dtmf(digit);
  }

  /** Closes the connection and drops the agent's queued audio, without a `streamClosed` event. */
  stop(): void {
    this.#retire('the call continues without the agent');
    this.#connection = undefined;
    this.#isBroken = false;
    this.#early = undefined;
    this.#failover.stop();
  }

  /** A digit of the caller, who need not wait for the agent's connection. */
  dtmf(digit: DtmfDigit): void {
    if (this.#isTakenOver) return;
    if (this.#early === undefined) this.#connection?.toAgent?.dtmf(digit.digit, digit.durationMs);
    else if (this.#early.length < MAX_EARLY_DIGITS) this.#early.push(digit);
  }

  /** Passes a message on; it is lost while no agent is connected. */
  tell(message: AgentMessage): void {
    this.#connection?.toAgent?.tell?.(message);
  }

  /** @see MediaSession.muteAgent */
  setMuted(isMuted: boolean): void {
    this.#isMuted = isMuted;
    this.#applyMute();
  }

  /** While a supervisor speaks in the agent's place, the agent is not heard, and hears silence and no digits. */
  setTakenOver(isTakenOver: boolean): void {
    this.#isTakenOver = isTakenOver;
    this.#applyMute();
  }

  /** The call has another codec from now on. */
  changeRate(codecRateHz: SampleRateHz): void {
    this.#codecRateHz = codecRateHz;
    this.#silence = new Int16Array(frameLength(codecRateHz));
    this.#connection?.changeRate(codecRateHz);
    this.#failover.changeRate(codecRateHz);
  }

  /** Tells this agent, and each that replaces it, whether the caller hears it. */
  setHeld(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#connection?.setHeld(isHeld);
  }

  /**
   * @param frame - The caller's next 20 ms at the codec's rate.
   * @param hasArrived - The caller has sent it: it is neither silence nor concealment.
   */
  sendCaller(frame: Int16Array, hasArrived: boolean): void {
    if (hasArrived && this.#isBroken) this.#unheardFrames += 1;
    this.#connection?.sendCaller(this.#isTakenOver ? this.#silence : frame);
  }

  /**
   * Fills the frame with the agent's next audio, a failover prompt, or silence.
   *
   * @param frame - 20 ms at the codec's rate, silent.
   * @returns Whether the frame has the agent's speech.
   */
  pullAgent(frame: Int16Array): boolean {
    if (this.#connection?.pullAgent(frame) === true) {
      this.#failover.interrupt();
      return true;
    }
    if (!this.#isTakenOver && !this.#isMuted) this.#failover.pull(frame, this.#options.nowMs());
    return false;
  }

  /** Answers the agent's marks and clears; call when the tick's packet has left. */
  sendAnswers(bufferDelayMs: number): void {
    this.#connection?.sendAnswers(bufferDelayMs);
  }

  /** @see MediaSession.awaitAgent */
  awaitNext(): void {
    if (!this.#connection?.isOpen) this.#failover.start(this.#options.nowMs());
  }

  /** @see MediaSession.playApology */
  playApology(): Promise<void> {
    return this.#failover.playApology();
  }

  /** The counts of all connections together. */
  get counts(): Counts {
    const { callerFramesDropped, agentSamplesDropped, playoutUnderruns } = this.#earlierCounts;
    const connection = this.#connection;
    return {
      callerFramesDropped: callerFramesDropped + (connection?.droppedCallerFrames ?? 0) + this.#unheardFrames,
      agentSamplesDropped: agentSamplesDropped + (connection?.overflowedSamples ?? 0),
      playoutUnderruns: playoutUnderruns + (connection?.underruns.count ?? 0),
    };
  }

  async close(): Promise<void> {
    this.#callEnd.abort(new CallwayError('conflict', 'call_ended', 'the call has ended'));
    this.#failover.close();
    await this.#connection?.close(NORMAL_CLOSURE, 'the call has ended');
  }

  #applyMute(): void {
    this.#connection?.setMuted(this.#isTakenOver || (this.#isMuted && !this.#isInternal));
  }

  #retire(reason: string): void {
    if (this.#connection === undefined) return;
    this.#earlierCounts = this.counts;
    this.#unheardFrames = 0;
    void this.#connection.close(NORMAL_CLOSURE, reason);
  }
}
