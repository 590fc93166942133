import type { ProviderCredentialStore } from '../../agents/speech/providerCredentials.ts';
import type { CallwayError } from '../../base/errors.ts';
import type { Sealer } from '../../base/sealer.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { VoiceNodeSelector } from '../../calls/nodes/voiceNodeSelector.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { RedisConnection } from '../../infra/redis/connection/connection.ts';
import { redisWidgetSessions } from '../../infra/redis/limits/widgetSessions.ts';
import { redisStreamTickets } from '../../infra/redis/nodes/streamTickets.ts';
import { TWILIO } from '../../models/ports/providerNames.ts';
import { createMediaStreams, type MediaStreams } from '../../streams/mediaStreams.ts';
import type { StreamGrant } from '../../streams/streamTickets.ts';
import type { VoiceThreads } from '../../voice/threads/voiceThreads.ts';
import type { BuiltCalls } from '../services/calls.ts';
import type { Config } from '../settings/config.ts';
import { audioSocketUrl } from './audioSockets.ts';
import { readerAhead } from './readAhead.ts';

export interface StreamParts {
  readonly redis: RedisConnection;
  readonly calls: Pick<BuiltCalls, 'limiter' | 'usage'>;
  readonly conversations: ConversationEngine;
  readonly voiceNodes: Pick<VoiceNodeSelector, 'selectForStream'>;
  /** The voice threads of this node; undefined without the role `voice`. */
  readonly voiceThreads: Pick<VoiceThreads<StreamGrant>, 'admit'> | undefined;
  readonly callRefusal: () => CallwayError | undefined;
  readonly publicUrl: () => string;
  readonly storage: {
    readonly stores: { readonly providerCredentials: Pick<ProviderCredentialStore, 'find' | 'all'> };
  };
  readonly sealer: Pick<Sealer, 'seal'>;
  readonly onError: (error: unknown, what: string) => void;
  readonly config: Pick<Config, 'AUDIOSOCKET_PORT'>;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/** Reads a project's Twilio token. */
export function twilioTokens({
  stores,
}: {
  readonly stores: { readonly providerCredentials: Pick<ProviderCredentialStore, 'find'> };
}) {
  return async (projectId: string): Promise<string | undefined> =>
    (await stores.providerCredentials.find(projectId, TWILIO))?.apiKey;
}

/** Admits audio WebSockets, which voice threads serve. */
export function buildMediaStreams(parts: StreamParts): MediaStreams {
  const { limiter, usage } = parts.calls;
  return createMediaStreams({
    ...parts,
    readAhead: readerAhead(parts, parts.conversations),
    twilioToken: twilioTokens(parts.storage),
    tickets: redisStreamTickets(parts.redis),
    widgetSessions: redisWidgetSessions(parts.redis),
    slots: {
      acquire: (projectId, slotId) => limiter.startStream(projectId, slotId),
      release: (projectId, slotId) => usage.releaseSlot(projectId, slotId),
    },
    audioSocketUrl: () => audioSocketUrl(parts.config.AUDIOSOCKET_PORT, parts.publicUrl()),
    selectVoiceNode: () => parts.voiceNodes.selectForStream(),
    admitOwn: (nodeId, ticket, grant) => parts.voiceThreads?.admit(nodeId, ticket, grant),
  });
}
