import { createHmac, randomBytes } from 'node:crypto';
import { CallwayError } from '../base/errors.ts';

const SECRET_PREFIX = 'whsec_';
/** As long as the hash's output; more would add nothing. Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32;
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export interface Delivery {
  /** The `deliveryId` of the body; the same at every sending of one event. Without a full stop, which separates. */
  readonly deliveryId: string;
  /** Of this sending, in seconds since the Unix epoch. */
  readonly timestampSeconds: number;
  /** Exactly the bytes that are sent; a string is sent as UTF-8. */
  readonly body: string | Uint8Array;
  /** Each signs: two during the 24 hours after a rotation. At least one. */
  readonly secrets: readonly string[];
}

export interface SignatureHeaders {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

/**
 * Signs a delivery by HMAC-SHA256, so that its receiver knows who sent it, and when.
 *
 * @throws {CallwayError} `signing_secret_invalid` when there is no secret or one is malformed, `delivery_invalid` when
 *   the id is empty or holds a full stop, or the time is no whole number.
 * @see https://www.standardwebhooks.com, "Signature scheme"
 */
export function signDelivery(delivery: Delivery): SignatureHeaders {
  const { deliveryId, timestampSeconds, body, secrets } = delivery;
  if (deliveryId === '' || deliveryId.includes('.') || !Number.isSafeInteger(timestampSeconds)) {
    throw new CallwayError(
      'internal',
      'delivery_invalid',
      'a delivery needs an id without . and whole seconds',
    );
  }
  if (secrets.length === 0) throw badSecret('there is none');
  const signatures = secrets.map((secret) => {
    const mac = createHmac('sha256', keyOf(secret)).update(`${deliveryId}.${timestampSeconds}.`).update(body);
    return `v1,${mac.digest('base64')}`;
  });
  return {
    'webhook-id': deliveryId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

/** Makes a new signing secret: `whsec_` and 32 random bytes in base64. */
export function makeSigningSecret(random: (lengthBytes: number) => Buffer = randomBytes): string {
  return `${SECRET_PREFIX}${random(SECRET_BYTES).toString('base64')}`;
}

function keyOf(secret: string): Buffer {
  if (!secret.startsWith(SECRET_PREFIX)) throw badSecret(`it does not begin with ${SECRET_PREFIX}`);
  const encoded = secret.slice(SECRET_PREFIX.length);
  if (!BASE64.test(encoded)) throw badSecret('it is not base64');
  const key = Buffer.from(encoded, 'base64');
  if (key.length < MIN_SECRET_BYTES || key.length > MAX_SECRET_BYTES) {
    throw badSecret(`it has ${key.length} bytes, not ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES}`);
  }
  return key;
}

function badSecret(why: string): CallwayError {
  return new CallwayError(
    'internal',
    'signing_secret_invalid',
    `the webhook's signing secret cannot sign: ${why}`,
  );
}
