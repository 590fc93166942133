import { collectDefaultMetrics, Registry } from 'prom-client';

import type { CallMetrics } from '../../calls/callMetrics.ts';
import type { TrunkHealthStore } from '../../calls/trunks/trunkHealth.ts';
import type { ThreadedMediaEngine } from '../../media/engine/mediaEngine.ts';
import { type ProviderHealth, withProviderHealth } from '../../models/failover/providerHealth.ts';
import { createCallMetrics } from '../../observability/metrics/calls.ts';
import {
  type CallLoad,
  type NodeLoad,
  registerCallLoadMetrics,
  registerNodeMetrics,
} from '../../observability/metrics/node.ts';
import { renderPlayoutDelay } from '../../observability/metrics/playout.ts';
import { registerProviderHealth } from '../../observability/metrics/providerHealth.ts';
import { createSessionMetrics, type SessionMetrics } from '../../observability/metrics/sessions.ts';
import { renderSipServerMetrics } from '../../observability/metrics/sip.ts';
import { registerSurroundings, type Surroundings } from '../../observability/metrics/surroundings.ts';
import { withTrunkMetrics } from '../../observability/metrics/trunkHealth.ts';
import { registerVoiceThreadMetrics } from '../../observability/metrics/voiceThreads.ts';
import type { SipServerAccess } from '../../telephony/control/sipServer.ts';
import type { VoiceThreads } from '../../voice/threads/voiceThreads.ts';

/** Gauges with the suffix of a counter; the same values exist without the suffix. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** The Prometheus registry of this node and the metrics that feed it. */
export interface BuiltMetrics {
  readonly registry: Registry;
  readonly texts: readonly (() => Promise<string>)[];
  readonly calls: CallMetrics;
  readonly sessions: SessionMetrics;
  trunks(board: TrunkHealthStore, nowMs: () => number): TrunkHealthStore;
  watchNode(load: NodeLoad): void;
  watchCalls(load: CallLoad): void;
  watchSurroundings(surroundings: Surroundings): void;
  /** Reads the threads' statistics at each scrape. */
  watchMedia(media: ThreadedMediaEngine): void;
  watchSip(server: SipServerAccess): void;
  watchVoiceThreads(threads: VoiceThreads): void;
}

export function buildMetrics(health: ProviderHealth): BuiltMetrics {
  const registry = new Registry();
  const texts: (() => Promise<string>)[] = [];
  // Includes Node's own, such as the event-loop lag.
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const sessions = createSessionMetrics(registry);
  registerProviderHealth(registry, () => health.states());
  return {
    registry,
    texts,
    calls: createCallMetrics(registry),
    sessions: { ...sessions, providerMetrics: withProviderHealth(sessions.providerMetrics, health) },
    trunks: (board, nowMs) => withTrunkMetrics(registry, board, nowMs),
    watchNode: (load) => registerNodeMetrics(registry, load),
    watchCalls: (load) => registerCallLoadMetrics(registry, load),
    watchSurroundings: (surroundings) => registerSurroundings(registry, surroundings),
    watchMedia(media) {
      texts.push(async () =>
        renderPlayoutDelay(
          (await media.statistics()).map(({ tickDelayCounts: latenessCounts }) => latenessCounts),
        ),
      );
    },
    watchSip(server) {
      texts.push(async () => renderSipServerMetrics(await server.stats()));
    },
    watchVoiceThreads: (threads) => registerVoiceThreadMetrics(registry, () => threads.running),
  };
}
