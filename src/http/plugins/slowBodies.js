import { createBodyWatch } from '../bodyWatch.js';
/** Answers 408 to clients whose bodies take too long, as Node does to those who are slow with their headers. */
export function giveUpSlowBodies(app, clock) {
  const { server } = app;
  const watch = createBodyWatch(clock, ({ socket }) => {
    server.emit('clientError', tooSlow(), socket);
  });
  app.decorate('bodyWatch', watch);
  // Of the server and not of the routes, so that it sees requests that reach none, too.
  server.prependListener('request', watch.begin);
  app.addHook('onClose', async () => watch.close());
}
function tooSlow() {
  return Object.assign(new Error('the request took too long to come in'), {
    code: 'ERR_HTTP_REQUEST_TIMEOUT',
  });
}
