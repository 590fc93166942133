import { expect, test } from 'vitest';

import { createApiAuthenticator } from '../../../src/agents/accounts/apiAuthenticator.ts';
import { makeApiKey } from '../../../src/agents/accounts/apiKey.ts';
import type { KeyPrincipal } from '../../../src/agents/accounts/principal.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

test('A key stays known after its cache entry expired or revocations were missed, until it is revoked', async () => {
  const clock = createSimulatedClock();
  const { key, digest, hint } = makeApiKey('developer');
  const principal: KeyPrincipal = { kind: 'developer', projectId: 'p', keyId: 'k', hint, scopes: ['read'] };
  const stored = new Map([[digest, principal]]);
  let revoke: (digests: readonly string[]) => void = () => undefined;
  let disconnect: () => void = () => undefined;
  const authenticator = createApiAuthenticator({
    findByDigest: async (wanted) => stored.get(wanted),
    markUsed: async () => undefined,
    revocations: {
      isConnected: () => true,
      listen(onRevoked, onDisconnected) {
        [revoke, disconnect] = [onRevoked, onDisconnected];
        return () => undefined;
      },
      announce: async () => undefined,
    },
    adminToken: 'the-token-of-the-operator',
    clock,
    onError: () => undefined,
  });
  expect(authenticator.isKnown(key)).toBe(false);
  await authenticator.authenticate(key);
  clock.advance(3_600_000);
  expect([authenticator.authenticateFromCache(key), authenticator.isKnown(key)]).toEqual([undefined, true]);

  await authenticator.authenticate(key);
  disconnect();
  expect([authenticator.authenticateFromCache(key), authenticator.isKnown(key)]).toEqual([undefined, true]);

  await authenticator.authenticate(key);
  revoke([digest]);
  expect(authenticator.isKnown(key)).toBe(false);

  // A revocation that was missed is seen by the next lookup.
  await authenticator.authenticate(key);
  disconnect();
  stored.clear();
  expect(await authenticator.authenticate(key)).toBeUndefined();
  expect(authenticator.isKnown(key)).toBe(false);
  await authenticator.close();
});
