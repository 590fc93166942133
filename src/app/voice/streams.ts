import type { Logger } from 'pino';

import type { Clock } from '../../base/clock.ts';
import type { CallwayError } from '../../base/errors.ts';
import type { MakeId } from '../../base/ids.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { TurnCheckpointStore } from '../../engine/session/interruptedTurn.ts';
import type { createStorage } from '../../infra/postgres/storage.ts';
import type { RedisConnection } from '../../infra/redis/connection/connection.ts';
import { redisStreamTickets } from '../../infra/redis/nodes/streamTickets.ts';
import type { SessionMetrics } from '../../observability/metrics/sessions.ts';
import { ActiveStreams } from '../../streams/activeStreams.ts';
import { createMediaStreams, type MediaStreams, type StreamSlots } from '../../streams/mediaStreams.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { BuiltCalls } from '../services/calls.ts';
import type { Config } from '../settings/config.ts';
import { buildVoice } from './voice.ts';

export interface StreamParts {
  readonly config: Config;
  readonly storage: ReturnType<typeof createStorage>;
  readonly redis: RedisConnection;
  readonly turnCheckpoints: TurnCheckpointStore;
  readonly calls: Pick<BuiltCalls, 'limiter' | 'usage'>;
  readonly conversations: ConversationEngine;
  readonly callRefusal: () => CallwayError | undefined;
  readonly publicUrl: () => string;
  /** The number of streams on this node has changed. */
  readonly onChange: () => void;
  readonly metrics: Pick<SessionMetrics, 'turn' | 'providerMetrics'>;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

export interface BuiltStreams {
  readonly mediaStreams: MediaStreams;
  /** The streams on this node; always empty without the role `voice`. */
  readonly live: ActiveStreams;
}

/** Audio WebSockets, served by voice sessions with the role `voice`. */
export async function buildStreams(parts: StreamParts): Promise<BuiltStreams> {
  const { config, clock, conversations } = parts;
  const logger = parts.logger.child({ part: 'streams' });
  const voice = config.ROLES.includes('voice')
    ? await buildVoice({ ...parts, stores: parts.storage.stores })
    : undefined;
  const live = new ActiveStreams({
    clock,
    serveVoiceSession: voice?.serve,
    onCountChange: parts.onChange,
  });
  const mediaStreams = createMediaStreams({
    tickets: redisStreamTickets(parts.redis),
    slots: streamSlots(parts.calls),
    conversations,
    serveVoiceSession: (stream) => live.serve(stream),
    callRefusal: parts.callRefusal,
    clock,
    makeId: parts.makeId,
    publicUrl: parts.publicUrl,
    onError: (error, what, fields) => logger.warn({ err: error, ...fields }, what),
  });
  return { mediaStreams, live };
}

function streamSlots({ limiter, usage }: StreamParts['calls']): StreamSlots {
  return {
    acquire: (projectId, slotId) => limiter.startStream(projectId, slotId),
    renew: (projectId, slotId) => usage.renewSlot(projectId, slotId),
    release: (projectId, slotId) => usage.releaseSlot(projectId, slotId),
  };
}
