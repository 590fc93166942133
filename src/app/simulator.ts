import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';

import { systemClock } from '../base/clock.ts';
import { uuidV7 } from '../base/ids.ts';
import { startThread } from '../base/thread.ts';
import { type Trunk, trunkInput } from '../calls/trunks/trunk.ts';
import { startMediaEngine } from '../media/engine/mediaEngine.ts';
import { createLocalTextToSpeech } from '../providers/local/textToSpeech.ts';
import { createWebrtcVad } from '../providers/vad/webrtc.ts';
import type { Impairment } from '../testing/simulator/impairment.ts';
import type { SimulatedCallerEvent } from '../testing/simulator/simulatedCaller.ts';
import { createSimulatedPhones, type SimulatedPhones } from '../testing/simulator/simulatedPhones.ts';
import { loadConfig } from './settings/config.ts';
import { openSimulatorAudio } from './simulatorAudio.ts';
import type { SimulatorThreadData } from './simulatorThread.ts';
import { openSipServer } from './sipServer.ts';
import { buildTelephony } from './telephony.ts';

export interface SimulatorOptions {
  /** The same seed makes the same noises, and loses the same packets. */
  readonly seed?: number;
  /** Of the line between the carrier and whoever calls over it; none by default. */
  readonly impairment?: Omit<Impairment, 'seed'>;
  /** Flite's: `rms` or `slt`. */
  readonly voice?: string;
  readonly logger: Logger;
  readonly onEvent?: (number: string, event: SimulatedCallerEvent) => void;
}

/** A carrier on this machine, and the phones that it serves. */
export interface Simulator {
  readonly phones: SimulatedPhones;
  /** Where the carrier takes calls: UDP and TCP, on 127.0.0.1. */
  readonly sipPort: number;
  /** Hangs up, and closes everything. Idempotent. */
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
/** Apart from those of the settings, so that a gateway beside it finds all of its own free. */
const AUDIO_PORTS = { min: 20_000, max: 29_999 };
/** Who is served: everybody on this machine, who calls without having registered. */
const EVERYBODY: Trunk = {
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
 * Starts a carrier on free ports: its own SIP server, one thread for audio, and people who speak by rule. It needs
 * neither database nor Redis.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const closers: (() => Promise<void>)[] = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    return await build(options, closers, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function build(
  options: SimulatorOptions,
  closers: (() => Promise<void>)[],
  closeAll: () => Promise<void>,
): Promise<Simulator> {
  const { seed = 1, voice } = options;
  const logger = options.logger.child({ part: 'simulator' });
  const clock = systemClock;
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);

  const speech = createLocalTextToSpeech({ threads: 1, ...(voice === undefined ? {} : { voice }) });
  closers.push(() => speech.close());
  const audio = await openSimulatorAudio({ clock, makeId: randomUUID, onError });
  closers.push(() => audio.close());
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
    onFault: ({ kind, reason }) => onError(new Error(reason), `trouble with phones’ audio: ${kind}`),
  });
  closers.push(() => media.close());
  const config = loadConfig({ SIP_HOST: LOOPBACK, SIP_PORT: '0', MEDIA_TIMEOUT_SECONDS: '0' });
  const telephony = await buildTelephony({
    config,
    server: await openSipServer({ config, clock, logger }, closers),
    media,
    ...alone,
    clock,
    logger,
  });
  closers.push(() => telephony.close());
  const { sipPort } = telephony;
  if (sipPort === undefined) throw new Error('the carrier has no SIP server of its own');
  await telephony.untilConnected();

  const phones = createSimulatedPhones({
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
  closers.push(() => phones.close());

  let closing: Promise<void> | undefined;
  return {
    phones,
    sipPort,
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

/** What telephony shares with other nodes, for one that has none, and keeps nothing. */
const alone = {
  trunks: { active: async () => [EVERYBODY] },
  numbers: { findByNumber: async () => undefined },
  traceSink: { append: async () => undefined },
  leases: { hold: async () => true, release: async () => undefined },
  board: { publish: async () => undefined },
  bus: { subscribe: () => () => undefined },
};

/** The trunk by which simulated callers reach a gateway, or each other, on this machine. */
export function trunkTo(sipPort: number): Trunk {
  return { ...EVERYBODY, name: 'To the other side', port: sipPort };
}
