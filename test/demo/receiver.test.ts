import { afterEach, beforeEach, expect, test } from 'vitest';
import { startReceiver, type WebhookReceiver } from '../../src/demo/receiver.ts';
import { signatureHeaders } from '../../src/webhooks/delivery.ts';
import { makeSigningSecret } from '../../src/webhooks/signingSecrets.ts';

const NOW_MS = Date.now();
const SECRET = makeSigningSecret();
const BODY = JSON.stringify({
  event: 'session.ended',
  sessionId: 's',
  projectId: 'p',
  channel: 'phone',
  release: 'draft',
  occurredAt: '2026-03-14T09:26:53.589Z',
  deliveryId: 'd',
});

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
  receiver.trust(SECRET);
});
afterEach(() => receiver.close());

const signed = (body: string, { secrets = [SECRET], atMs = NOW_MS } = {}) =>
  signatureHeaders({ deliveryId: 'd', body, secrets }, atMs);
const post = async (body: string, headers: object) =>
  (await fetch(receiver.url, { method: 'POST', body, headers: { ...headers } })).status;

test('A webhook signed with the current or the previous secret is accepted', async () => {
  expect(await post(BODY, signed(BODY))).toBe(204);
  expect(await post(BODY, signed(BODY, { secrets: [makeSigningSecret(), SECRET] }))).toBe(204);
  expect(receiver.events.map(({ event }) => event)).toEqual(['session.ended', 'session.ended']);
  expect(receiver.refused).toEqual([]);
});

test.each<[string, string, object, string]>([
  ['without a signature', BODY, {}, 'Missing required headers'],
  ['signed with another secret', BODY, signed(BODY, { secrets: [makeSigningSecret()] }), 'signature'],
  ['changed in transit', BODY.replace('phone', 'chat'), signed(BODY), 'signature'],
  ['too old', BODY, signed(BODY, { atMs: NOW_MS - 3_600_000 }), 'timestamp too old'],
  ['with an unknown event', '{"event":"x"}', signed('{"event":"x"}'), 'event'],
  ['no JSON', 'x', signed('x'), 'JSON'],
  ['that is too long', 'x'.repeat(1_100_000), {}, 'too long'],
])('A webhook %s is rejected', async (_what, body, headers, why) => {
  expect(await post(body, headers)).toBe(400);
  expect([receiver.events, receiver.refused]).toEqual([[], [expect.stringContaining(why)]]);
});
