import type { Emitter } from '../base/emitter.ts';
import type { CallCommand, StreamEnd, StreamTarget, TransferStatus } from './agentStream/streamClient.ts';
import type { MediaQuality } from './quality/mediaQuality.ts';
import type { CryptoAttribute } from './srtp/cryptoAttribute.ts';

/** All audio of this node's calls; the work is done in threads of its own. */
export interface MediaEngine {
  /**
   * Reserves an RTP and an RTCP port for one call, on the thread with the least to do.
   *
   * @throws {CallwayError} 503 `media_ports_exhausted` when every port is taken, `media_unavailable` when no thread runs.
   */
  open(request: OpenMedia): Promise<MediaSession>;
  /** Sessions that are open now. */
  readonly sessions: number;
  /** Idempotent; ends what is still open. */
  close(): Promise<void>;
}

export interface OpenMedia {
  readonly callId: string;
  /** Silence of the peer after which `mediaTimeout` is announced; 0 is never. Not counted while the call is held. */
  readonly timeoutMs: number;
  /** A call that this one is to be joined with: both are on one thread then. */
  readonly sameThreadAs?: MediaSession;
}

/** One call's audio, from the reservation of its port to its last packet. */
export interface MediaSession {
  /** What the peer is told in SDP: an IP address of this machine, or the public one. */
  readonly address: string;
  /** Even; RTCP is the port above it. */
  readonly rtpPort: number;
  readonly events: Pick<Emitter<MediaEvents>, 'on'>;
  /** Begins to exchange audio, or goes on by new parameters after an offer and answer. */
  connect(parameters: MediaParameters): Promise<void>;
  /**
   * Opens the WebSocket to the engine; audio flows from then on.
   *
   * @throws {CallwayError} 503 `engine_unavailable` when the socket does not open in time.
   */
  startStream(target: StreamTarget): Promise<void>;
  /**
   * Says what the last engine has left for the case that it is gone for good. Resolves when it is out, and at once where
   * nothing was left; while the call is held it waits.
   */
  playApology(): Promise<void>;
  /** Takes leave of the engine for good; `streamClosed` is not announced. */
  stopStream(): Promise<void>;
  /** Tells the engine how a transfer of the call goes. */
  sendTransferStatus(progress: TransferStatus): Promise<void>;
  /** The peer hears a phone ring where the engine says nothing. */
  startRingback(): Promise<void>;
  /**
   * Both peers hear each other from now on, and each other's keys, whatever their codecs; what is left of an engine's
   * words comes first.
   *
   * @param other - Opened `beside` this one. @throws {CallwayError} `media_not_connected`, `media_elsewhere`.
   */
  bridge(other: MediaSession): Promise<void>;
  /** Neither ringing nor another call is heard any more. */
  unbridge(): Promise<void>;
  /** Writes both sides to a file from now on. @throws {CallwayError} `recording_failed` when it cannot be made. */
  startRecording(request: { readonly path: string }): Promise<void>;
  /** Sends digits of `0-9*#A-D` as RFC 4733 events, after those that are still being sent; resolves when all are out. */
  sendDtmf(digits: string): Promise<void>;
  /** A key of the peer that came by signalling. A peer that sends its keys both ways is heard the way it used first. */
  receiveDtmf(key: DtmfDigit): Promise<void>;
  /** Figures so far. */
  quality(): Promise<MediaQuality>;
  /** Closes bridge, recording and sockets, in this order. Idempotent: the same report each time. */
  close(): Promise<MediaReport>;
}

export interface DtmfDigit {
  /** One of `0-9*#A-D`. */
  readonly digit: string;
  readonly durationMs: number;
}

/** What an offer and answer came to. */
export interface MediaParameters {
  readonly remote: { readonly address: string; readonly port: number; readonly rtcpPort: number };
  readonly codec: NegotiatedCodec;
  /** Undefined where the peer takes no RFC 4733 events. */
  readonly dtmfPayloadType?: number;
  readonly comfortNoisePayloadType?: number;
  /** Audio in one packet that we send. */
  readonly packetDurationMs: 20;
  /** From our side: `recvonly` and `inactive` send nothing but silence is never counted against a peer on hold. */
  readonly direction: MediaDirection;
  /** Keys of both directions; absent for plain RTP. */
  readonly srtp?: { readonly local: CryptoAttribute; readonly remote: CryptoAttribute };
}

export type MediaDirection = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

export interface NegotiatedCodec {
  /** As in `a=rtpmap`: `PCMU`, `PCMA`, `G722`, `opus`, `L16`. */
  readonly encodingName: string;
  readonly rtpClockRateHz: number;
  readonly channels: number;
  /** 0..127, the same both ways. */
  readonly payloadType: number;
}

export interface MediaEvents {
  /** The first valid packet of the peer; ms since the Unix epoch, fractions allowed, as all `atMs` here. */
  readonly firstPacket: { readonly atMs: number };
  /** The first packet that carries audio of the engine. */
  readonly firstAgentAudio: { readonly atMs: number };
  readonly dtmf: DtmfDigit;
  /** The peer sent no RTP at all for the session's timeout. */
  readonly mediaTimeout: { readonly forMs: number };
  readonly command: CallCommand;
  /**
   * The engine's socket is gone: `stopped` by the engine's own wish (a close with code 1000 or none), `broken` otherwise.
   * The session lives on, and a bridge can be started anew.
   */
  readonly streamClosed: StreamEnd;
  /** Once; the call goes on without. */
  readonly recordingFailed: { readonly reason: string };
  /** The thread died; nothing more comes, and the call has no audio any more. */
  readonly lost: { readonly reason: string };
}

/** Emits an event of the call's audio; typed by the event's name. */
export type EmitMediaEvent = <Name extends keyof MediaEvents>(name: Name, value: MediaEvents[Name]) => void;

export interface MediaReport {
  /** Absent when the session was never connected. */
  readonly quality?: MediaQuality;
  readonly packetsSent: number;
  /** Absent when the thread died. */
  readonly counters?: MediaCounters;
  readonly recording?: RecordingReport;
}

/** What was not taken, and what did not get through; for the operator's log. */
export interface MediaCounters {
  readonly packetsDue: number;
  readonly malformedPackets: number;
  /** SRTP that was not made with the agreed key, or was replayed. */
  readonly unauthenticPackets: number;
  readonly unknownPayloadTypes: number;
  /** From somewhere else than the peer. */
  readonly foreignSourcePackets: number;
  readonly floodedPackets: number;
  readonly malformedRtcpPackets: number;
  readonly socketFailures: number;
  /** Of the caller, to an engine that was too slow. */
  readonly callerFramesDropped: number;
  /** Of the engine, beyond what may wait. */
  readonly agentSamplesDropped: number;
  /** Holes in the engine's speech, since it came more slowly than it sounds; silence was sent meanwhile. */
  readonly playoutUnderruns: number;
}

export interface RecordingReport {
  readonly path: string;
  readonly durationMs: number;
  readonly lengthBytes: number;
  /** Set when it could not be written to its end; what is in the file is valid. */
  readonly error?: string;
}
