import { CallwayError, unavailable } from '../../base/errors.ts';
import type { MediaCounters, StreamTarget, TransferStatus } from '../mediaSession.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import type { Announce } from '../session/announce.ts';
import { telephoneRate } from '../session/telephoneRate.ts';
import { AgentConnection } from './agentConnection.ts';
import { FailoverPlayer } from './failoverPlayer.ts';
import type { ConnectStream, StreamClient } from './streamClient.ts';

export interface AgentStreamOptions {
  readonly codecRateHz: SampleRateHz;
  readonly connectEngine: ConnectStream;
  readonly announce: Announce;
  /** On the ticks' clock. */
  readonly nowMs: () => number;
}

type Counts = Pick<MediaCounters, 'callerFramesDropped' | 'agentSamplesDropped' | 'playoutUnderruns'>;

/** The call is over. @see RFC 6455 section 7.4.1 */
const NORMAL_CLOSURE = 1000;
const TWILIO_RATE_HZ = 8000;

/**
 * A call's side toward its engine, whichever that is at the moment: one connection after the other, and what is heard
 * between them.
 */
export class AgentStream {
  readonly #options: AgentStreamOptions;
  readonly #standby: FailoverPlayer;
  readonly #ending = new AbortController();
  #codecRateHz: SampleRateHz;
  #isHeld = false;
  #channel: AgentConnection | undefined;
  #earlier: Counts = { callerFramesDropped: 0, agentSamplesDropped: 0, playoutUnderruns: 0 };

  constructor(options: AgentStreamOptions) {
    this.#options = options;
    this.#codecRateHz = options.codecRateHz;
    this.#standby = new FailoverPlayer(options.codecRateHz);
  }

  /**
   * Opens the connection; a former one that is gone is replaced.
   *
   * @throws {CallwayError} `engine_unavailable`, or `bridge_running`.
   */
  async start(target: StreamTarget): Promise<void> {
    if (this.#channel?.isOpen === true) {
      throw new CallwayError('conflict', 'bridge_running', 'the call has a connection to an engine already');
    }
    const { announce, nowMs } = this.#options;
    const channel: AgentConnection = new AgentConnection(this.#codecRateHz, {
      onCommand: (command) => announce('command', command),
      onStandby: (words, sampleRateHz) => this.#standby.keep(words, sampleRateHz),
      onClosed: (end) => {
        if (target.canReconnect && end.how === 'broken') this.#standby.begin(nowMs());
        announce('streamClosed', end);
      },
    });
    const link = await this.#connect(target, channel);
    if (this.#ending.signal.aborted) {
      await link.close(NORMAL_CLOSURE, 'the call has ended');
      throw unavailable('engine');
    }
    this.#retireChannel('replaced');
    channel.setHeld(this.#isHeld);
    channel.open(link);
    channel.changeRate(this.#codecRateHz);
    this.#channel = channel;
    if (channel.isOpen) this.#standby.end();
  }

  /** Takes leave of the engine, and drops what it has not said yet; its end is not announced. */
  leave(): void {
    this.#retireChannel('the call goes on without the engine');
    this.#channel = undefined;
    this.#standby.end();
  }

  sendTransfer(progress: TransferStatus): void {
    this.#channel?.sendTransfer(progress);
  }

  /** The call goes on with another codec. */
  changeRate(codecRateHz: SampleRateHz): void {
    this.#codecRateHz = codecRateHz;
    this.#channel?.changeRate(codecRateHz);
    this.#standby.changeRate(codecRateHz);
  }

  /** Tells the engine, and those that follow it, whether the peer hears it. */
  setHeld(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#channel?.setHeld(isHeld);
  }

  /** @param frame - The caller's next 20 ms at the codec's rate. */
  sendCaller(frame: Int16Array): void {
    this.#channel?.sendCaller(frame);
  }

  sendDigit(digit: string, durationMs: number): void {
    this.#channel?.sendDigit(digit, durationMs);
  }

  /**
   * Fills the frame with what is to be said, or silence.
   *
   * @param frame - 20 ms at the codec's rate, silent.
   * @returns Whether the engine speaks in it.
   */
  pullAgent(frame: Int16Array): boolean {
    if (this.#channel?.pullAgent(frame) === true) {
      this.#standby.interrupt();
      return true;
    }
    this.#standby.pull(frame, this.#options.nowMs());
    return false;
  }

  /** Tells the engine what became of its audio; call when the tick's packet has left. */
  answer(bufferDelayMs: number): void {
    this.#channel?.answer(bufferDelayMs);
  }

  /** @see MediaSession.apologise */
  apologise(): Promise<void> {
    return this.#standby.apologise();
  }

  /** Of all connections. */
  get counts(): Counts {
    const { callerFramesDropped, agentSamplesDropped, playoutUnderruns } = this.#earlier;
    return {
      callerFramesDropped: callerFramesDropped + (this.#channel?.droppedCallerFrames ?? 0),
      agentSamplesDropped: agentSamplesDropped + (this.#channel?.overflowedSamples ?? 0),
      playoutUnderruns: playoutUnderruns + (this.#channel?.underruns.count ?? 0),
    };
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#ending.abort(new CallwayError('conflict', 'call_ended', 'the call has ended'));
    this.#standby.close();
    await this.#channel?.close(NORMAL_CLOSURE, 'the call has ended');
  }

  async #connect(target: StreamTarget, channel: AgentConnection): Promise<StreamClient> {
    const { connectEngine, nowMs } = this.#options;
    const sampleRateHz = target.dialect === 'twilio' ? TWILIO_RATE_HZ : telephoneRate(this.#codecRateHz);
    try {
      return await connectEngine({ target, sampleRateHz, signal: this.#ending.signal }, channel.receiver);
    } catch (error) {
      if (target.canReconnect) this.#standby.begin(nowMs());
      throw error;
    }
  }

  #retireChannel(why: string): void {
    if (this.#channel === undefined) return;
    this.#earlier = this.counts;
    void this.#channel.close(NORMAL_CLOSURE, why);
  }
}
