import { onTestFinished } from 'vitest';
import type {
  AgentMessage,
  AgentMessages,
  ConnectStream,
  MarkReport,
  PlayoutPosition,
  StreamClient,
  StreamHandler,
  StreamTarget,
} from '../../../src/media/agentStream/streamClient.ts';
import type { Codec } from '../../../src/media/codecs/codec.ts';
import { type CodecRegistry, createCodecRegistry } from '../../../src/media/codecs/registry.ts';
import type { MediaParameters, NegotiatedCodec } from '../../../src/media/mediaSession.ts';
import { openRecordingFile } from '../../../src/media/recording/recordingFile.ts';
import type { SampleRateHz } from '../../../src/media/resample/resampler.ts';
import { RtpPacketView, writeRtpHeader } from '../../../src/media/rtp/packet.ts';
import { type CallAudio, openCallAudio } from '../../../src/media/session/callAudio.ts';
import type { AdvanceTicks } from '../../../src/media/session/tickAlignment.ts';
import type { SupervisorGate } from '../../../src/media/supervision/supervisorStream.ts';
import type { PacketIo, PacketListener, PacketSocket } from '../../../src/media/transport/packetIo.ts';
import type { MediaAddress } from '../../../src/media/transport/sourceLatch.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';

export const TARGET: StreamTarget = {
  url: 'ws://agent.test/',
  dialect: 'callway',
  streamId: 's',
  callId: 'c',
  customParameters: {},
  canReconnect: false,
};

export const PEER: MediaAddress = { address: '192.0.2.7', port: 4000 };

export const CODECS = {
  PCMU: { encodingName: 'PCMU', rtpClockRateHz: 8000, channels: 1, payloadType: 0 },
  PCMA: { encodingName: 'PCMA', rtpClockRateHz: 8000, channels: 1, payloadType: 8 },
  G722: { encodingName: 'G722', rtpClockRateHz: 8000, channels: 1, payloadType: 9 },
  opus: { encodingName: 'opus', rtpClockRateHz: 48_000, channels: 2, payloadType: 111 },
  L16: { encodingName: 'L16', rtpClockRateHz: 24_000, channels: 1, payloadType: 97 },
} as const satisfies Record<string, NegotiatedCodec>;

export const EVENTS: NegotiatedCodec = {
  encodingName: 'telephone-event',
  rtpClockRateHz: 8000,
  channels: 1,
  payloadType: 101,
};

/** Shared, since compiling Opus takes a while. */
const codecs: CodecRegistry = createCodecRegistry();

export class FakeSocket implements PacketSocket {
  readonly port: number;
  failures = 0;
  isClosed = false;
  filter: MediaAddress | undefined;
  readonly sent: { readonly bytes: Uint8Array; readonly to: MediaAddress }[] = [];
  #listener: PacketListener = () => {};

  constructor(port: number) {
    this.port = port;
  }
  listen(listener: PacketListener): void {
    this.#listener = listener;
  }
  send(bytes: Uint8Array, to: MediaAddress): void {
    this.sent.push({ bytes: bytes.slice(), to });
  }
  only(source: MediaAddress | undefined): void {
    this.filter = source;
  }
  async close(): Promise<void> {
    this.isClosed = true;
  }
  deliver(bytes: Uint8Array, from: MediaAddress = PEER): void {
    this.#listener(bytes.slice(), from.address, from.port);
  }
}

/** An agent's stream: records the messages to the agent, and gives access to the handler of the agent's messages. */
export class FakeStreamClient implements StreamClient {
  readonly sampleRateHz: SampleRateHz;
  isBehind = false;
  handler: StreamHandler;
  closedWith: { readonly code: number; readonly reason: string } | undefined;
  readonly audio: number[] = [];
  readonly positions: number[] = [];
  readonly messages: (
    | { readonly mark: MarkReport }
    | { readonly cleared: PlayoutPosition }
    | { readonly isHeld: boolean }
    | { readonly digit: string; readonly durationMs: number }
    | { readonly told: AgentMessage }
  )[] = [];

  constructor(sampleRateHz: SampleRateHz, handler: StreamHandler) {
    this.sampleRateHz = sampleRateHz;
    this.handler = handler;
  }
  readonly toAgent: AgentMessages = {
    audio: (samples, position) => {
      this.positions.push(position);
      for (const sample of samples) this.audio.push(sample);
    },
    dtmf: (digit, durationMs) => this.messages.push({ digit, durationMs }),
    hold: (isHeld) => this.messages.push({ isHeld }),
    tell: (told) => this.messages.push({ told }),
    mark: (mark) => this.messages.push({ mark }),
    cleared: (cleared) => this.messages.push({ cleared }),
  };
  async close(code: number, reason: string): Promise<void> {
    this.closedWith ??= { code, reason };
  }
}

/** A peer: encodes packets of a codec and decodes those that come back. */
export class Phone {
  readonly codec: Codec;
  readonly payloadType: number;
  ssrc = 0x1234;
  sequenceNumber = 65_500;
  timestamp = 4_294_960_000;
  readonly #samples: Int16Array;
  #at = 0;

