import websocket from '@fastify/websocket';
import { CALLWAY_SUBPROTOCOL } from '../../bridge/messages.js';

/** Speech comes in pieces of some kilobytes; a whole minute of it in one message is below this. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Lets routes take WebSockets. Frames of speech do not compress, and trying costs more than all else about them. */
export async function webSockets(app) {
  await app.register(websocket, {
    options: {
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      clientTracking: true,
      handleProtocols: (offered) => (offered.has(CALLWAY_SUBPROTOCOL) ? CALLWAY_SUBPROTOCOL : false),
    },
  });
}
