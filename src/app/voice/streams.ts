import type { ProviderCredentialStore } from '../../agents/speech/providerCredentials.ts';
import type { VoiceNodeSelector } from '../../calls/nodes/voiceNodeSelector.ts';
import { redisWidgetSessions } from '../../infra/redis/limits/leasedSlots.ts';
import { redisStreamTickets } from '../../infra/redis/nodes/streamTickets.ts';
import { createMediaStreams, type MediaStreams } from '../../streams/mediaStreams.ts';
import type { StreamGrant } from '../../streams/streamTickets.ts';
import { TWILIO } from '../../vendors/credentials.ts';
import type { VoiceThreads } from '../../voice/threads/voiceThreads.ts';
import type { NodeContext } from '../node/node.ts';
import type { Services } from '../services/services.ts';
import { audioSocketUrl } from './audioSockets.ts';

/** Reads a project's Twilio token. */
export function twilioTokens(credentials: ProviderCredentialStore) {
  return async (projectId: string): Promise<string | undefined> =>
    (await credentials.find(projectId, TWILIO))?.apiKey;
}

/**
 * Admits audio WebSockets, which voice threads serve.
 *
 * @param voiceThreads - Those of this node; undefined without the role `voice`.
 */
export function buildMediaStreams(
  node: NodeContext,
  { calls }: Services,
  voiceNodes: VoiceNodeSelector,
  voiceThreads: VoiceThreads<StreamGrant> | undefined,
): MediaStreams {
  const { config, storage, redis, callRefusal, publicUrl, clock, makeId } = node;
  return createMediaStreams({
    sessions: calls.sessions,
    twilioToken: twilioTokens(storage.stores.providerCredentials),
    tickets: redisStreamTickets(redis),
    widgetSessions: redisWidgetSessions(redis),
    slots: {
      acquire: (projectId, slotId) => calls.limiter.startStream(projectId, slotId),
      release: (projectId, slotId) => calls.usage.releaseSlot(projectId, slotId),
    },
    audioSocketUrl: () => audioSocketUrl(config.AUDIOSOCKET_PORT, publicUrl()),
    selectVoiceNode: () => voiceNodes.selectForStream(),
    admitOwn: (nodeId, ticket, grant) => voiceThreads?.admit(nodeId, ticket, grant),
    publicUrl,
    callRefusal,
    clock,
    makeId,
  });
}
