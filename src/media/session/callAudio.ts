import { CallwayError, unavailable } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import { AgentStream } from '../agentStream/agentStream.ts';
import type { AgentMessage, ConnectStream, StreamTarget } from '../agentStream/streamClient.ts';
import { FRAME_MS } from '../codecs/codec.ts';
import type { CodecRegistry } from '../codecs/registry.ts';
import type { MediaQuality } from '../mediaQuality.ts';
import type {
  AudioCommands,
  DtmfDigit,
  EmitMediaEvent,
  MediaParameters,
  MediaReport,
} from '../mediaSession.ts';
import { CallRecorder } from '../recording/callRecorder.ts';
import type { OpenRecordingFile } from '../recording/recordingFile.ts';
import { frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import { CallSupervisors } from '../supervision/callSupervisors.ts';
import type {
  SupervisorAddress,
  SupervisorGate,
  SupervisorRequest,
} from '../supervision/supervisorStream.ts';
import type { Tick } from '../ticker/tickSchedule.ts';
import type { Impairment, PacketIo } from '../transport/packetIo.ts';
import type { SocketPair } from '../transport/rtpTransport.ts';
import type { Latching } from '../transport/sourceLatch.ts';
import { CallParties, type Served } from './callParties.ts';
import { RtpSession } from './rtpSession.ts';
import type { AdvanceTicks } from './tickAlignment.ts';

export interface CallAudioDeps {
  readonly clock: Clock;
  readonly packetIo: PacketIo;
  readonly codecs: CodecRegistry;
  readonly openRecordingFile: OpenRecordingFile;
  readonly connectStream: ConnectStream;
  /** Admits supervisors; undefined when calls are not supervised. */
  readonly supervisorGate?: SupervisorGate | undefined;
  /** Returns an unpredictable number, 0..2^32-1. */
  readonly randomUint32: () => number;
}

export interface CallAudioOptions {
  /** A local address to listen on. */
  readonly address: string;
  /** The RTP port, which is even. RTCP uses the port above it. */
  readonly rtpPort: number;
  readonly timeoutMs: number;
  readonly latching?: Latching | undefined;
  readonly impairment?: Impairment | undefined;
  readonly emit: EmitMediaEvent;
  readonly advanceTicks: AdvanceTicks;
}

/** The rate until the first codec is known. */
const INITIAL_RATE_HZ = 8000;
/** Time that a stalled thread lost is made up, up to ten seconds. */
const MAX_SKIPPED_FRAMES = 500;

/**
 * Reserves a call's two ports.
 *
 * @throws {Error} With the system's `code` when one of them is taken.
 */
export async function openCallAudio(deps: CallAudioDeps, options: CallAudioOptions): Promise<CallAudio> {
  const { address, rtpPort, impairment } = options;
  const rtp = await deps.packetIo.bind({ address, port: rtpPort, impairment });
  try {
    const rtcp = await deps.packetIo.bind({ address, port: rtpPort + 1 });
    return new CallAudio(deps, options, { rtp, rtcp });
  } catch (error) {
    await rtp.close();
    throw error;
  }
}

/**
 * The audio of one call inside its media thread. Packets are received as they come; everything else happens on the
 * tick:
 *
 * ```
 *  RTP session ─▶ receiver ────────┬─▶ agent stream ─▶ WebSocket
 *  (sockets,      (jitter buffer,  ├─▶ bridge peer
 *   SRTP,          DTMF, decoder)  └─▶ recorder, left
 *   RTCP)       ◀─ sender ◀────────┬── agent stream ◀─ WebSocket
 *                 (DTMF, encoder)  │   (playout queue)
 *                                  ├── hold music, or else
 *                                  ├── bridge peer, while the agent is silent
 *                                  └─▶ recorder, right, with the parties that the caller does not hear
 * ```
 *
 * With participants, the agent and the peer hear them beside the caller, and the caller hears them beside the agent.
 * Supervisors hear what is recorded. Their voices go to the bridge peer or the sender.
 */
export class CallAudio implements Served<AudioCommands> {
  readonly parties = new CallParties(() => this.#requireConnected());
  readonly #emit: EmitMediaEvent;
  readonly #rtp: RtpSession;
  readonly #agent: AgentStream;
  readonly #recorder: CallRecorder;
  readonly #gate: SupervisorGate | undefined;
  #supervisors: CallSupervisors | undefined;
  /** This tick's frames, at the codec's rate. */
  #callerFrame: Int16Array = new Int16Array(0);
  #agentFrame: Int16Array = new Int16Array(0);
  #dtmfSource: 'rtp' | 'signalling' | undefined;
  #hasAgentSpoken = false;
  #closed: Promise<MediaReport> | undefined;

  constructor(deps: CallAudioDeps, options: CallAudioOptions, sockets: SocketPair) {
    const { clock, codecs, connectStream, randomUint32 } = deps;
    const { advanceTicks, emit, latching, timeoutMs } = options;
    this.#emit = emit;
    this.#gate = deps.supervisorGate;
    this.#recorder = new CallRecorder({
      openFile: deps.openRecordingFile,
      onFailure: (reason) => emit('recordingFailed', { reason }),
      nowMs: () => this.#rtp.nowMs,
    });
    this.#agent = new AgentStream({
      codecRateHz: INITIAL_RATE_HZ,
      connectStream,
      emit,
      nowMs: () => clock.monotonicMs(),
    });
    this.#rtp = new RtpSession({
      clock,
      codecs,
      randomUint32,
      sockets,
      latching,
      timeoutMs,
      emit,
      advanceTicks,
      onDigit: (digit) => this.receiveDtmf(digit, 'rtp'),
    });
  }

  /** @see MediaSession.connect */
  connect(parameters: MediaParameters): void {
    this.#requireOpen();
    const { sampleRateHz } = this.#rtp.connect(parameters);
    if (this.#callerFrame.length !== frameLength(sampleRateHz)) this.#changeRate(sampleRateHz);
    this.#agent.setHeld(!this.#rtp.isSending);
  }

  /** @see MediaSession.startStream; throws `media_not_connected` as well. */
  async startStream(target: StreamTarget, messages: readonly AgentMessage[] = []): Promise<void> {
    this.#requireConnected();
    await this.#agent.start(target, messages);
  }

  /** @see MediaSession.awaitAgent */
  awaitAgent(): void {
    this.#agent.awaitNext();
  }

  /** @see MediaSession.playApology */
  async playApology(): Promise<void> {
    this.#requireOpen();
    await this.#agent.playApology();
  }

  /** @see MediaSession.stopStream */
  stopStream(): void {
    this.#agent.stop();
    this.#supervisors?.endTakeover('the caller was connected to another person');
  }

  /** @see MediaSession.tellAgent */
  tellAgent(message: AgentMessage): void {
    this.#agent.tell(message);
  }

  /** @see MediaSession.muteAgent */
  muteAgent(isMuted: boolean): void {
    this.#agent.setMuted(isMuted);
  }

  /** @see MediaSession.admitSupervisor */
  async admitSupervisor(request: SupervisorRequest, participant?: CallParties): Promise<SupervisorAddress> {
    const { sampleRateHz } = this.#requireConnected();
    if (!this.#gate) throw unavailable('supervision');
    this.#supervisors ??= new CallSupervisors({
      gate: this.#gate,
      codecRateHz: sampleRateHz,
      onChange: (change) => {
        if (change.mode === 'takeover') this.#agent.setTakenOver(change.status === 'joined');
        this.#emit('supervisor', change);
      },
    });
    return await this.#supervisors.admit(request, participant?.requireParticipant());
  }

  /** @throws {CallwayError} `recording_failed`, `recording_running`, `media_not_connected`. */
  async startRecording({ path }: { readonly path: string }): Promise<void> {
    const { sampleRateHz } = this.#requireConnected();
    await this.#recorder.start(path, sampleRateHz);
  }

  /** @see MediaSession.pauseRecording */
  pauseRecording(isPaused: boolean): void {
    this.#recorder.isPaused = isPaused;
  }

  /** @throws {CallwayError} `media_not_connected`, or as `RtpSender.sendDigits`. */
  sendDtmf(digits: string): Promise<void> {
    return this.#requireConnected().sender.sendDigits(digits);
  }

  /**
   * @param source - The way of the digit. When a peer sends digits both ways, only the way of the first digit counts.
   */
  receiveDtmf(digit: DtmfDigit, source: 'rtp' | 'signalling' = 'signalling'): void {
    this.#dtmfSource ??= source;
    if (source !== this.#dtmfSource) return;
    this.#emit('dtmf', digit);
    this.#agent.dtmf(digit);
    this.parties.sendDtmf(digit.digit);
  }

  /** @throws {CallwayError} `media_not_connected`. */
  quality(): MediaQuality {
    this.#requireConnected();
    return this.#rtp.quality();
  }

  /** Moves one frame in each direction, the caller's first. */
  tick({ deadlineMs, lateMs, skippedTicks }: Tick): void {
    if (!this.#rtp.isConnected) return;
    const { receiver } = this.#rtp.transceiver;
    if (skippedTicks > 0) this.#skip(Math.min(skippedTicks, MAX_SKIPPED_FRAMES), deadlineMs);
    const pulled = receiver.pull(deadlineMs, this.#callerFrame);
    const supervisors = this.#supervisors?.isEmpty === false ? this.#supervisors : undefined;
    supervisors?.pullVoices();
    if (supervisors?.whisper) this.parties.whisper(supervisors.whisper);
    const heard = this.parties.gather(this.#callerFrame);
    this.#agent.sendCaller(heard, pulled === 'speech');
    this.parties.send(supervisors?.toPeer(heard) ?? heard);
    this.#sendFrame(supervisors);
    this.#agent.sendAnswers(receiver.buffer.delayMs);
    this.#recorder.write(this.#callerFrame, this.parties.recorded(this.#callerFrame, this.#agentFrame));
    supervisors?.hear(this.#callerFrame, this.#agentFrame);
    const hasListeners = this.parties.hasListeners || supervisors !== undefined;
    this.#rtp.endTick(deadlineMs + lateMs, deadlineMs, hasListeners);
  }

  /** Idempotent: the same report each time. */
  close(): Promise<MediaReport> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** The agent's audio is pulled only when it is sent, so that its played position is true. */
  #sendFrame(supervisors: CallSupervisors | undefined): void {
    this.#agentFrame.fill(0);
    const takesAudio = this.#rtp.startPacket();
    const hasSpeech =
      takesAudio && (this.#agent.pullAgent(this.#agentFrame) || this.parties.pull(this.#agentFrame));
    if (takesAudio) supervisors?.toCaller(this.#agentFrame);
    this.parties.mix(this.#agentFrame);
    if (takesAudio) this.#rtp.transceiver.sender.sendAudio(this.#agentFrame);
    if (!hasSpeech || this.#hasAgentSpoken) return;
    this.#hasAgentSpoken = true;
    this.#emit('firstAgentAudio', { atMs: this.#rtp.nowMs });
  }

  /** The thread stood still: the peer has lost that time. Agent and recording get what the caller said meanwhile. */
  #skip(frames: number, nextDueMs: number): void {
    this.#rtp.skip(frames);
    this.#agentFrame.fill(0);
    for (let left = frames; left > 0; left--) {
      const { receiver } = this.#rtp.transceiver;
      const pulled = receiver.pull(nextDueMs - left * FRAME_MS, this.#callerFrame);
      this.#agent.sendCaller(this.#callerFrame, pulled === 'speech');
      this.#recorder.write(this.#callerFrame, this.#agentFrame);
    }
  }

  #changeRate(sampleRateHz: SampleRateHz): void {
    this.#callerFrame = new Int16Array(frameLength(sampleRateHz));
    this.#agentFrame = new Int16Array(frameLength(sampleRateHz));
    this.#recorder.changeRate(sampleRateHz);
    this.parties.changeRate(sampleRateHz);
    this.#agent.changeRate(sampleRateHz);
    this.#supervisors?.changeRate(sampleRateHz);
  }

  #requireOpen(): void {
    if (this.#closed !== undefined) throw new CallwayError('conflict', 'call_ended', 'the call has ended');
  }

  #requireConnected() {
    this.#requireOpen();
    return this.#rtp.transceiver;
  }

  async #close(): Promise<MediaReport> {
    if (this.#rtp.isConnected) this.#rtp.transceiver.sender.interruptDigits('the call has ended');
    this.parties.close();
    this.#supervisors?.close('the call has ended');
    await this.#agent.close();
    const recording = await this.#recorder.close();
    const report = await this.#rtp.close();
    const counters = { ...this.#rtp.counters, ...this.#agent.counts };
    return { ...report, counters, recording };
  }
}
