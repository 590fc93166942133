import { text } from 'node:stream/consumers';
import { type LoopbackServer, serveOnLoopback } from '../../../support/loopbackServer.ts';

/** All events of a recorded call, in order. */
export const ALL_EVENTS = ['session.ended', 'call.ended', 'recording.ready', 'session.finalized'] as const;
/** All events of a call without recording. */
export const EVENTS_WITHOUT_RECORDING = ALL_EVENTS.filter((event) => event !== 'recording.ready');

/** A webhook receiver that keeps what it gets. */
export interface WebhookReceiver {
  readonly url: string;
  /** Bodies of one session, in order of arrival. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
  forSession(sessionId: string): any[];
  close(): Promise<void>;
}

export async function receiveWebhooks(): Promise<WebhookReceiver> {
  const bodies: { sessionId: string }[] = [];
  const server: LoopbackServer = await serveOnLoopback(async (request, response) => {
    bodies.push(JSON.parse(await text(request)));
    response.writeHead(204).end();
  });
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    forSession: (sessionId) => bodies.filter((body) => body.sessionId === sessionId),
    close: () => server.close(),
  };
}
