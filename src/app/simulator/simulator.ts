import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';

import { systemClock } from '../../base/clock.ts';
import { uuidV7 } from '../../base/ids.ts';
import { startThread } from '../../base/thread.ts';
import { type Trunk, trunkInput } from '../../calls/trunks/trunk.ts';
import { startMediaEngine } from '../../media/engine/mediaEngine.ts';
import { createLocalTextToSpeech } from '../../providers/local/textToSpeech.ts';
import { createWebrtcVad } from '../../providers/vad/webrtc.ts';
import type { Impairment } from '../../testing/simulator/impairment.ts';
import type { SimulatedCallerEvent } from '../../testing/simulator/simulatedCaller.ts';
import { SimulatedPhones } from '../../testing/simulator/simulatedPhones.ts';
import { Lifecycle } from '../lifecycle.ts';
import { openSipServer } from '../media/sipServer.ts';
import { buildTelephony } from '../media/telephony.ts';
import { loadConfig } from '../settings/config.ts';
import { openSimulatorAudio } from './simulatorAudio.ts';
import type { SimulatorThreadData } from './simulatorThread.ts';

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

const LOOPBACK = '127.0.0.1';
/** Different from the default settings, so that a gateway on this machine finds its ports free. */
const AUDIO_PORTS = { min: 20_000, max: 29_999 };
/** Accepts all peers on this machine without registration. */
const ANY_PEER: Trunk = {
  ...trunkInput.parse({
    name: 'Everybody',
    host: LOOPBACK,
    optionsIntervalSeconds: 0,
    inboundCidrs: ['127.0.0.1/32'],
  }),
  id: '00000000-0000-7000-8000-000000000001',
  projectId: '00000000-0000-7000-8000-000000000002',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};

/**
 * Starts a carrier on free ports: a SIP server, one media thread and simulated callers. Needs no database and no
 * Redis.
 */
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
  const clock = systemClock;
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);

  const speech = createLocalTextToSpeech({ threads: 1, ...(voice === undefined ? {} : { voice }) });
  lifecycle.onClose(() => speech.close());
  const audio = await openSimulatorAudio({ clock, makeId: randomUUID, onError });
  lifecycle.onClose(() => audio.close());
  const media = await startMediaEngine({
    clock,
    startThread: (data) => {
      const impairment = options.impairment && { ...options.impairment, seed };
      const workerData: SimulatorThreadData = { ...data, impairment };
      return startThread(new URL('./simulatorThread.ts', import.meta.url), { workerData, name: 'phones' });
    },
    threads: 1,
    ports: AUDIO_PORTS,
    address: LOOPBACK,
    publicAddress: LOOPBACK,
    onFault: ({ kind, reason }) => onError(new Error(reason), `simulated phones: ${kind}`),
  });
  lifecycle.onClose(() => media.close());
  const config = loadConfig({ SIP_HOST: LOOPBACK, SIP_PORT: '0', MEDIA_TIMEOUT_SECONDS: '0' });
  const telephony = await buildTelephony({
    config,
    server: await openSipServer({ config, logger }, lifecycle),
    media,
    ...singleNode,
    clock,
    logger,
  });
  lifecycle.onClose(() => telephony.close());
  const { sipPort } = telephony;
  if (sipPort === undefined) throw new Error('the carrier has no embedded SIP server');
  await telephony.untilConnected();

  const phones = new SimulatedPhones({
    telephony: telephony.telephony,
    connectAudio: audio.connect,
    speech,
    activity: await createWebrtcVad(),
    seed,
    clock,
    makeId: uuidV7,
    ...(options.onEvent ? { onEvent: options.onEvent } : {}),
    onError,
  });
  lifecycle.onClose(() => phones.close());

  return {
    phones,
    sipPort,
    close: () => lifecycle.close(),
  };
}

/** Single-node implementations of what telephony shares between nodes. */
const singleNode = {
  dialogs: { save: async () => undefined, remove: async () => undefined, takeLost: async () => [] },
  trunks: { active: async () => [ANY_PEER] },
  numbers: { findHolder: async () => undefined },
  traceSink: { append: async () => undefined },
  leases: { hold: async () => true, release: async () => undefined },
  board: { publish: async () => undefined },
  bus: { subscribe: () => () => undefined },
};

/** The trunk from a simulated caller to a gateway on this machine. */
export function trunkTo(sipPort: number): Trunk {
  return { ...ANY_PEER, name: 'To the peer', port: sipPort };
}
