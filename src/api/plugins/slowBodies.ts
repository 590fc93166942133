import type { IncomingMessage } from 'node:http';

import type { Clock } from '../../base/clock.ts';
import type { App } from '../app.ts';
import { type BodyWatch, createBodyWatch } from './bodyTimeouts.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly bodyWatch: BodyWatch<IncomingMessage>;
  }
}

/** Answers 408 to clients whose bodies take too long, as Node does to those who are slow with their headers. */
export function giveUpSlowBodies(app: App, clock: Clock): void {
  const { server } = app;
  const watch = createBodyWatch<IncomingMessage>(clock, ({ socket }) => {
    server.emit('clientError', tooSlow(), socket);
  });
  app.decorate('bodyWatch', watch);
  app.addHook('onClose', async () => watch.close());
}

function tooSlow(): Error {
  return Object.assign(new Error('the request took too long to come in'), {
    code: 'ERR_HTTP_REQUEST_TIMEOUT',
  });
}
