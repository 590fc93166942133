import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { makeSigningSecret, signDelivery } from '../../src/webhooks/signature.ts';

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const delivery = {
  deliveryId: '019cebdc-9a10',
  timestampSeconds: 1_773_480_413,
  body: '{"a":"é"}',
  secrets: [secret],
};

describe('signDelivery', () => {
  it('makes headers that the Standard Webhooks library accepts', () => {
    const now = Math.floor(Date.now() / 1000);
    const headers = { ...signDelivery({ ...delivery, timestampSeconds: now }) };
    expect(new Webhook(secret).verify(delivery.body, headers)).toEqual({ a: 'é' });
    expect(() => new Webhook(secret).verify('{"a":"e"}', headers)).toThrow('No matching signature');
    expect(() => new Webhook(makeSigningSecret()).verify(delivery.body, headers)).toThrow(
      'No matching signature',
    );
  });

  it('signs what that library signs', () => {
    const expected = new Webhook(secret).sign('019cebdc-9a10', new Date(1_773_480_413_000), delivery.body);
    expect(signDelivery(delivery)).toEqual({
      'webhook-id': '019cebdc-9a10',
      'webhook-timestamp': '1773480413',
      'webhook-signature': expected,
    });
    expect(signDelivery({ ...delivery, body: Buffer.from(delivery.body) })['webhook-signature']).toBe(
      expected,
    );
  });

  it('satisfies holders of either secret during a rotation', () => {
    const old = makeSigningSecret();
    const now = Math.floor(Date.now() / 1000);
    const headers = { ...signDelivery({ ...delivery, timestampSeconds: now, secrets: [secret, old] }) };
    expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    for (const holder of [secret, old])
      expect(new Webhook(holder).verify(delivery.body, headers)).toEqual({ a: 'é' });
  });

  it.each([
    ['no secret', { secrets: [] }, 'signing_secret_invalid'],
    ['a secret without its prefix', { secrets: [secret.slice(6)] }, 'signing_secret_invalid'],
    ['a secret that is not base64', { secrets: ['whsec_*'] }, 'signing_secret_invalid'],
    [
      'a short secret',
      { secrets: [`whsec_${Buffer.alloc(23).toString('base64')}`] },
      'signing_secret_invalid',
    ],
    [
      'a long secret',
      { secrets: [`whsec_${Buffer.alloc(65).toString('base64')}`] },
      'signing_secret_invalid',
    ],
    ['an id with a full stop', { deliveryId: 'a.b' }, 'delivery_invalid'],
    ['no id', { deliveryId: '' }, 'delivery_invalid'],
    ['a part of a second', { timestampSeconds: 1.5 }, 'delivery_invalid'],
  ])('refuses %s', (_what, change, code) => {
    expect(() => signDelivery({ ...delivery, ...change })).toThrow(expect.objectContaining({ code }));
  });
});

describe('makeSigningSecret', () => {
  it('is whsec_ and 32 random bytes in base64', () => {
    expect(makeSigningSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(makeSigningSecret()).not.toBe(makeSigningSecret());
    expect(makeSigningSecret((lengthBytes) => Buffer.alloc(lengthBytes, 1))).toBe(secret);
  });
});
