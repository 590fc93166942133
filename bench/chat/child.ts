import { startSpeakingUpstream } from '../calls/models.ts';
import { startSpeechStreams } from '../speech/streams.ts';
import { startSpeechVendors } from '../speech/vendors.ts';
import { startProduct } from './product.ts';
import { startRawRelay } from './rawRelay.ts';
import { startSdkRelay } from './sdkRelay.ts';
import { startUpstream } from './upstream.ts';

export type ServerName =
  | 'upstream'
  | 'speakingUpstream'
  | 'speechVendors'
  | 'speechStreams'
  | 'rawRelay'
  | 'sdkRelay'
  | 'product';

/** Figures that a server reports on request. */
export interface Figures {
  /** CPU time since its start in microseconds, in user and kernel mode. */
  readonly cpuMicroseconds: number;
  /** After a garbage collection. */
  readonly heapBytes: number;
  readonly rssBytes: number;
  /** Requests since the last report; upstream only. */
  readonly requests: number;
}

/** First the address, then figures on each request. */
export type ChildMessage = { readonly url: string } | Figures;

/** `figures` runs a garbage collection first, which takes time; `cpu` does not. */
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
  speechVendors: startSpeechVendors,
  speechStreams: () => startSpeechStreams(upstreamUrl),
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
