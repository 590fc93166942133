import type { Clock } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import { AgentStream } from '../agentStream/agentStream.ts';
import type { ConnectStream, StreamTarget, TransferStatus } from '../agentStream/streamClient.ts';
import type { CodecRegistry } from '../codecs/registry.ts';
import type { DtmfDigit, EmitMediaEvent, MediaParameters, MediaReport } from '../mediaSession.ts';
import type { MediaQuality } from '../quality/mediaQuality.ts';
import { CallRecorder } from '../recording/callRecorder.ts';
import { frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import { RtcpSession } from '../rtcp/rtcpSession.ts';
import type { RtpPacketView } from '../rtp/packet.ts';
import { type SrtpContexts, srtpContextsFor } from '../srtp/srtpContexts.ts';
import type { Tick } from '../ticker/tickSchedule.ts';
import type { PacketIo } from '../transport/packetIo.ts';
import { RtpTransport, type SocketPair } from '../transport/rtpTransport.ts';
import type { BridgePeer } from './bridgePeer.ts';
import { type BridgedCall, bridgeCalls } from './callBridge.ts';
import { countersOf } from './counters.ts';
import { KeyWaiters } from './keyWaiters.ts';
import { PeerWatch } from './peerWatch.ts';
import { createRinging } from './ringback.ts';
import {
  addTraffic,
  figuresOf,
  findFormat,
  NO_TRAFFIC,
  openTransceiver,
  type RtpTransceiver,
} from './rtpTransceiver.ts';

export interface CallAudioDeps {
  readonly clock: Clock;
  readonly packetIo: PacketIo;
  readonly codecs: CodecRegistry;
  readonly connectStream: ConnectStream;
  /** 0..2^32-1, not to be foreseen. */
  readonly randomUint32: () => number;
}

export interface CallAudioOptions {
  /** Of this machine, to listen on. */
  readonly address: string;
  /** Even. RTCP is the port above it. */
  readonly rtpPort: number;
  readonly timeoutMs: number;
  readonly announce: EmitMediaEvent;
}

/** Time that a stalled thread lost is made up with silence as far as this: ten seconds. */
const MAX_SKIPPED_FRAMES = 500;

/**
 * Reserves a call's two ports.
 *
 * @throws {Error} With the system's `code` when one of them is taken.
 */
export async function openCallAudio(deps: CallAudioDeps, options: CallAudioOptions): Promise<CallAudio> {
  const rtp = await deps.packetIo.bind({ address: options.address, port: options.rtpPort });
  try {
    const rtcp = await deps.packetIo.bind({ address: options.address, port: options.rtpPort + 1 });
    return new CallAudio(deps, options, { rtp, rtcp });
  } catch (error) {
    await rtp.close();
    throw error;
  }
}

/**
 * One call's audio inside its thread. Packets come in as they come; everything else happens on the tick:
 *
 * ```
 *  peer path ─▶ inbound stream ───┬─▶ engine channel ─▶ WebSocket
 *  (sockets,    (jitter buffer,   └─▶ recording, left
 *   SRTP,        DTMF, decoder)   ┌─▶ recording, right
 *   latch)    ◀─ outbound stream ◀┴── engine channel ◀─ WebSocket
 *               (DTMF, encoder)      (playout queue)
 * ```
 */
export class CallAudio {
  readonly #deps: CallAudioDeps;
  readonly #announce: EmitMediaEvent;
  readonly #path: RtpTransport;
  readonly #rtcp: RtcpSession;
  readonly #watch: PeerWatch;
  readonly #recording: CallRecorder;
  readonly #epochMs: number;
  readonly #keyWaiters = new KeyWaiters();
  #parameters: MediaParameters | undefined;
  #streams: RtpTransceiver | undefined;
  #past = NO_TRAFFIC;
  #keys: SrtpContexts | undefined;
  /** From the first codec on. */
  #engine: AgentStream | undefined;
  /** Heard where the engine says nothing. */
  #neighbour: BridgePeer | undefined;
  #caller: Int16Array = new Int16Array(0);
  #agent: Int16Array = new Int16Array(0);
  #packetsDue = 0;
  #keysCome: 'audio' | 'signalling' | undefined;
  #isSpeaking = false;
  #closed: Promise<MediaReport> | undefined;

  constructor(deps: CallAudioDeps, options: CallAudioOptions, sockets: SocketPair) {
    const { clock } = deps;
    const nowMs = clock.monotonicMs();
    this.#deps = deps;
    this.#announce = options.announce;
    this.#epochMs = clock.now() - nowMs;
    this.#recording = new CallRecorder((reason) => this.#announce('recordingFailed', { reason }));
    this.#watch = new PeerWatch({
      timeoutMs: options.timeoutMs,
      nowMs,
      onReceiving: (atMs) => this.#announce('firstPacket', { atMs: this.#epochMs + atMs }),
      onSilent: (forMs) => this.#announce('mediaTimeout', { forMs }),
    });
    this.#rtcp = new RtcpSession({
      startMs: nowMs,
      epochMs: this.#epochMs,
      randomUint32: deps.randomUint32,
      send: (packet) => this.#path.sendRtcp(packet),
    });
    this.#path = new RtpTransport({
      sockets,
      nowMs: () => clock.monotonicMs(),
      onRtp: (packet, atMs) => this.#receive(packet, atMs),
      onRtcp: (bytes, atMs) => this.#receiveRtcp(bytes, atMs),
    });
  }

  /**
   * Begins, or goes on by what a later offer and answer came to. A codec that stays keeps its stream, its numbers and
   * its jitter buffer.
   *
   * @throws {CallwayError} `codec_unsupported`.
   */
  connect(parameters: MediaParameters): void {
    this.#requireOpen();
    const nowMs = this.#deps.clock.monotonicMs();
    const streams = this.#streamsFor(parameters);
    this.#keys = srtpContextsFor(parameters.srtp, this.#keys);
    this.#rtcp.srtcp = this.#keys?.srtcp;
    const { dtmfPayloadType, comfortNoisePayloadType, codec, remote } = parameters;
    streams.inbound.payloadTypes = {
      speech: codec.payloadType,
      dtmf: dtmfPayloadType,
      comfortNoise: comfortNoisePayloadType,
    };
    streams.outbound.payloadType = codec.payloadType;
    streams.outbound.dtmfPayloadType = dtmfPayloadType;
    streams.outbound.srtp = this.#keys?.outbound;
    const expected = [codec.payloadType, dtmfPayloadType, comfortNoisePayloadType];
    const types = new Set(expected.filter((type) => type !== undefined));
    this.#path.connect(remote, types, this.#keys);
    this.#parameters = parameters;
    this.#engine?.setHeld(!this.#isSending);
    this.#watch.expect(parameters.direction === 'sendrecv', nowMs);
  }

  /**
   * Opens the connection to the engine; a former one that is gone is replaced.
   *
   * @throws {CallwayError} `engine_unavailable`, `media_not_connected`, or `bridge_running`.
   */
  async startBridge(target: StreamTarget): Promise<void> {
    this.#requireStreams();
    await this.#engine?.start(target);
  }

  /** @see MediaSession.apologise */
  async apologise(): Promise<void> {
    this.#requireOpen();
    await this.#engine?.playApology();
  }

  /** @see MediaSession.stopBridge */
  stopBridge(): void {
    this.#engine?.stop();
  }

  /** Tells the engine how a transfer of the call goes. */
  tellEngine(progress: TransferStatus): void {
    this.#engine?.toAgent?.transferStatus?.(progress);
  }

  /**
   * What the peer hears from now on where the engine says nothing.
   *
   * @param whom - Another call of this thread is joined with this one, and hears it in turn.
   * @throws {CallwayError} `media_not_connected` while either call is not.
   */
  stayBeside(whom: 'nobody' | 'ringing' | CallAudio): void {
    const { sampleRateHz } = this.#requireStreams();
    this.#settleBeside(undefined);
    if (whom === 'ringing') this.#settleBeside(createRinging(sampleRateHz));
    else if (whom !== 'nobody') {
      const [own, others] = bridgeCalls(this.#joined, whom.#joined);
      this.#settleBeside(own);
      whom.#settleBeside(others);
    }
  }

  get #joined(): BridgedCall {
    const { sampleRateHz } = this.#requireStreams();
    return { sampleRateHz, onKey: (digit) => this.#streams?.outbound.passKey(digit) };
  }

  #settleBeside(neighbour: BridgePeer | undefined): void {
    this.#neighbour?.leave();
    this.#neighbour = neighbour;
  }

  /** @throws {CallwayError} `recording_failed`, `media_not_connected`, or `recording_running`. */
  async startRecording(path: string): Promise<void> {
    const { sampleRateHz } = this.#requireStreams();
    await this.#recording.start(path, sampleRateHz);
  }

  /**
   * @returns Resolves when all keys are out.
   * @throws {CallwayError} `dtmf_unsupported` when the peer takes no events; `dtmf_digit_invalid`, `dtmf_too_many_digits`;
   *   `call_ended` when it ends before.
   */
  sendDtmf(digits: string): Promise<void> {
    const { outbound } = this.#requireStreams();
    if (outbound.dtmfPayloadType === undefined) {
      throw new CallwayError('conflict', 'dtmf_unsupported', 'the peer takes no keys as telephone events');
    }
    outbound.dtmf.send(digits);
    return this.#keyWaiters.untilOut();
  }

  /** @param way - Of the keys that a peer sends both ways only those of the first way count. */
  takeKey(key: DtmfDigit, way: 'audio' | 'signalling'): void {
    this.#keysCome ??= way;
    if (way !== this.#keysCome) return;
    this.#announce('dtmf', key);
    this.#engine?.toAgent?.dtmf(key.digit, key.durationMs);
    this.#neighbour?.press(key.digit);
  }

  /** @throws {CallwayError} `media_not_connected`. */
  figures(): MediaQuality {
    return figuresOf(this.#requireStreams(), this.#past, this.#rtcp.roundTripMs);
  }

  /** One frame each way. The order is the clock's: what was heard is told before what is said is sent. */
  tick(tick: Tick): void {
    const streams = this.#streams;
    if (streams === undefined) return;
    if (tick.skippedTicks > 0) this.#skip(streams, Math.min(tick.skippedTicks, MAX_SKIPPED_FRAMES));
    streams.inbound.pull(tick.deadlineMs, this.#caller);
    this.#engine?.sendCaller(this.#caller);
    this.#neighbour?.say(this.#caller);
    this.#sendFrame(streams);
    this.#engine?.sendAnswers(streams.inbound.buffer.delayMs);
    this.#recording.write(this.#caller, this.#agent);
    this.#keepHouse(streams, tick.deadlineMs + tick.lateMs, tick.deadlineMs);
  }

  /** Idempotent: the same report each time. */
  close(): Promise<MediaReport> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  #receive(packet: RtpPacketView, nowMs: number): void {
    this.#streams?.inbound.receive(packet, nowMs);
    this.#watch.received(nowMs);
  }

  #receiveRtcp(bytes: Uint8Array, nowMs: number): void {
    if (this.#streams !== undefined) {
      this.#rtcp.receive(bytes, this.#streams.outbound.packetizer.ssrc, nowMs);
    }
  }

  /** While a key sounds the engine's audio waits: what is not sent is not counted as heard. */
  #sendFrame(streams: RtpTransceiver): void {
    const { outbound } = streams;
    this.#agent.fill(0);
    if (!this.#isSending) {
      outbound.skip(1);
      return;
    }
    this.#packetsDue++;
    if (outbound.sendKey()) return;
    const isSpeech =
      this.#engine?.pullAgent(this.#agent) === true || this.#neighbour?.hear(this.#agent) === true;
    outbound.sendAudio(this.#agent);
    if (!isSpeech || this.#isSpeaking) return;
    this.#isSpeaking = true;
    this.#announce('firstAgentAudio', { atMs: this.#epochMs + this.#deps.clock.monotonicMs() });
  }

  /** The thread stood still: the time is gone for the peer, and silence for everybody who counts samples. */
  #skip(streams: RtpTransceiver, frames: number): void {
    streams.outbound.skip(frames);
    if (this.#isSending) this.#packetsDue += frames;
    this.#caller.fill(0);
    for (let n = 0; n < frames; n++) this.#engine?.sendCaller(this.#caller);
    this.#recording.writeSilence(frames);
  }

  #keepHouse(streams: RtpTransceiver, nowMs: number, frameStartMs: number): void {
    this.#path.tick(nowMs);
    streams.inbound.expire(nowMs);
    if (!streams.outbound.dtmf.isActive) this.#keyWaiters.allOut();
    this.#rtcp.tick(streams.reported, nowMs, frameStartMs);
    this.#watch.tick(nowMs);
  }

  #streamsFor(parameters: MediaParameters): RtpTransceiver {
    const format = findFormat(this.#deps.codecs, parameters.codec);
    const current = this.#streams;
    if (current?.codec.format === format) return current;
    const { randomUint32 } = this.#deps;
    const streams = openTransceiver({
      format,
      // The first wrap is far away: a receiver that joins late then still counts SRTP's rollovers as we do.
      start: {
        ssrc: randomUint32(),
        sequenceNumber: randomUint32() & 0x7fff,
        timestamp: randomUint32(),
      },
      send: (packet) => this.#path.send(packet),
      onDigit: (digit, durationMs) => this.takeKey({ digit, durationMs }, 'audio'),
    });
    if (current !== undefined) this.#retireStreams(current);
    this.#caller = new Int16Array(frameLength(streams.sampleRateHz));
    this.#agent = new Int16Array(frameLength(streams.sampleRateHz));
    this.#recording.changeRate(streams.sampleRateHz);
    this.#neighbour?.changeRate(streams.sampleRateHz);
    if (this.#engine === undefined) this.#engine = this.#openEngineSide(streams.sampleRateHz);
    else this.#engine.changeRate(streams.sampleRateHz);
    this.#streams = streams;
    return streams;
  }

  #retireStreams(streams: RtpTransceiver): void {
    this.#past = addTraffic(this.#past, streams);
    this.#keyWaiters.interrupt('the call went on with another codec');
    streams.codec.close();
  }

  #openEngineSide(codecRateHz: SampleRateHz): AgentStream {
    const { connectStream, clock } = this.#deps;
    const nowMs = () => clock.monotonicMs();
    return new AgentStream({ codecRateHz, connectStream, emit: this.#announce, nowMs });
  }

  get #isSending(): boolean {
    const direction = this.#parameters?.direction;
    return direction === 'sendrecv' || direction === 'sendonly';
  }

  #requireOpen(): void {
    if (this.#closed !== undefined) throw new CallwayError('conflict', 'call_ended', 'the call has ended');
  }

  #requireStreams(): RtpTransceiver {
    this.#requireOpen();
    if (this.#streams !== undefined) return this.#streams;
    throw new CallwayError('conflict', 'media_not_connected', 'the call’s audio is not connected yet');
  }

  async #finish(): Promise<MediaReport> {
    const streams = this.#streams;
    this.#keyWaiters.interrupt('the call has ended');
    this.#settleBeside(undefined);
    await this.#engine?.close();
    const recording = await this.#recording.close();
    if (streams !== undefined) this.#rtcp.leave(streams.reported, this.#deps.clock.monotonicMs());
    await this.#path.close();
    const report = {
      packetsSent: this.#past.sent + (streams?.outbound.packetizer.packetsSent ?? 0),
      counters: countersOf({
        packetsDue: this.#packetsDue,
        path: this.#path,
        rtcp: this.#rtcp,
        engine: this.#engine,
      }),
      ...(recording === undefined ? {} : { recording }),
    };
    if (streams === undefined) return report;
    const figures = figuresOf(streams, this.#past, this.#rtcp.roundTripMs);
    this.#streams = undefined;
    streams.codec.close();
    return { ...report, quality: figures };
  }
}
