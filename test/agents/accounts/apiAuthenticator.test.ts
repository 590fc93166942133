import { expect, test } from 'vitest';

import { createApiAuthenticator } from '../../../src/agents/accounts/apiAuthenticator.ts';
import { makeApiKey } from '../../../src/agents/accounts/apiKey.ts';
import type { KeyPrincipal, WidgetPrincipal } from '../../../src/agents/accounts/principal.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

/** An authenticator that knows one key, and the announcements of revoked keys. */
function scene() {
  const clock = createSimulatedClock();
  const { key, digest, hint } = makeApiKey('developer');
  const principal: KeyPrincipal = { kind: 'developer', projectId: 'p', keyId: 'k', hint, scopes: ['read'] };
  const stored = new Map([[digest, principal]]);
  const announcements = {
    isConnected: true,
    revoke: (_digests: readonly string[]): void => undefined,
    disconnect: (): void => undefined,
  };
  const database = { lookups: 0, answer: Promise.resolve(), isAway: false };
  const uses: ReadonlyMap<string, Date>[] = [];
  const errors: unknown[] = [];
  let isListening = true;
  const token = makeApiKey('widget');
  const widget = { kind: 'widget', keyId: 'w', projectId: 'p' } as WidgetPrincipal;
  const authenticator = createApiAuthenticator({
    async findByDigest(wanted) {
      const found = stored.get(wanted);
      database.lookups += 1;
      await database.answer;
      return found;
    },
    findWidgetToken: async (wanted) => (wanted === token.digest ? widget : undefined),
    async markUsed(used) {
      if (database.isAway) throw new Error('away');
      uses.push(used);
    },
    revocations: {
      isConnected: () => announcements.isConnected,
      listen(onRevoked, onDisconnected) {
        announcements.revoke = onRevoked;
        announcements.disconnect = onDisconnected;
        return () => {
          isListening = false;
        };
      },
      announce: async () => undefined,
    },
    adminToken: 'the-token-of-the-operator',
    clock,
    onError: (error) => errors.push(error),
  });
  const known = { clock, key, digest, principal, stored, token, widget };
  return { ...known, announcements, database, authenticator, uses, errors, isListening: () => isListening };
}

test('A key stays known after its cache entry expired or revocations were missed, until it is revoked', async () => {
  const { authenticator, announcements, clock, digest, key, stored } = scene();
  expect(authenticator.isKnown(key)).toBe(false);
  await authenticator.authenticate(key);
  clock.advance(3_600_000);
  expect([authenticator.authenticateFromCache(key), authenticator.isKnown(key)]).toEqual([undefined, true]);

  await authenticator.authenticate(key);
  announcements.disconnect();
  expect([authenticator.authenticateFromCache(key), authenticator.isKnown(key)]).toEqual([undefined, true]);

  await authenticator.authenticate(key);
  announcements.revoke([digest]);
  expect(authenticator.isKnown(key)).toBe(false);

  // A revocation that was missed is seen by the next lookup.
  await authenticator.authenticate(key);
  announcements.disconnect();
  stored.clear();
  expect(await authenticator.authenticate(key)).toBeUndefined();
  expect(authenticator.isKnown(key)).toBe(false);
  await authenticator.close();
});

test('Every key is looked up again once revocations were missed, and a revocation forgets its keys alone', async () => {
  const { authenticator, announcements, digest, key, principal, stored } = scene();
  const others = Array.from({ length: 3 }, () => makeApiKey('developer'));
  for (const other of others) stored.set(other.digest, principal);
  const keys = [key, ...others.map((other) => other.key)];
  for (const one of keys) await authenticator.authenticate(one);

  // With more than one key this once never returned.
  announcements.disconnect();
  expect(keys.map(authenticator.authenticateFromCache)).toEqual(keys.map(() => undefined));

  for (const one of keys) await authenticator.authenticate(one);
  announcements.revoke([digest, others[1]?.digest ?? '']);
  expect(keys.map(authenticator.isKnown)).toEqual([false, true, false, true]);
  await authenticator.close();
});

test('While revocations are not heard, each request looks its key up', async () => {
  const { authenticator, announcements, database, key, principal, stored } = scene();
  await authenticator.authenticate(key);
  expect(await authenticator.authenticate(key)).toEqual(principal);
  expect(database.lookups).toBe(1);

  announcements.isConnected = false;
  expect(authenticator.authenticateFromCache(key)).toBeUndefined();
  expect(await authenticator.authenticate(key)).toEqual(principal);
  expect(await authenticator.authenticate(key)).toEqual(principal);
  expect(database.lookups).toBe(3);
  stored.clear();
  expect(await authenticator.authenticate(key)).toBeUndefined();
  await authenticator.close();
});

test.each(['is revoked', 'may have been revoked unheard'])(
  'A key that %s during its lookup is not cached',
  async (what) => {
    const { authenticator, announcements, database, digest, key, stored } = scene();
    let answer = (): void => undefined;
    database.answer = new Promise((resolve) => {
      answer = resolve;
    });
    const first = authenticator.authenticate(key);
    stored.clear();
    if (what === 'is revoked') announcements.revoke([digest]);
    else announcements.disconnect();
    answer();
    await first;
    expect(authenticator.authenticateFromCache(key)).toBeUndefined();
    expect(await authenticator.authenticate(key)).toBeUndefined();
    await authenticator.close();
  },
);

test('The operator is known by the admin token alone, and a widget by its token', async () => {
  const { authenticator, database, token, widget } = scene();
  expect(authenticator.authenticateFromCache('the-token-of-the-operator')).toEqual({ kind: 'admin' });
  expect(await authenticator.authenticate('the-token-of-the-operator')).toEqual({ kind: 'admin' });
  expect(await authenticator.authenticate('the-token-of-the-operatoR')).toBeUndefined();
  expect(await authenticator.authenticate(token.key)).toEqual(widget);
  expect(authenticator.authenticateFromCache(token.key)).toEqual(widget);
  expect(database.lookups).toBe(0);
  await authenticator.close();
});

test('A key is trusted for 30 seconds without a look-up', async () => {
  const { authenticator, clock, database, key, principal } = scene();
  await authenticator.authenticate(key);
  clock.advance(29_999);
  expect(authenticator.authenticateFromCache(key)).toEqual(principal);
  clock.advance(1);
  expect(authenticator.authenticateFromCache(key)).toBeUndefined();
  expect(await authenticator.authenticate(key)).toEqual(principal);
  expect(database.lookups).toBe(2);
  await authenticator.close();
});

test('The last use of each key, not of widgets, is stored every five seconds and at a stop', async () => {
  const { authenticator, clock, database, errors, isListening, key, token, uses } = scene();
  const start = clock.now();
  await authenticator.authenticate(key);
  clock.advance(1_000);
  await authenticator.authenticate(key);
  await authenticator.authenticate(token.key);
  clock.advance(4_000);
  await settle();
  expect(uses).toEqual([new Map([['k', new Date(start + 1_000)]])]);
  clock.advance(5_000);
  await settle();
  expect(uses).toHaveLength(1);
  await authenticator.authenticate(key);
  await Promise.all([authenticator.close(), authenticator.close()]);
  expect([uses.length, clock.pendingTimers(), isListening()]).toEqual([2, 0, false]);

  const failing = scene();
  failing.database.isAway = true;
  await failing.authenticator.authenticate(failing.key);
  await failing.authenticator.close();
  expect([database.isAway, errors, failing.errors]).toEqual([false, [], [new Error('away')]]);
});

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
