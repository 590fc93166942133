import websocket from '@fastify/websocket';

import { chooseSubprotocol } from '../../streams/dialects/index.ts';
import type { App } from '../app.ts';

/** Speech comes in pieces of some kilobytes; a whole minute of it in one message is below this. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Adds routes that take WebSockets. They are apart, since what they need costs each request of the routes beside them.
 * Frames of speech do not compress, and trying costs more than all else about them.
 */
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
