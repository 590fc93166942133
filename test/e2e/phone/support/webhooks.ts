import { type LoopbackServer, serveOnLoopback } from '../../../support/loopbackServer.ts';

/** All that an agent can tell, in the order in which a recorded call tells it. */
export const ALL_EVENTS = ['session.ended', 'call.ended', 'recording.ready', 'session.finalized'] as const;
/** What a call without a recording tells. */
export const UNRECORDED = ALL_EVENTS.filter((event) => event !== 'recording.ready');

/** A user's webhook target, which keeps what it is told. */
export interface WebhookReceiver {
  readonly url: string;
  /** Bodies of one session, in the order of their arrival. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
  of(sessionId: string): any[];
  close(): Promise<void>;
}

export async function receiveWebhooks(): Promise<WebhookReceiver> {
  const bodies: { sessionId: string }[] = [];
  const server: LoopbackServer = await serveOnLoopback((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      bodies.push(JSON.parse(text));
      response.writeHead(204).end();
    });
  });
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    of: (sessionId) => bodies.filter((body) => body.sessionId === sessionId),
    close: () => server.close(),
  };
}
