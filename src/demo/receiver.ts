import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type WebhookBody, webhookBodySchema } from '../webhooks/events.ts';
import { signDelivery } from '../webhooks/signature.ts';
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
/** Maximum age; an older delivery may be a replay. */
const TOLERANCE_SECONDS = 300;

/** @param now - Milliseconds since the Unix epoch. */
export async function startReceiver(now: () => number): Promise<WebhookReceiver> {
  const events: WebhookBody[] = [];
  const refused: string[] = [];
  let secret = '';
  const take = async (request: IncomingMessage) => {
    const body = await readBody(request);
    verify(request, body, secret, now());
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

/**
 * @throws {DemoError} When the signature is invalid or the timestamp is too old. @see
 *   https://www.standardwebhooks.com
 */
function verify({ headers }: IncomingMessage, body: string, secret: string, nowMs: number): void {
  const timestampSeconds = Number(headers['webhook-timestamp']);
  if (!(Math.abs(nowMs / 1000 - timestampSeconds) <= TOLERANCE_SECONDS)) {
    throw new DemoError('webhook with a missing or outdated timestamp');
  }
  const deliveryId = String(headers['webhook-id'] ?? '');
  const expected = signDelivery({ deliveryId, timestampSeconds, body, secrets: [secret] });
  const wanted = Buffer.from(expected['webhook-signature']);
  const isSigned = String(headers['webhook-signature'] ?? '')
    .split(' ')
    .some((given) => {
      const bytes = Buffer.from(given);
      return bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
    });
  if (!isSigned) throw new DemoError('webhook with an invalid signature');
}
