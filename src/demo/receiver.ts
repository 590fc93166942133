import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

import { type WebhookBody, webhookBodySchema } from '../webhooks/events.ts';
import { DemoError } from './demoError.ts';

/** The receiver of a user's system: accepts signed webhooks. */
export interface WebhookReceiver {
  readonly url: string;
  /** Accepted webhooks, in order. */
  readonly events: readonly WebhookBody[];
  /** Reasons of rejected webhooks. */
  readonly refused: readonly string[];
  /** Accepts only webhooks with a signature of this secret from now on. */
  trust(secret: string): void;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1024 * 1024;

export async function startReceiver(): Promise<WebhookReceiver> {
  const events: WebhookBody[] = [];
  const refused: string[] = [];
  let secret = '';
  const take = async (request: IncomingMessage) => {
    const body = await readBody(request);
    verify(request, body, secret);
    events.push(webhookBodySchema.parse(JSON.parse(body)));
  };
  const server = createServer((request, response) => {
    take(request).then(
      () => response.writeHead(204).end(),
      (error: unknown) => {
        refused.push(error instanceof Error ? error.message : String(error));
        response.writeHead(400).end();
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    events,
    refused,
    trust(given) {
      secret = given;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let lengthBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    lengthBytes += chunk.length;
    if (lengthBytes > MAX_BODY_BYTES) throw new DemoError('webhook body too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws {DemoError} When the signature is invalid, or the timestamp is more than five minutes off. */
function verify({ headers }: IncomingMessage, body: string, secret: string): void {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false });
  } catch (error) {
    throw new DemoError(`webhook not verified: ${error instanceof Error ? error.message : String(error)}`);
  }
}
