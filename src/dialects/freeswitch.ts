import type { StreamDialect } from './dialect.ts';
import { AudioForkServer } from './wire/audioFork.ts';
import { oddBytes } from './wire/botRules.ts';

/**
 * FreeSWITCH's `mod_audio_fork` with bidirectional streaming.
 *
 * @see AudioForkServer
 */
export const freeswitch: StreamDialect = {
  description:
    ': `mod_audio_fork` of FreeSWITCH, as jambonz maintains it, with bidirectional audio streamed in both directions as binary messages of little-endian L16. The metadata may have `sampleRate` (8000); its other texts are custom parameters. Only FreeSWITCH starts such a stream: bots cannot be connected to with it.',
  openServer: (connection) => new AudioForkServer(connection, { needsMetadata: false }),
  botRules: { problemOf: oddBytes },
};
