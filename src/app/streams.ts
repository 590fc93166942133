import type { Logger } from 'pino';

import type { Clock } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import { omitUndefined } from '../base/omitUndefined.ts';
import { traceLogFields } from '../base/tracing.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import { recoverInterruptedTurn, type TurnCheckpointStore } from '../engine/session/interruptedTurn.ts';
import type { Session } from '../engine/session/session.ts';
import { placeholderOf } from '../engine/turn/filler.ts';
import type { createStorage } from '../infra/postgres/storage.ts';
import type { RedisConnection } from '../infra/redis/connection/connection.ts';
import { redisStreamTickets } from '../infra/redis/nodes/streamTickets.ts';
import type { SessionMetrics } from '../observability/metrics/sessions.ts';
import { ActiveStreams } from '../streams/activeStreams.ts';
import { createMediaStreams, type MediaStreams } from '../streams/mediaStreams.ts';
import type { AudioStream } from '../voice/audioStream.ts';
import type { Closers } from './conversation.ts';
import type { Config } from './settings/config.ts';
import { buildVoice } from './voice.ts';

export interface StreamParts {
  readonly config: Config;
  readonly storage: ReturnType<typeof createStorage>;
  readonly redis: RedisConnection;
  readonly turnNotes: TurnCheckpointStore;
  /** That go on while the database or Redis is away. */
  readonly conversations: ConversationEngine;
  readonly forgetTalk: (projectId: string, sessionId: string) => void;
  readonly publicUrl: () => string;
  /** The number of streams that this node talks on is another. */
  readonly onChange: () => void;
  readonly meter: Pick<SessionMetrics, 'turn' | 'watchModel'>;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly logger: Logger;
  readonly closers: Closers;
}

export interface BuiltStreams {
  readonly mediaStreams: MediaStreams;
  /** Those that this node talks on; none, for ever, where it has no voice. */
  readonly live: ActiveStreams;
}

/** Streams of audio, talked with by our own voice where this node has one. */
export async function buildStreams(parts: StreamParts): Promise<BuiltStreams> {
  const { config, clock, conversations } = parts;
  const logger = parts.logger.child({ part: 'streams' });
  const serveVoiceSession = config.ROLES.includes('voice') ? await talker(parts) : undefined;
  const live = new ActiveStreams({ clock, serveVoiceSession, onCountChange: parts.onChange });
  const mediaStreams = createMediaStreams({
    tickets: redisStreamTickets(parts.redis),
    conversations,
    serveVoiceSession: (stream) => live.serve(stream),
    clock,
    makeId: parts.makeId,
    publicUrl: parts.publicUrl,
    onError: (error, what, fields) => logger.warn({ err: error, ...fields }, what),
  });
  return { mediaStreams, live };
}

async function talker(parts: StreamParts): Promise<(stream: AudioStream) => Promise<unknown>> {
  const { storage, conversations, forgetTalk, closers, turnNotes, clock } = parts;
  const logger = parts.logger.child({ part: 'streams' });
  const voice = await buildVoice({ ...parts, history: storage.stores.history });
  closers.push(() => voice.close());
  return async (stream) => {
    const { projectId, sessionId, callId, traceparent } = stream.info;
    const channel = callId === undefined ? 'web' : 'phone';
    // A talk that another node was lost with goes on here.
    await recoverInterruptedTurn(
      { sessions: storage.stores.sessions, notes: turnNotes, clock },
      projectId,
      sessionId,
    ).catch((error: unknown) =>
      logger.warn({ err: error, projectId, sessionId }, 'what a lost node heard was not kept'),
    );
    const [call, session] = await Promise.all([
      callId === undefined ? undefined : storage.stores.calls.find(projectId, callId),
      conversations.find(projectId, sessionId),
    ]);
    const fields = { projectId, sessionId, ...omitUndefined({ callId }), ...traceLogFields(traceparent) };
    logger.info(fields, 'a talk begins');
    try {
      await voice.serve(stream, {
        session: {
          projectId,
          sessionId,
          channel,
          ...omitUndefined({ callId, traceparent }),
        },
        // Only who was called may have let a machine answer.
        detectAnsweringMachine: call?.direction === 'outbound',
        isResumed: session?.channel === channel && hasBegun(session),
        // Only our own calls seek another engine.
        ...(callId === undefined ? {} : { failoverPrompt: () => standbyOf(parts, projectId, sessionId) }),
      });
    } finally {
      logger.info(fields, 'a talk is over');
      forgetTalk(projectId, sessionId);
    }
  };
}

/** Asked when the session is there, which it need not be when a talk begins. */
async function standbyOf({ storage, conversations }: StreamParts, projectId: string, sessionId: string) {
  const session = await conversations.find(projectId, sessionId);
  const release = session && (await storage.stores.releases.find(projectId, session.releaseId));
  if (!release) return { placeholder: undefined, language: undefined };
  const { variables } = session.state;
  const { language } = variables;
  return {
    placeholder: placeholderOf(release.agent, variables, session.turn),
    language: typeof language === 'string' && language !== '' ? language : undefined,
  };
}

/** Whether anything was heard of the agent: else the greeting is still due. */
function hasBegun({ turn, state }: Session): boolean {
  return state.currentNodeId !== null && (state.hasSpoken || turn > 1);
}
