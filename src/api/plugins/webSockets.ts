import websocket from '@fastify/websocket';

import { chooseSubprotocol } from '../../streams/dialects/index.ts';
import type { App } from '../ports.ts';

/** Audio arrives in messages of some kilobytes; this is five seconds of it at 24 kHz. */
export const MAX_MESSAGE_BYTES = 256 * 1024;

/** Registers WebSocket routes in a scope of their own. Compression is off, since audio does not compress. */
export async function webSockets(app: App, addRoutes: (scope: App) => void): Promise<void> {
  await app.register(async (scope: App) => {
    await scope.register(websocket, {
      options: {
        maxPayload: MAX_MESSAGE_BYTES,
        perMessageDeflate: false,
        clientTracking: true,
        handleProtocols: chooseSubprotocol,
      },
    });
    addRoutes(scope);
  });
}
