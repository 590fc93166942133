import { startSpeakingUpstream } from '../calls/models.ts';
import { startProduct } from './product.ts';
import { startRawRelay } from './rawRelay.ts';
import { startSdkRelay } from './sdkRelay.ts';
import { startUpstream } from './upstream.ts';

export type ServerName = 'upstream' | 'speakingUpstream' | 'rawRelay' | 'sdkRelay' | 'product';

/** What a server tells of itself when it is asked. */
export interface Figures {
  /** Microseconds of CPU time since its start, in the program and in the kernel on its behalf. */
  readonly cpuMicroseconds: number;
  /** After the garbage was collected. */
  readonly heapBytes: number;
  readonly rssBytes: number;
  /** Requests since it was asked last; of the upstream only. */
  readonly requests: number;
}

/** First where it listens, then its figures whenever it is asked. */
export type ChildMessage = { readonly url: string } | Figures;

/** `figures` collects the garbage first, which costs time; `cpu` does not. */
export type ChildQuestion = 'figures' | 'cpu';

interface Running {
  readonly url: string;
  readonly takeRequests?: () => number;
  readonly stop?: () => Promise<void>;
}

const upstreamUrl = process.argv[3] ?? '';
const starts: Record<ServerName, () => Promise<Running>> = {
  upstream: startUpstream,
  speakingUpstream: startSpeakingUpstream,
  rawRelay: async () => ({ url: await startRawRelay(upstreamUrl) }),
  sdkRelay: async () => ({ url: await startSdkRelay(upstreamUrl) }),
  product: () => startProduct(upstreamUrl),
};

const say = (message: ChildMessage) => process.send?.(message);
const running = await starts[process.argv[2] as ServerName]();

process.on('message', (question: ChildQuestion) => {
  if (question === 'figures') globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { heapUsed, rss } = process.memoryUsage();
  say({
    cpuMicroseconds: user + system,
    heapBytes: heapUsed,
    rssBytes: rss,
    requests: running.takeRequests?.() ?? 0,
  });
});
process.on('disconnect', async () => {
  await running.stop?.();
  process.exit();
});
say({ url: running.url });
