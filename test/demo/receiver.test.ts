import { afterEach, beforeEach, expect, test } from 'vitest';
import { startReceiver, type WebhookReceiver } from '../../src/demo/receiver.ts';
import { makeSigningSecret, signDelivery } from '../../src/webhooks/signature.ts';

const NOW_MS = Date.UTC(2026, 2, 14);
const SECRET = makeSigningSecret();
const BODY = JSON.stringify({
  event: 'session.ended',
  sessionId: 's',
  projectId: 'p',
  channel: 'phone',
  occurredAt: '2026-03-14T09:26:53.589Z',
  deliveryId: 'd',
});

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startReceiver(() => NOW_MS);
  receiver.trust(SECRET);
});
afterEach(() => receiver.close());

const signed = (body: string, { secrets = [SECRET], atMs = NOW_MS } = {}) =>
  signDelivery({ deliveryId: 'd', timestampSeconds: atMs / 1000, body, secrets });
const post = async (body: string, headers: object) =>
  (await fetch(receiver.url, { method: 'POST', body, headers: { ...headers } })).status;

test('what is signed is taken, by an old and a new secret too', async () => {
  expect(await post(BODY, signed(BODY))).toBe(204);
  expect(await post(BODY, signed(BODY, { secrets: [makeSigningSecret(), SECRET] }))).toBe(204);
  expect(receiver.events.map(({ event }) => event)).toEqual(['session.ended', 'session.ended']);
  expect(receiver.refused).toEqual([]);
});

test.each<[string, string, object, string]>([
  ['without a signature', BODY, {}, 'time of now'],
  ['signed by another', BODY, signed(BODY, { secrets: [makeSigningSecret()] }), 'signature'],
  ['changed on its way', BODY.replace('phone', 'chat'), signed(BODY), 'signature'],
  ['too old', BODY, signed(BODY, { atMs: NOW_MS - 301_000 }), 'time of now'],
  ['of an unknown event', '{"event":"x"}', signed('{"event":"x"}'), 'event'],
  ['no JSON', 'x', signed('x'), 'JSON'],
  ['far too long', 'x'.repeat(1_100_000), {}, 'too long'],
])('a delivery %s is refused', async (_what, body, headers, why) => {
  expect(await post(body, headers)).toBe(400);
  expect([receiver.events, receiver.refused]).toEqual([[], [expect.stringContaining(why)]]);
});
