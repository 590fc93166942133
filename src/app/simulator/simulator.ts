import type { Logger } from 'pino';

import { systemClock } from '../../base/values/clock.ts';
import { uuidV7 } from '../../base/values/ids.ts';
import type { Impairment } from '../../media/transport/packetIo.ts';
import type { SimulatedCallerEvent } from '../../testing/simulator/simulatedCaller.ts';
import { SimulatedPhones } from '../../testing/simulator/simulatedPhones.ts';
import { createWebrtcVad } from '../../vendors/fvad/webrtc.ts';
import { createLocalTextToSpeech } from '../../vendors/local/textToSpeech.ts';
import { Lifecycle } from '../lifecycle.ts';
import { startCarrier } from './carrier.ts';

export { trunkTo } from './carrier.ts';

export interface SimulatorOptions {
  /** Seed of noise and packet loss. */
  readonly seed?: number;
  /** Impairment between the carrier and its peers; none by default. */
  readonly impairment?: Omit<Impairment, 'seed'>;
  /** Voice of Flite: `rms` or `slt`. */
  readonly voice?: string;
  readonly logger: Logger;
  readonly onEvent?: (number: string, event: SimulatedCallerEvent) => void;
}

/** A simulated carrier with phones. */
export interface Simulator {
  readonly phones: SimulatedPhones;
  /** SIP port for UDP and TCP, on 127.0.0.1. */
  readonly sipPort: number;
  /** Hangs up and closes everything. Idempotent. */
  close(): Promise<void>;
}

/** Starts a carrier on free ports, with simulated callers. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const lifecycle = new Lifecycle((error) => options.logger.error({ err: error }, 'close failed'));
  try {
    return await build(options, lifecycle);
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

async function build(options: SimulatorOptions, lifecycle: Lifecycle): Promise<Simulator> {
  const { seed = 1, voice } = options;
  const logger = options.logger.child({ part: 'simulator' });
  const speech = createLocalTextToSpeech({ threads: 1, voice });
  lifecycle.onClose(() => speech.close());
  const impairment = options.impairment && { ...options.impairment, seed };
  const { telephony, connectAudio, sipPort } = await startCarrier({ impairment, logger }, lifecycle);
  const phones = new SimulatedPhones({
    telephony,
    connectAudio,
    speech,
    activity: await createWebrtcVad(),
    seed,
    clock: systemClock,
    makeId: uuidV7,
    onEvent: options.onEvent,
    onError: (error, what) => logger.warn({ err: error }, what),
  });
  lifecycle.onClose(() => phones.close());
  return { phones, sipPort, close: () => lifecycle.close() };
}