  /** @param samples - Sent in a loop, at the codec's rate. */
  constructor(codec: NegotiatedCodec, samples: Int16Array) {
    const format = codecs.find(codec);
    if (format === undefined) throw new Error('no such codec');
    this.codec = format.open();
    this.payloadType = codec.payloadType;
    this.#samples = samples;
  }
  /** The next 20 ms. */
  next(): Uint8Array {
    const { format } = this.codec;
    const length = format.sampleRateHz / 50;
    const payload = new Uint8Array(format.maxBytesPer20Ms);
    const frame = this.#samples.subarray(this.#at, this.#at + length);
    this.#at = (this.#at + length) % this.#samples.length;
    const packet = this.packet(this.payloadType, payload.subarray(0, this.codec.encode(frame, payload)));
    this.advance();
    return packet;
  }
  packet(payloadType: number, payload: Uint8Array, timestamp = this.timestamp): Uint8Array {
    const bytes = new Uint8Array(12 + payload.length);
    const { sequenceNumber, ssrc } = this;
    writeRtpHeader(bytes, { payloadType, marker: false, sequenceNumber, timestamp, ssrc });
    bytes.set(payload, 12);
    this.sequenceNumber = (this.sequenceNumber + 1) & 0xffff;
    return bytes;
  }
  advance(): void {
    this.timestamp = (this.timestamp + this.codec.format.rtpClockRateHz / 50) % 2 ** 32;
  }
  /** Decodes packets in their order. */
  hear(packets: readonly { readonly bytes: Uint8Array }[]): Int16Array {
    const out: number[] = [];
    const frame = new Int16Array(this.codec.format.sampleRateHz / 50);
    for (const { bytes } of packets) {
      const view = read(bytes);
      if (view.payloadType !== this.payloadType) continue;
      out.push(...frame.subarray(0, this.codec.decode(view.payload(), frame)));
    }
    return Int16Array.from(out);
  }
}

export function read(bytes: Uint8Array): RtpPacketView {
  const view = new RtpPacketView();
  const defect = view.read(bytes);
  if (defect !== undefined) throw new Error(`not RTP: ${defect}`);
  return view;
}

export interface CallHarness {
  readonly audio: CallAudio;
  readonly clock: SimulatedClock;
  readonly rtp: FakeSocket;
  readonly rtcp: FakeSocket;
  readonly clients: FakeStreamClient[];
  readonly events: { readonly name: string; readonly value: unknown }[];
  /** The values of the events with this name. */
  valuesOf(name: string): unknown[];
  connect(parameters?: Partial<MediaParameters>): void;
  startStream(target?: Partial<StreamTarget>): Promise<FakeStreamClient>;
  /** Advances the clock tick by tick, with a call of `before` before each. */
  ticks(count: number, before?: (index: number) => void): void;
}

/** Call audio with simulated sockets, agent and clock. */
export async function openCall(
  options: {
    timeoutMs?: number;
    connectStream?: ConnectStream;
    supervisorGate?: SupervisorGate;
    advanceTicks?: AdvanceTicks;
  } = {},
): Promise<CallHarness> {
  const clock = createSimulatedClock();
  clock.advance(1000);
  const sockets: FakeSocket[] = [];
  const packetIo: PacketIo = {
    bind: async ({ port }) => {
      const socket = new FakeSocket(port);
      sockets.push(socket);
      return socket;
    },
  };
  const clients: FakeStreamClient[] = [];
  const connectStream: ConnectStream = async ({ target, sampleRateHz }, handler) => {
    const client = new FakeStreamClient(target.dialect === 'twilio' ? 8000 : sampleRateHz, handler);
    clients.push(client);
    return client;
  };
  const events: CallHarness['events'] = [];
  let randoms = 0;
  const audio = await openCallAudio(
    {
      clock,
      packetIo,
      codecs,
      openRecordingFile,
      connectStream: options.connectStream ?? connectStream,
      supervisorGate: options.supervisorGate,
      randomUint32: () => (++randoms * 2_654_435_761) % 2 ** 32,
    },
    {
      address: '127.0.0.1',
      rtpPort: 30_000,
      timeoutMs: options.timeoutMs ?? 0,
      advanceTicks: options.advanceTicks ?? (() => 0),
      emit: (name, value) => events.push({ name, value }),
    },
  );
  onTestFinished(async () => void (await audio.close()));
  const [rtp, rtcp] = sockets;
  if (rtp === undefined || rtcp === undefined) throw new Error('two sockets were expected');
  return {
    audio,
    clock,
    rtp,
    rtcp,
    clients,
    events,
    valuesOf: (name) => events.filter((event) => event.name === name).map(({ value }) => value),
    connect: (parameters) =>
      audio.connect({
        remote: { address: PEER.address, port: PEER.port, rtcpPort: PEER.port + 1 },
        codec: CODECS.PCMU,
        dtmf: EVENTS,
        received: [parameters?.codec ?? CODECS.PCMU, EVENTS],
        packetDurationMs: 20,
        direction: 'sendrecv',
        ...parameters,
      }),
    async startStream(target) {
      await audio.startStream({ ...TARGET, ...target });
      const client = clients.at(-1);
      if (client === undefined) throw new Error('no stream was connected');
      return client;
    },
    ticks(count, before = () => {}) {
      for (let index = 0; index < count; index++) {
        before(index);
        clock.advance(20);
        audio.tick({ deadlineMs: clock.monotonicMs(), lateMs: 0, skippedTicks: 0 });
      }
    },
  };
}

/** Call audio that is connected to its peer. */
export async function connectedCall(parameters?: Partial<MediaParameters>): Promise<CallHarness> {
  const call = await openCall();
  call.connect(parameters);
  return call;
}

/** Call audio between its peer and an agent, whose end of the stream is `link`. */
export async function agentCall(parameters?: Partial<MediaParameters>, target?: Partial<StreamTarget>) {
  const call = await connectedCall(parameters);
  return { call, link: await call.startStream(target) };
}
