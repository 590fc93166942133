import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Codes of libopus' control functions. @see opus_defines.h */
const CONTROL = {
  bitrate: 4002,
  complexity: 4010,
  inbandFec: 4012,
  packetLossPercent: 4014,
  signal: 4024,
} as const;
const APPLICATION_VOIP = 2048;
const SIGNAL_VOICE = 3001;

/**
 * Six frames of 20 ms with 1275 bytes, and their lengths of two bytes after two of a header.
 *
 * @see RFC 6716 section 3.4
 */
const MAX_PACKET_BYTES = 6 * (1275 + 2) + 2;
/** 120 ms at 48 kHz, mono. */
const MAX_SAMPLES = 5760;

export interface OpusSettings {
  readonly sampleRateHz: 8000 | 12_000 | 16_000 | 24_000 | 48_000;
  readonly bitrateBitsPerSecond: number;
  /** 0 to 10: better quality takes more time. */
  readonly complexity: number;
  /** Loss that the encoder's forward error correction is made for; 0 is none. */
  readonly expectedLossPercent: number;
}

/** The state of one direction in the library's memory. */
interface OpusHandle {
  readonly pointer: number;
}

/**
 * libopus as WebAssembly, one instance per thread. All streams share its two transfer areas, so that a packet costs two
 * copies and no allocation.
 */
export interface OpusLibrary {
  createEncoder(settings: OpusSettings): OpusHandle;
  createDecoder(settings: OpusSettings): OpusHandle;
  free(handle: OpusHandle): void;
  /** @returns Bytes written; negative for an unsupported length. */
  encode(encoder: OpusHandle, samples: Int16Array, out: Uint8Array): number;
  /** @returns Samples written; negative for an invalid packet, or one longer than `out`. */
  decode(decoder: OpusHandle, payload: Uint8Array, out: Int16Array): number;
  /**
   * Recovers a lost packet from the one after it, or conceals it.
   *
   * @param out - Exactly as long as the lost packet. @returns Samples written, or negative.
   */
  recover(decoder: OpusHandle, nextPayload: Uint8Array, out: Int16Array): number;
  /** Fills `out` by libopus' packet loss concealment. @returns Samples written, or negative. */
  conceal(decoder: OpusHandle, out: Int16Array): number;
}

/** The functions used of the module; pointers and lengths are numbers. */
interface OpusExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  _initialize(): void;
  malloc(lengthBytes: number): number;
  free(pointer: number): void;
  opus_encoder_get_size(channels: number): number;
  opus_encoder_init(pointer: number, sampleRateHz: number, channels: number, application: number): number;
  opus_encoder_ctl_set(pointer: number, control: number, value: number): number;
  opus_encode(
    pointer: number,
    samples: number,
    sampleCount: number,
    out: number,
    outLengthBytes: number,
  ): number;
  opus_decoder_get_size(channels: number): number;
  opus_decoder_init(pointer: number, sampleRateHz: number, channels: number): number;
  opus_decode(
    pointer: number,
    payload: number,
    payloadLengthBytes: number,
    out: number,
    maxSamples: number,
    useFec: number,
  ): number;
}

/** The part of the global `WebAssembly` that is used, which the types of Node 20 lack. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: object };
}

/** The module's imports, which it does not need. */
const doNothing = () => 0;
const IMPORTS = {
  wasi_snapshot_preview1: {
    fd_seek: doNothing,
    fd_write: doNothing,
    fd_close: doNothing,
    proc_exit: doNothing,
  },
  env: { emscripten_notify_memory_growth: doNothing },
};

/**
 * Compiles the WebAssembly build of the package `@evan/opus`, in some 20 ms. Its native build has one output buffer for
 * the whole process, which threads would share.
 *
 * @throws {Error} When the package's file is missing or does not compile.
 */
export function loadOpusLibrary(): OpusLibrary {
  const path = createRequire(import.meta.url).resolve('@evan/opus/wasm/simd.wasm');
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
  const opus = new Instance(new Module(readFileSync(path)), IMPORTS).exports as OpusExports;
  opus._initialize();
  const packetAt = opus.malloc(MAX_PACKET_BYTES);
  const samplesAt = opus.malloc(2 * MAX_SAMPLES);
  // Growing the memory detaches earlier views of it.
  let views = makeViews(opus.memory.buffer, packetAt, samplesAt);
  const currentViews = () => {
    if (views.buffer !== opus.memory.buffer) views = makeViews(opus.memory.buffer, packetAt, samplesAt);
    return views;
  };
  const copyOut = (count: number, out: Int16Array) => {
    const { samples } = currentViews();
    for (let i = 0; i < count; i++) out[i] = samples[i] ?? 0;
    return count;
  };

  const decode = ({ pointer }: OpusHandle, payload: Uint8Array, out: Int16Array, useFec: 0 | 1): number => {
    if (payload.length > MAX_PACKET_BYTES) return -1;
    currentViews().packet.set(payload);
    const limit = Math.min(out.length, MAX_SAMPLES);
    return copyOut(opus.opus_decode(pointer, packetAt, payload.length, samplesAt, limit, useFec), out);
  };

  return {
    createEncoder: (settings) => createEncoder(opus, settings),
    createDecoder: (settings) => createDecoder(opus, settings),
    free: ({ pointer }) => opus.free(pointer),
    encode({ pointer }, samples, out) {
      if (samples.length > MAX_SAMPLES) return -1;
      currentViews().samples.set(samples);
      const limit = Math.min(out.length, MAX_PACKET_BYTES);
      const length = opus.opus_encode(pointer, samplesAt, samples.length, packetAt, limit);
      const { packet } = currentViews();
      for (let i = 0; i < length; i++) out[i] = packet[i] ?? 0;
      return length;
    },
    decode: (decoder, payload, out) => decode(decoder, payload, out, 0),
    recover: (decoder, nextPayload, out) => decode(decoder, nextPayload, out, 1),
    conceal({ pointer }, out) {
      return copyOut(opus.opus_decode(pointer, 0, 0, samplesAt, Math.min(out.length, MAX_SAMPLES), 0), out);
    },
  };
}

function makeViews(buffer: ArrayBuffer, packetAt: number, samplesAt: number) {
  return {
    buffer,
    packet: new Uint8Array(buffer, packetAt, MAX_PACKET_BYTES),
    samples: new Int16Array(buffer, samplesAt, MAX_SAMPLES),
  };
}

function createEncoder(opus: OpusExports, settings: OpusSettings): OpusHandle {
  const pointer = opus.malloc(opus.opus_encoder_get_size(1));
  requireSuccess(opus.opus_encoder_init(pointer, settings.sampleRateHz, 1, APPLICATION_VOIP));
  const controls: readonly (readonly [number, number])[] = [
    [CONTROL.bitrate, settings.bitrateBitsPerSecond],
    [CONTROL.complexity, settings.complexity],
    [CONTROL.signal, SIGNAL_VOICE],
    [CONTROL.inbandFec, settings.expectedLossPercent > 0 ? 1 : 0],
    [CONTROL.packetLossPercent, settings.expectedLossPercent],
  ];
  for (const [control, value] of controls) requireSuccess(opus.opus_encoder_ctl_set(pointer, control, value));
  return { pointer };
}

function createDecoder(opus: OpusExports, settings: OpusSettings): OpusHandle {
  const pointer = opus.malloc(opus.opus_decoder_get_size(1));
  requireSuccess(opus.opus_decoder_init(pointer, settings.sampleRateHz, 1));
  return { pointer };
}

function requireSuccess(code: number): void {
  if (code < 0) throw new RangeError(`libopus rejects these settings: error ${code}`);
}
