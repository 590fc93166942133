import { availableParallelism } from 'node:os';

import type { VoiceNodeRegistry } from '../../calls/nodes/voiceNodeRegistry.ts';
import { writeLine } from '../../observability/logger.ts';
import type { StreamGrant } from '../../streams/streamTickets.ts';
import { VoiceThreads } from '../../voice/threads/voiceThreads.ts';
import type { NodeContext } from '../node/node.ts';
import type { Config } from '../settings/config.ts';
import { startVoiceThread } from '../voice/startVoiceThread.ts';
import { receiveReports } from '../voice/threadReports.ts';

export interface VoiceRole {
  readonly threads: VoiceThreads<StreamGrant>;
  /** Resolves when the first thread accepts audio streams. */
  readonly started: Promise<void>;
}

/**
 * Starts the threads that run voice sessions.
 *
 * @returns The role; undefined without the role `voice`.
 */
export function startVoiceRole(
  node: NodeContext,
  registry: VoiceNodeRegistry,
  onSessionEnded: () => void,
): VoiceRole | undefined {
  const { config, logger, lifecycle, clock, nodeId, onError } = node;
  if (!config.ROLES.includes('voice')) return undefined;
  const voiceLogger = logger.child({ part: 'voice' });
  const threads = new VoiceThreads<StreamGrant>({
    clock,
    nodeId,
    maxThreads: maxVoiceThreads(config),
    startThread: ({ number, nodeId: threadId, isReplacement }) =>
      startVoiceThread({
        config,
        name: `voice-${number}`,
        nodeId: threadId,
        database: node.databaseServer,
        redisUrl: node.redisUrl,
        secretsKey: node.secretsKey,
        recoversTurns: isReplacement,
      }),
    reports: receiveReports(node.metrics.sessions, {
      log: (line) => writeLine(logger, line),
      sessionEnded: onSessionEnded,
    }),
    onFault(fault) {
      voiceLogger.error(fault, 'voice thread lost; its calls continue on another');
      registry
        .deregister(fault.nodeId)
        .catch((error: unknown) => onError(error, 'lost voice thread not deregistered, it expires'));
    },
  });
  lifecycle.closing(threads);
  node.metrics.watchVoiceThreads(threads);
  const started = threads.start();
  started.catch(() => undefined); // awaited by the start of the node
  return { threads, started };
}

/** The offline recognizer's processes are counted by thread, and fill the cores. */
export function maxVoiceThreads({ VOICE_THREADS, STT_PROVIDER }: Config): number {
  return VOICE_THREADS ?? (STT_PROVIDER === 'local' ? 1 : availableParallelism());
}
