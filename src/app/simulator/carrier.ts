import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { startThread } from '../../base/threads/thread.ts';
import { systemClock } from '../../base/values/clock.ts';
import type { Telephony } from '../../calls/telephony.ts';
import { type Trunk, trunkInput } from '../../calls/trunks/trunk.ts';
import { startMediaEngine } from '../../media/engine/mediaEngine.ts';
import type { MediaEngine, OpenMedia } from '../../media/mediaSession.ts';
import type { Impairment } from '../../media/transport/packetIo.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { openSipServer } from '../media/sipServer.ts';
import { buildTelephony } from '../media/telephony.ts';
import { loadConfig } from '../settings/config.ts';
import { openSimulatorAudio, type SimulatorAudio } from './simulatorAudio.ts';
import type { SimulatorThreadData } from './simulatorThread.ts';

export interface CarrierOptions {
  /** The network impairment of all calls in both directions. Default: none. */
  readonly impairment?: Impairment | undefined;
  /** Returns the impairment of what one call sends. */
  readonly impairmentOf?: (callId: string) => Impairment | undefined;
  readonly logger: Logger;
}

/** SIP and RTP of simulated phones, on free ports of 127.0.0.1. Needs no database and no Redis. */
export interface Carrier {
  readonly telephony: Telephony;
  readonly connectAudio: SimulatorAudio['connect'];
  /** UDP and TCP. */
  readonly sipPort: number;
}

export const LOOPBACK = '127.0.0.1';
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

/** Starts a SIP server, one media thread, and the audio connections to this thread. */
export async function startCarrier(
  { impairment, impairmentOf, logger }: CarrierOptions,
  lifecycle: Lifecycle,
): Promise<Carrier> {
  const clock = systemClock;
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const audio = await openSimulatorAudio({ clock, makeId: randomUUID, onError });
  lifecycle.onClose(() => audio.close());
  const media = await startMediaEngine({
    clock,
    startThread: (data) => {
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
    media: impairmentOf ? impaired(media, impairmentOf) : media,
    stores: SINGLE_NODE.stores,
    leases: SINGLE_NODE.leases,
    board: SINGLE_NODE.board,
    bus: SINGLE_NODE.bus,
    clock,
    logger,
  });
  lifecycle.onClose(() => telephony.close());
  const { sipPort } = telephony;
  if (sipPort === undefined) throw new Error('the carrier has no embedded SIP server');
  await telephony.untilConnected();
  return { telephony: telephony.telephony, connectAudio: audio.connect, sipPort };
}

/** The trunk from a simulated caller to a gateway on this machine. */
export function trunkTo(sipPort: number): Trunk {
  return { ...ANY_PEER, name: 'To the peer', port: sipPort };
}

function impaired(media: MediaEngine, impairmentOf: (callId: string) => Impairment | undefined): MediaEngine {
  return {
    open: (request: OpenMedia) => media.open({ ...request, impairment: impairmentOf(request.callId) }),
    get sessions() {
      return media.sessions;
    },
    close: () => media.close(),
  };
}

/** Single-node implementations of what telephony shares between nodes. */
const SINGLE_NODE = {
  stores: {
    dialogs: { save: async () => undefined, remove: async () => undefined, takeLost: async () => [] },
    trunks: { active: async () => [ANY_PEER] },
    phoneNumbers: { findHolder: async () => undefined },
    sipTraces: { append: async () => undefined },
  },
  leases: { hold: async () => true, release: async () => undefined },
  board: { publish: async () => undefined, read: async () => new Map() },
  bus: { publish: async () => undefined, subscribe: () => () => undefined },
};
