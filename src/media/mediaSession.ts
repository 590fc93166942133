import type { EventSource } from '../base/emitter.ts';
import type { AgentMessage, CallCommand, StreamEnd, StreamTarget } from './agentStream/streamClient.ts';
import type { Participation } from './conference/participant.ts';
import type { MediaQuality } from './mediaQuality.ts';
import type { MediaSample } from './mediaSamples.ts';
import type { MusicSource } from './session/holdMusic.ts';
import type { CryptoAttribute } from './srtp/cryptoAttribute.ts';
import type {
  SupervisorAddress,
  SupervisorChange,
  SupervisorRequest,
} from './supervision/supervisorStream.ts';
import type { Impairment } from './transport/packetIo.ts';
import type { Latching } from './transport/sourceLatch.ts';

/** The audio of this node's calls, processed in media threads. */
export interface MediaEngine {
  /**
   * Reserves an RTP and an RTCP port for a call, on the least busy thread.
   *
   * @throws {CallwayError} 503 `media_ports_exhausted` when every port is taken, `media_unavailable` when no thread runs.
   */
  open(request: OpenMedia): Promise<MediaSession>;
  /** The number of open sessions. */
  readonly sessions: number;
  /** Closes all open sessions. Idempotent. */
  close(): Promise<void>;
}

export interface OpenMedia {
  readonly callId: string;
  /** Silence on the wire before `mediaTimeout`; 0 is never. Does not run while the call is held. */
  readonly timeoutMs: number;
  /** The latching of the peer's address. Default: {@link DEFAULT_LATCHING}. */
  readonly latching?: Latching | undefined;
  /** A call that this one may be bridged with. */
  readonly sameThreadAs?: MediaSession | undefined;
  /** The network impairment of sent RTP, for threads whose sockets simulate a network. */
  readonly impairment?: Impairment | undefined;
}

/** The audio of one call, from the reservation of its ports to its last packet. */
export interface MediaSession extends AudioCommands, PartyCommands {
  /** The address for the SDP: an IP address of this machine, or the public one. */
  readonly address: string;
  /** The RTP port, which is even. RTCP uses the port above it. */
  readonly rtpPort: number;
  readonly events: EventSource<MediaEvents>;
}

/** What a call's audio can be told. `CallAudio` implements it, in a media thread. */
export interface AudioCommands {
  /** Starts the audio, or changes it after another offer and answer. @throws {CallwayError} `codec_unsupported`. */
  connect(parameters: MediaParameters): Promise<void>;
  /**
   * Connects the call to an agent.
   *
   * @param messages - Sent to the agent before anything else. Default: none.
   * @throws {CallwayError} 503 `engine_unavailable` when the agent refuses or does not answer in time; 409
   *   `bridge_running` while another agent is connected.
   */
  startStream(target: StreamTarget, messages?: readonly AgentMessage[]): Promise<void>;
  /**
   * Asks the caller to hold until an agent is connected: by the last agent's failover prompt, then by soft tones.
   * Idempotent.
   */
  awaitAgent(): Promise<void>;
  /**
   * Plays the apology that the last agent has left for its own failure. Resolves at its end, or at once without one;
   * waits while the call is held.
   */
  playApology(): Promise<void>;
  /** Disconnects the agent for good, without `streamClosed`. */
  stopStream(): Promise<void>;
  /** Sends a message to the agent. It is lost while no agent is connected. */
  tellAgent(message: AgentMessage): Promise<void>;
  /**
   * Mutes the failover prompts and, unless the stream is internal, the agent: our own voice session obeys a pause by
   * itself, and says a supervisor's words meanwhile. Agents that replace this one are muted too.
   */
  muteAgent(isMuted: boolean): Promise<void>;
  /**
   * Lets a supervisor connect within half a minute. `supervisor` events tell when they do, and when they leave. Agents are
   * muted, and hear silence, while one has taken over.
   *
   * @param participant - The only listener of a whisper, who has joined this call. Default: the bridged call and all
   *   participants.
   * @throws {CallwayError} 409 `call_taken_over`, `too_many_supervisors`, `no_human_party` for a participant who has left;
   *   503 `supervision_unavailable`.
   */
  admitSupervisor(request: SupervisorRequest, participant?: MediaSession): Promise<SupervisorAddress>;
  /** Records both directions to a file. @throws {CallwayError} `recording_failed`, `recording_running`. */
  startRecording(request: { readonly path: string }): Promise<void>;
  /**
   * Pauses or resumes the recording. While paused, the file gets silence. It has no effect on a call that is not
   * recorded.
   */
  pauseRecording(isPaused: boolean): Promise<void>;
  /** Sends digits of `0-9*#A-D` as RFC 4733 events, after those that are still queued. Resolves when all are sent. */
  sendDtmf(digits: string): Promise<void>;
  /** Receives a digit by signalling. When a peer sends digits both ways, only the way of the first digit counts. */
  receiveDtmf(digit: DtmfDigit): Promise<void>;
  /** Returns the quality so far. */
  quality(): Promise<MediaQuality>;
  /** Closes the agent's stream, the recording and the sockets, in this order. Idempotent: the same report each time. */
  close(): Promise<MediaReport>;
}

