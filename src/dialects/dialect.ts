import type {
  AgentControl,
  AgentMessageHandler,
  AgentMessages,
  CallCommand,
  Caption,
  FailoverPrompts,
  MarkReport,
  PeerRequest,
  PlayoutPosition,
  StreamRequest,
  TransferStatus,
} from '../media/agentStream/streamClient.ts';
import type { SampleRateHz } from '../media/resample/resampler.ts';

/** One message of the transport. A WebSocket has text and binary messages; a byte stream is cut into binary ones. */
export type StreamMessage = string | Uint8Array;

/**
 * A wire protocol for one call's audio between a media gateway, which has the caller, and an agent. A dialect is one file
 * and has two ends: `openServer` where a carrier's gateway connects to our agent, `openClient` where our gateway connects
 * to a user's agent. Each is opened once per connection and may keep state.
 *
 * A dialect knows messages only. Connecting, tickets, heartbeats, back pressure and close codes belong to the transport
 * and are the same for all dialects.
 */
export interface StreamDialect extends DialectFacts {
  /** Set where the gateway reports nothing of what it has played: what was heard is then estimated from the pacing. */
  readonly hasNoMarks?: true;
  /** What the gateway demands of a bot, for `callway stream-check`. Absent where it demands nothing more. */
  readonly botRules?: BotRules;
  openServer(connection: DialectConnection): DialectServer;
  /** Absent where only a carrier or a PBX starts such a stream. */
  openClient?(connection: DialectConnection, request: ClientRequest): DialectClient;
}

/** What a carrier or a PBX demands of a bot's messages, beyond that they can be read. */
export interface BotRules {
  /** @param streamId - The id of the stream. @returns What is wrong with a message; undefined when nothing is. */
  readonly problemOf?: (message: StreamMessage, streamId: string) => BotProblem | undefined;
  /** How much unplayed audio the carrier holds; more is lost. Default: no limit is documented. */
  readonly bufferMs?: number;
  /** The bot has no message that drops what was not played yet. */
  readonly hasNoClear?: true;
  /** The carrier returns a mark only when it was played. */
  readonly returnsPlayedMarksOnly?: true;
}

export type BotCheck = 'messages' | 'formats' | 'marks' | 'clear';

export interface BotProblem {
  readonly check: BotCheck;
  readonly detail: string;
}

/** What dialects of audio and of text turns have. */
export interface DialectFacts {
  /**
   * For the API documentation, in Markdown: what the dialect carries and how it differs from others. It follows the dialect's
   * name, so that it begins with a colon, or with a bracket before it.
   */
  readonly description: string;
  /** WebSocket subprotocols: all are accepted, the first is offered. Absent where the protocol has none. */
  readonly subprotocols?: readonly string[];
  /** Over TCP instead of a WebSocket: {@link DialectConnection} then carries whole messages of AudioSocket. */
  readonly isTcp?: true;
  /** The gateway signs its connections with the customer's token. @see twilioSignature */
  readonly isSignedByTwilio?: true;
  /** Its messages have what both sides say, so that it is told of it without being asked. */
  readonly hasCaptions?: true;
}

/** A dialect that calls can be connected to bots with. */
export interface ClientDialect extends StreamDialect {
  readonly openClient: NonNullable<StreamDialect['openClient']>;
}

/** The open connection, as a dialect uses it. */
export interface DialectConnection {
  /** Dropped when the connection is closed. The transport owns the bytes. */
  send(message: StreamMessage): void;
  /** Closes in order. */
  close(reason: string): void;
}

/** Our agent's end of a carrier's stream. */
export interface DialectServer {
  /** Whether the peer answers `clear` with a position; otherwise the position is estimated at once. */
  readonly confirmsClear: boolean;
  /** The carrier says no more than a normal close when its call ends; otherwise a close alone may be followed by a new stream. */
  readonly endsByClose?: boolean;
  /**
   * Looks for the description of the stream. Called with each message until it returns a start; all messages, this one
   * included, are then given to `read`. A start that the gateway wants answered is answered here.
   *
   * @returns Undefined while the message is not the start; a text with the reason for refusing the stream.
   */
  readStart(message: StreamMessage): StreamStart | string | undefined;
  read(message: StreamMessage, gateway: GatewayMessageHandler): void;
  /** @param samples - At the stream's rate. The dialect owns the array. */
  play(samples: Int16Array): void;
  mark(name: string): void;
  clear(): void;
  /**
   * A command without a message in the dialect is ignored; `hangup` then closes the connection. After a message the gateway
   * may close: the session does so 5 s later.
   */
  command(command: CallCommand): void;
  setFailoverPrompts?(prompts: FailoverPrompts): void;
  caption?(caption: Caption): void;
  /** The caller begins or ceases to speak. */
  callerSpeech?(isSpeaking: boolean, atMs: number): void;
  /**
   * Set where the peer sends audio only during speech: called for every 20 ms, for the dialect to send silence in its
   * place, since the caller's samples are the stream's clock.
   */
  fillSilence?(gateway: GatewayMessageHandler): void;
}

export interface StreamStart {
  readonly sampleRateHz: number;
  readonly customParameters: Readonly<Record<string, string>>;
}

/** Messages of the gateway, read. None throws. */
export interface GatewayMessageHandler {
  /** The caller's next samples, without gaps; valid during the call only. */
  audio(samples: Int16Array): void;
  dtmf(digit: string): void;
  /** @param report - The gateway's report; missing values are estimated. */
  mark(
    name: string,
    report?: { readonly outcome?: MarkReport['outcome']; readonly position?: PlayoutPosition },
  ): void;
  cleared(position: PlayoutPosition): void;
  hold(isHeld: boolean): void;
  transferStatus(status: TransferStatus): void;
  control(control: AgentControl): void;
  /** What a person at the peer asks for otherwise than by voice. */
  request(request: PeerRequest): void;
  /** The carrier's call has ended. */
  stopped(): void;
  /** Counts a message that cannot be read. */
  malformed(): void;
}

export interface ClientRequest extends Pick<StreamRequest, 'target' | 'sampleRateHz'> {
  /** The channels of the audio that the gateway sends, interleaved. Default: 1. */
  readonly channels?: number;
}

/**
 * Our gateway's end of a stream to an agent. Opening it sends what comes before the audio; where the agent answers that first,
 * audio is dropped until it has.
 */
export interface DialectClient extends AgentMessages {
  readonly sampleRateHz: SampleRateHz;
  /** Whether the agent closes the connection after `stop`; otherwise we do. What it sends after `stop` is not read. */
  readonly agentClosesAfterStop: boolean;
  read(message: StreamMessage, agent: AgentReader): void;
  /** Tells the agent that the call has ended. */
  stop(): void;
}

export interface AgentReader extends AgentMessageHandler {
  /** Counts a message that cannot be read. */
  malformed(): void;
}
