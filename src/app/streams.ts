import type { Logger } from 'pino';

import type { Clock } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { TurnCheckpointStore } from '../engine/session/interruptedTurn.ts';
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
  readonly conversations: ConversationEngine;
  readonly isDraining: () => boolean;
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
  const serveVoiceSession = config.ROLES.includes('voice') ? await buildVoiceServer(parts) : undefined;
  const live = new ActiveStreams({ clock, serveVoiceSession, onCountChange: parts.onChange });
  const mediaStreams = createMediaStreams({
    tickets: redisStreamTickets(parts.redis),
    conversations,
    serveVoiceSession: (stream) => live.serve(stream),
    isDraining: parts.isDraining,
    clock,
    makeId: parts.makeId,
    publicUrl: parts.publicUrl,
    onError: (error, what, fields) => logger.warn({ err: error, ...fields }, what),
  });
  return { mediaStreams, live };
}

async function buildVoiceServer(parts: StreamParts): Promise<(stream: AudioStream) => Promise<unknown>> {
  const { storage, closers } = parts;
  const voice = await buildVoice({ ...parts, stores: storage.stores });
  closers.push(() => voice.close());
  return (stream) => voice.serve(stream);
}