/** What concerns those whom the caller hears beside the agent. `CallParties` implements it, in a media thread. */
export interface PartyCommands {
  /** Plays ringback tone while the agent is silent. */
  startRingback(): Promise<void>;
  /**
   * Bridges two calls: each hears the other's audio and gets its DTMF digits. An agent's queued audio is played first.
   *
   * @param other - The session to bridge, opened with `sameThreadAs` this one.
   * @throws {CallwayError} `media_not_connected`, `media_elsewhere`.
   */
  bridge(other: MediaSession): Promise<void>;
  /** Ends the bridge, the participation, or the ringback tone. */
  unbridge(): Promise<void>;
  /**
   * Makes this session a participant of a call: each person in it hears all others, and the agent hears all of them.
   *
   * @param call - The session that this one was opened with `sameThreadAs`.
   * @throws {CallwayError} `media_not_connected`, `media_elsewhere`.
   */
  join(call: MediaSession): Promise<void>;
  /** Changes the participation of a session that has joined a call. */
  setParticipation(participation: Participation): Promise<void>;
  /** Plays music while the agent is silent, in place of what a bridge or the ringback tone would be heard of. */
  startMusic(source: MusicSource): Promise<void>;
  stopMusic(): Promise<void>;
  /**
   * Records both directions of another session with this one's right channel, although this caller does not hear them,
   * until the two are bridged or one is closed.
   *
   * @param other - The session to record with, opened with `sameThreadAs` this one.
   * @throws {CallwayError} `media_not_connected`, `media_elsewhere`.
   */
  recordAside(other: MediaSession): Promise<void>;
}

export interface DtmfDigit {
  /** The digit, one of `0-9*#A-D`. */
  readonly digit: string;
  readonly durationMs: number;
}

/** The result of an offer and answer. */
export interface MediaParameters {
  readonly remote: {
    readonly address: string;
    readonly port: number;
    readonly rtcpPort: number;
    /** The host that the peer's signalling came from, where a NAT hides the address. Default: unknown. */
    readonly signallingHost?: string;
  };
  /** The codec of the packets that we send. */
  readonly codec: NegotiatedCodec;
  /** RFC 4733 events that we send; undefined when the peer takes none. */
  readonly dtmf: NegotiatedCodec | undefined;
  /** All formats that the peer may send: codecs, `telephone-event` and `CN`. The first one of a payload type counts. */
  readonly received: readonly NegotiatedCodec[];
  /** The duration of the packets that we send. */
  readonly packetDurationMs: 20;
  /** The direction from our side. We send no packets in `recvonly` and `inactive`. */
  readonly direction: MediaDirection;
  /** Keys of both directions; absent for plain RTP. */
  readonly srtp?: { readonly local: CryptoAttribute; readonly remote: CryptoAttribute };
}

export type MediaDirection = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

export interface NegotiatedCodec {
  /**
   * The name in `a=rtpmap`: `PCMU`, `PCMA`, `G722`, `opus` or `L16`; for received formats and DTMF also
   * `telephone-event` and `CN`.
   */
  readonly encodingName: string;
  readonly rtpClockRateHz: number;
  readonly channels: number;
  /** 0..127. The two directions may have different ones for the same codec. */
  readonly payloadType: number;
}

/** Each `atMs` is in ms since the Unix epoch, fractions allowed. */
export interface MediaEvents {
  /** The first valid packet of the peer. */
  readonly firstPacket: { readonly atMs: number };
  /** The first packet with the agent's speech was sent. */
  readonly firstAgentAudio: { readonly atMs: number };
  readonly dtmf: DtmfDigit;
  /** The peer has sent no RTP for the session's timeout. */
  readonly mediaTimeout: { readonly forMs: number };
  readonly command: CallCommand;
  /** The agent's connection is gone. The session lives on, and another agent can be connected. */
  readonly streamClosed: StreamEnd;
  /** Emitted once; the call continues unrecorded. */
  readonly recordingFailed: { readonly reason: string };
  readonly supervisor: SupervisorChange;
  /** The quality of the last seconds' received audio. */
  readonly sample: MediaSample;
  /** The media thread has died. The call has no audio from now on, and no further events. */
  readonly lost: { readonly reason: string };
}

/** Emits an event of the call's audio; typed by the event's name. */
export type EmitMediaEvent = <Name extends keyof MediaEvents>(name: Name, value: MediaEvents[Name]) => void;

export interface MediaReport {
  /** The quality; undefined when the session was never connected. */
  readonly quality?: MediaQuality;
  readonly packetsSent: number;
  /** The counters; undefined when the thread has exited. */
  readonly counters?: MediaCounters;
  readonly recording?: RecordingReport;
}

/** Packets and samples that were dropped, for the operator's log. */
export interface MediaCounters {
  /** Packets that the clock called for. */
  readonly packetsDue: number;
  readonly malformedPackets: number;
  /** Packets and frames whose handling threw. */
  readonly failedPackets: number;
  /** SRTP with another key, or replayed. */
  readonly unauthenticPackets: number;
  readonly unknownPayloadTypes: number;
  /** The packets from a source other than the latched one. */
  readonly foreignSourcePackets: number;
  readonly floodedPackets: number;
  readonly malformedRtcpPackets: number;
  readonly socketFailures: number;
  /** Frames that the caller sent and the agent did not get: its connection was broken, or too slow. */
  readonly callerFramesDropped: number;
  /** The agent's samples beyond the playout queue's capacity. */
  readonly agentSamplesDropped: number;
  /** Gaps in the agent's speech because it arrived more slowly than it was played. */
  readonly playoutUnderruns: number;
}

export interface RecordingReport {
  readonly path: string;
  /** The time of the first sample, in ms since the Unix epoch; undefined when it is not known. */
  readonly startedAtMs?: number | undefined;
  readonly durationMs: number;
  readonly lengthBytes: number;
  /** The reason for which the recording is incomplete. The file is valid up to there. */
  readonly error?: string;
}
