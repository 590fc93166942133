import type { Logger } from 'pino';
import { traceLogFields } from '../base/tracing.ts';
import type { TextStream } from '../conversation/streams/textStream.ts';
import { loggingTurns } from '../conversation/turns/turnLatency.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import {
  type RecoveryDeps,
  recoverInterruptedTurn,
  type TurnCheckpointStore,
} from '../engine/session/interruptedTurn.ts';
import { sessionPolicy } from '../engine/session/sessionPolicy.ts';
import { TextSession, type TextSessionDeps } from './textSession.ts';

export interface ServeTextStreamDeps
  extends Omit<TextSessionDeps, 'stream' | 'engine' | 'checkpoints' | 'onError'> {
  readonly sessions: RecoveryDeps['sessions'];
  readonly checkpoints: TurnCheckpointStore;
  readonly engine: ConversationEngine;
  readonly logger: Logger;
}

const CHANNEL = 'web';

/** Runs a conversation on a stream of text turns until it is closed. */
export async function serveTextStream(deps: ServeTextStreamDeps, stream: TextStream): Promise<void> {
  const { engine, logger } = deps;
  const { projectId, sessionId, traceparent, opening } = stream.info;
  const fields = { projectId, sessionId, ...traceLogFields(traceparent) };
  const onError = (error: unknown, message: string) => logger.warn({ ...fields, err: error }, message);
  // The session may have been on a node that failed.
  if (!opening)
    await recoverInterruptedTurn(deps, projectId, sessionId).catch((error: unknown) =>
      onError(error, 'interrupted turn not recovered'),
    );
  const attached = await engine.attach(projectId, sessionId, opening?.session);
  const session = { projectId, sessionId, channel: CHANNEL, traceparent } as const;
  const isResumed = attached?.channel === CHANNEL && attached.state.currentNodeId !== null;
  const { publishesEvents } = sessionPolicy(attached?.state ?? {});
  const liveEvents = publishesEvents ? deps.liveEvents : undefined;
  logger.info(fields, 'text session started');
  try {
    await new TextSession(
      { ...deps, liveEvents, stream, onError, onSpokenTurn: loggingTurns(deps, fields) },
      { session, isResumed },
    ).run();
  } finally {
    logger.info(fields, 'text session ended');
    engine.detach(projectId, sessionId);
  }
}
