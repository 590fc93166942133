import type { MediaStreams } from '../../streams/mediaStreams.ts';
import { type AudioSocketServer, listenForAudioSockets } from '../../streams/transport/audioSocketServer.ts';
import type { NodeContext } from '../node/node.ts';
import { namingPortSettings } from '../node/portErrors.ts';

/** The TCP port for Asterisk's AudioSocket, where one is set and this node serves streams. */
export async function startAudioSockets(
  { config, lifecycle, onError }: NodeContext,
  { forward }: MediaStreams,
): Promise<AudioSocketServer | undefined> {
  const { AUDIOSOCKET_PORT, HOST, ROLES } = config;
  if (AUDIOSOCKET_PORT === undefined || !(ROLES.includes('api') || ROLES.includes('voice'))) return undefined;
  const listening = listenForAudioSockets({ host: HOST, port: AUDIOSOCKET_PORT, forward, onError });
  await namingPortSettings({ host: 'HOST', ports: { AUDIOSOCKET_PORT } }, listening);
  return lifecycle.closing(await listening);
}

/** @returns The address for peers; undefined without a port. */
export function audioSocketUrl(port: number | undefined, publicUrl: string): string | undefined {
  return port === undefined ? undefined : `tcp://${new URL(publicUrl).hostname}:${port}`;
}
