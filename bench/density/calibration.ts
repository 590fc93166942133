import { createHash } from 'node:crypto';
import { availableParallelism, cpus, loadavg } from 'node:os';

import { pcmu } from '../../src/media/codecs/g711.ts';
import { voiced } from '../../test/media/support/signals.ts';

const MEASURE_MS = 1_000;
const FRAME_SAMPLES = 160;
const BLOCK_BYTES = 65_536;

/** What one core of this machine does, so that figures of two machines can be compared. */
export interface Calibration {
  readonly model: string;
  readonly cores: number;
  /** Of the last minute, before the measurement: near 0 on a quiet machine. */
  readonly load: number;
  /** Frames of 20 ms that are encoded and decoded in a second, in JavaScript: what a call's audio costs. */
  readonly framesPerSecond: number;
  /** SHA-256 over 64 KiB: native code and memory. */
  readonly hashesPerSecond: number;
}

export function calibrate(): Calibration {
  const [codec, samples] = [pcmu.open(), voiced(8000, FRAME_SAMPLES)];
  const [encoded, decoded] = [new Uint8Array(FRAME_SAMPLES), new Int16Array(FRAME_SAMPLES)];
  const block = Buffer.alloc(BLOCK_BYTES, 1);
  const load = loadavg()[0] ?? 0;
  return {
    model: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    load,
    framesPerSecond: ratePerSecond(() => {
      codec.encode(samples, encoded);
      codec.decode(encoded, decoded);
    }),
    hashesPerSecond: ratePerSecond(() => createHash('sha256').update(block).digest()),
  };
}

function ratePerSecond(work: () => void): number {
  // Compiled first.
  for (let n = 0; n < 1_000; n++) work();
  const startMs = performance.now();
  let done = 0;
  for (; performance.now() - startMs < MEASURE_MS; done++) work();
  return Math.round((1_000 * done) / (performance.now() - startMs));
}
