import type { AddressInfo } from 'node:net';
import type { App, Dependency } from '../../api/ports.ts';
import type { Clock } from '../../base/values/clock.ts';
import { httpUrl, localAddress } from '../../calls/nodes/nodeAddress.ts';
import { requireVoiceNode, type VoiceNodeRegistry } from '../../calls/nodes/voiceNodeRegistry.ts';
import { VoiceNodeSelector } from '../../calls/nodes/voiceNodeSelector.ts';
import type { VoiceThreads } from '../../voice/threads/voiceThreads.ts';
import type { Config } from '../settings/config.ts';

/** @param threads - Those of this node; undefined without the role `voice`. */
export function buildVoiceNodeSelector(
  { config, clock }: { readonly config: Config; readonly clock: Clock },
  registry: VoiceNodeRegistry,
  threads: VoiceThreads | undefined,
): VoiceNodeSelector {
  const host = localAddress(config.HOST);
  const own =
    threads &&
    (() => threads.running.map(({ port, ...thread }) => ({ ...thread, url: httpUrl(host, port) })));
  return new VoiceNodeSelector({ registry, own, clock, random: Math.random });
}

/** A node that runs calls but no voice sessions depends on a voice node. */
export function voiceDependency(config: Config, registry: VoiceNodeRegistry): readonly Dependency[] {
  if (!config.ROLES.includes('media') || config.ROLES.includes('voice')) return [];
  return [{ name: 'voice', check: () => requireVoiceNode(registry) }];
}

/** The URL of a listening server. */
export function addressOf(app: App | undefined, host: string): string {
  const address = app?.server.address() as AddressInfo | null | undefined;
  return httpUrl(host, address?.port ?? 0);
}
