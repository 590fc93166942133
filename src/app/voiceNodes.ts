import type { App, Dependency } from '../api/ports.ts';
import type { Clock } from '../base/clock.ts';
import type { VoiceNodeRegistry } from '../calls/nodes/voiceNodeRegistry.ts';
import { registerVoiceNode, type VoiceNodeRegistration } from '../calls/nodes/voiceNodeRegistry.ts';
import { createVoiceNodeSelector, type VoiceNodeSelector } from '../calls/nodes/voiceNodeSelector.ts';
import type { ActiveStreams } from '../streams/activeStreams.ts';
import { addressOf, reachableFromAfar, reachableHere } from './nodeAddress.ts';
import type { Config } from './settings/config.ts';

export interface VoiceNodeParts {
  readonly config: Config;
  readonly nodes: VoiceNodeRegistry;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Tells the other nodes of this one's voice. */
export function announceOwnVoice(
  { config, nodes, nodeId, clock, onError }: VoiceNodeParts,
  app: App,
  streams: Pick<ActiveStreams, 'count'>,
): Promise<VoiceNodeRegistration> {
  const url = config.NODE_URL ?? addressOf(app, reachableFromAfar(config.HOST));
  return registerVoiceNode({ nodes, node: { nodeId, url }, talks: () => streams.count, clock, onError });
}

/** Where this node's calls are talked with. */
export function routeToVoice(
  { config, nodes, nodeId, clock }: VoiceNodeParts,
  app: () => App | undefined,
): VoiceNodeSelector {
  const url = () => addressOf(app(), reachableHere(config.HOST));
  const own = config.ROLES.includes('voice') ? { own: { nodeId, url } } : {};
  return createVoiceNodeSelector({ nodes, ...own, clock, random: Math.random });
}

/** What a node that carries calls stands on where it does not talk itself. */
export function voiceDependency({ config, nodes }: VoiceNodeParts): readonly Dependency[] {
  if (!config.ROLES.includes('media') || config.ROLES.includes('voice')) return [];
  const check = async () => {
    const alive = await nodes.list();
    if (alive.length === 0) throw new Error('no node with the role voice is there');
  };
  return [{ name: 'voice', check }];
}
