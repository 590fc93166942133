import type { AddressInfo } from 'node:net';
import type { App, Dependency } from '../../api/ports.ts';
import type { Clock } from '../../base/clock.ts';
import { advertisedAddress, httpUrl, localAddress } from '../../calls/nodes/nodeAddress.ts';
import {
  requireVoiceNode,
  VoiceNodeRegistration,
  type VoiceNodeRegistry,
} from '../../calls/nodes/voiceNodeRegistry.ts';
import { VoiceNodeSelector } from '../../calls/nodes/voiceNodeSelector.ts';
import type { ActiveStreams } from '../../streams/activeStreams.ts';
import type { Config } from '../settings/config.ts';

export interface VoiceNodeParts {
  readonly config: Config;
  readonly registry: VoiceNodeRegistry;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Registers this node as a voice node. */
export async function registerOwnVoiceNode(
  { config, registry, nodeId, clock, onError }: VoiceNodeParts,
  app: App,
  streams: Pick<ActiveStreams, 'count'>,
): Promise<VoiceNodeRegistration> {
  const url = config.NODE_URL ?? addressOf(app, advertisedAddress(config.HOST));
  const node = { nodeId, url };
  const sessions = () => streams.count;
  const registration = new VoiceNodeRegistration({ registry, node, sessions, clock, onError });
  await registration.start();
  return registration;
}

export function buildVoiceNodeSelector(
  { config, registry, nodeId, clock }: VoiceNodeParts,
  app: App,
): VoiceNodeSelector {
  const url = () => addressOf(app, localAddress(config.HOST));
  const own = config.ROLES.includes('voice') ? { own: { nodeId, url } } : {};
  return new VoiceNodeSelector({ registry, ...own, clock, random: Math.random });
}

/** A node that runs calls but no voice sessions depends on a voice node. */
export function voiceDependency({ config, registry }: VoiceNodeParts): readonly Dependency[] {
  if (!config.ROLES.includes('media') || config.ROLES.includes('voice')) return [];
  return [{ name: 'voice', check: () => requireVoiceNode(registry) }];
}

/** The URL of a listening server. */
export function addressOf(app: App | undefined, host: string): string {
  const address = app?.server.address() as AddressInfo | null | undefined;
  return httpUrl(host, address?.port ?? 0);
}
