import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

import type { Clock } from '../../base/values/clock.ts';
import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import { chooseSubprotocol } from '../../dialects/index.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import { acceptStream } from '../../streams/acceptStream.ts';

export interface SimulatorAudio {
  /** Connects a call's audio to this process. @throws {Error} When the call ends first. */
  connect(media: MediaSession, callId: string): Promise<AudioStream>;
  close(): Promise<void>;
}

export interface SimulatorAudioDeps {
  readonly clock: Clock;
  readonly makeId: () => string;
  readonly onError: (error: unknown, what: string) => void;
}

const LOOPBACK = '127.0.0.1';

/** The WebSocket server for the audio of simulated phones, with an unguessable path for each call. */
export async function openSimulatorAudio(deps: SimulatorAudioDeps): Promise<SimulatorAudio> {
  const server = new WebSocketServer({
    host: LOOPBACK,
    port: 0,
    perMessageDeflate: false,
    handleProtocols: chooseSubprotocol,
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const expected = new Map<string, (stream: AudioStream | undefined) => void>();

  server.on('connection', (socket, request) => {
    const arrived = expected.get(request.url ?? '');
    if (!arrived) return socket.terminate();
    const info = { projectId: '', sessionId: '', dialect: 'callway' } as const;
    const onListenerError = (error: unknown, event: string) =>
      deps.onError(error, `listener of a simulated phone failed: ${event}`);
    void acceptStream(socket, info, { clock: deps.clock, onListenerError }).then(arrived);
  });

  let closing: Promise<void> | undefined;
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of server.clients) socket.terminate();
      server.close(() => resolve());
    });
  return {
    async connect(media, callId) {
      const path = `/${deps.makeId()}`;
      try {
        return await new Promise<AudioStream>((resolve, reject) => {
          // Listeners must be attached at once, so the stream is handed out before the bridge reports success.
          expected.set(path, (stream) => {
            if (stream) resolve(stream);
            else reject(new Error('the call ended before its audio was connected'));
          });
          media
            .startStream({
              url: `ws://${LOOPBACK}:${port}${path}`,
              dialect: 'callway',
              streamId: deps.makeId(),
              callId,
              customParameters: {},
              canReconnect: false,
              isInternal: true,
            })
            .catch(reject);
        });
      } finally {
        expected.delete(path);
      }
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}
