import type { Logger } from 'pino';

import { drainConnections } from '../api/plugins/drainConnections.ts';
import type { App } from '../api/ports.ts';
import { unlessAborted } from '../base/async/unlessAborted.ts';
import { withTimeout } from '../base/async/withTimeout.ts';
import { systemClock } from '../base/values/clock.ts';
import type { CallNode } from '../calls/runner/callNode.ts';
import { workDepths } from '../infra/postgres/work/tables.ts';
import { redisVoiceNodes } from '../infra/redis/nodes/leasedEntries.ts';
import { Lifecycle } from './lifecycle.ts';
import { type NodeContext, openNode } from './node/node.ts';
import { startNodeReports } from './node/nodeReports.ts';
import { type StartupServer, startStartupServer } from './node/startupServer.ts';
import { buildApi } from './roles/api.ts';
import { buildMediaRole } from './roles/media.ts';
import { startVoiceRole, type VoiceRole } from './roles/voice.ts';
import { startWorker } from './roles/worker.ts';
import { endingModelWarnings } from './services/providers.ts';
import { buildServices } from './services/services.ts';
import type { Config } from './settings/config.ts';
import { configuredModels } from './settings/configuredModels.ts';
import { startAudioSockets } from './voice/audioSockets.ts';
import { buildMediaStreams } from './voice/streams.ts';
import { addressOf, buildVoiceNodeSelector, voiceDependency } from './voice/voiceNodes.ts';

export interface Gateway {
  /** URL of the HTTP server. */
  readonly url: string;
  /** The address of the console; undefined when it is not served. */
  readonly consoleUrl?: string;
  /**
   * Takes the node out of service: `/readyz` reports it, and clients are told to close their keep-alive connections. To be
   * called before {@link Gateway.stop}, so that no request is lost. Idempotent.
   */
  retire(): Promise<void>;
  /** Accepts no new requests and calls, lets running ones finish within the drain time, and closes. Idempotent. */
  stop(): Promise<void>;
}

/** A start that is ended has this time to finish its step, so that nothing of it stays; one that waits is left. */
const STARTING_MS = 2_000;

/**
 * Builds all parts, starts them in order, and closes them in reverse order.
 *
 * @param signal - Ends the start, which may wait for a migration. @throws Its reason.
 */
export async function startGateway(
  config: Config,
  logger: Logger,
  signal: AbortSignal = new AbortController().signal,
): Promise<Gateway> {
  const lifecycle = new Lifecycle((error) => logger.error({ err: error }, 'close failed'));
  const startup = lifecycle.closing(await startStartupServer(config));
  const starting = openNode(config, logger, lifecycle, startup.setPhase).then((node) => {
    signal.throwIfAborted();
    const warnOfEnd = endingModelWarnings(node.clock, node.logger);
    for (const { setting, model } of configuredModels(config)) warnOfEnd(model, setting);
    return start(node, startup, signal);
  });
  try {
    return await unlessAborted(starting, signal);
  } catch (error) {
    await withTimeout(systemClock, starting, STARTING_MS);
    await lifecycle.close();
    throw error;
  }
}

async function start(node: NodeContext, startup: StartupServer, signal: AbortSignal): Promise<Gateway> {
  const { config, redis, database, clock, overload } = node;
  const registry = redisVoiceNodes(redis);
  let onSessionEnded = () => {};
  const voice = startVoiceRole(node, registry, () => onSessionEnded());
  node.state.voiceThreads = voice?.threads;
  const services = await buildServices(node);
  onSessionEnded = () => services.webhooks.dispatcher.wake();
  const voiceNodes = buildVoiceNodeSelector(node, registry, voice?.threads);
  const mediaStreams = buildMediaStreams(node, services, voiceNodes, voice?.threads);
  const media = await buildMediaRole(node, services, { mediaStreams, voiceNodes });
  const sessions = () => voice?.threads.sessions ?? 0;
  node.metrics.watchNode({ queues: () => workDepths(database, new Date(clock.now())), sessions, overload });
  startNodeReports(node);
  const dependencies = [...(media ? [media.dependency] : []), ...voiceDependency(config, registry)];
  const app = await buildApi(node, services, mediaStreams, dependencies);
  node.state.app = app;
  await redis.untilReady();
  await voice?.started;
  await startup.close();
  signal.throwIfAborted();
  startWorker(node, services);
  await app.listen({ port: startup.port, host: config.HOST });
  const stopOffering = services.recordings.offer(services.calls.bus);
  node.lifecycle.onClose(async () => stopOffering());
  await startAudioSockets(node, mediaStreams);
  const running = media?.buildCallNode();
  node.lifecycle.onClose(() => drain(node, voice, running?.callNode));
  await voice?.threads.register();
  if (running) {
    await services.calls.registerNode();
    // Stops before the node's calls are waited for.
    running.startDialing();
    media?.startPhoneTests();
  }
  overload.start();
  return gatewayOf(node, app);
}

async function drain(
  { config }: NodeContext,
  voice: VoiceRole | undefined,
  callNode: CallNode | undefined,
): Promise<void> {
  // Together: the calls of this node may use its own voice sessions.
  await Promise.all([callNode?.close(), voice?.threads.drain(config.DRAIN_SECONDS * 1000)]);
  await voice?.threads.close();
}

function gatewayOf({ config, state, clock, lifecycle }: NodeContext, app: App): Gateway {
  let retiring: Promise<void> | undefined;
  return {
    url: addressOf(app, config.HOST),
    consoleUrl: app.hasRoute({ method: 'GET', url: '/console' })
      ? `${addressOf(app, config.HOST)}/console`
      : undefined,
    retire() {
      state.draining.abort();
      retiring ??= drainConnections(app.server, clock);
      return retiring;
    },
    stop() {
      state.draining.abort();
      return lifecycle.close();
    },
  };
}
