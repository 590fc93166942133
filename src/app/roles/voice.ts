import type { App } from '../../api/ports.ts';
import type { VoiceNodeRegistration } from '../../calls/nodes/voiceNodeRegistry.ts';
import type { NodeContext } from '../node/node.ts';
import type { Services } from '../services/services.ts';
import { type BuiltStreams, buildStreams } from '../voice/streams.ts';
import { registerOwnVoiceNode, type VoiceNodeParts } from '../voice/voiceNodes.ts';

export interface VoiceRole extends BuiltStreams {
  /** Registers this node with the media nodes; with the role `voice`. */
  register(app: App): Promise<void>;
  /** Takes no new sessions. */
  withdraw(): Promise<void>;
}

/** Audio streams, and voice sessions with the role `voice`. */
export async function buildVoiceRole(
  node: NodeContext,
  { conversations, calls }: Services,
  voiceNodes: VoiceNodeParts,
): Promise<VoiceRole> {
  let registration: VoiceNodeRegistration | undefined;
  const streams = await buildStreams({
    ...node,
    conversations,
    calls,
    onChange: () => registration?.update(),
    metrics: node.metrics.sessions,
  });
  return {
    ...streams,
    async register(app) {
      if (!node.config.ROLES.includes('voice')) return;
      registration = await registerOwnVoiceNode(voiceNodes, app, streams.live);
    },
    async withdraw() {
      await registration?.withdraw();
    },
  };
}
