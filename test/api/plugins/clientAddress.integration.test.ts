import { describe, expect, test } from 'vitest';

import type { RateLimiter } from '../../../src/agents/accounts/rateLimiter.ts';
import { createTestApp } from '../support/testApp.ts';

const SOCKET = '127.0.0.1';

/** Records the addresses whose failures are counted; every address has used up its attempts. */
function exhausted() {
  const addresses: string[] = [];
  const limiter: RateLimiter = {
    take(key) {
      addresses.push(key.replace('failed:', ''));
      return { allowed: true };
    },
    isExhausted: () => ({ allowed: false, retryAfterSeconds: 60 }),
  };
  return { addresses, limiter };
}

describe('The address of a failed authentication', () => {
  test.each<[string, false | number | string[], string | undefined, string]>([
    ['is the connection’s without a proxy', false, '1.1.1.1', SOCKET],
    ['is the last one behind one proxy', 1, '6.6.6.6, 2.2.2.2', '2.2.2.2'],
    ['is the last but one behind two proxies', 2, '6.6.6.6, 3.3.3.3, 2.2.2.2', '3.3.3.3'],
    [
      'is the first untrusted one from the right',
      [SOCKET, '10.0.0.0/8'],
      '6.6.6.6, 4.4.4.4, 10.1.2.3',
      '4.4.4.4',
    ],
    ['is the connection’s where that is no proxy', ['10.0.0.0/8'], '1.1.1.1', SOCKET],
    ['is the connection’s where the proxy names none', 1, undefined, SOCKET],
    ['leaves out the port', 1, '2.2.2.2:51000', '2.2.2.2'],
    ['leaves out the port of an IPv6 address', 1, '[2001:db8:0:1::7]:51000', '2001:db8:0:1::'],
    ['is the IPv4 address that an IPv6 one maps', 1, '::ffff:2.2.2.2', '2.2.2.2'],
    ['is the network of 64 bits for IPv6', 1, '2001:DB8:0:1:aaaa::7', '2001:db8:0:1::'],
    ['is one for all that hide theirs', 1, '_hidden-7', 'unknown'],
  ])('%s', async (_, trustProxy, forwarded, address) => {
    const { addresses, limiter } = exhausted();
    const { app, close } = await createTestApp({ trustProxy }, { rateLimiter: limiter });
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    await app.inject({ url: '/v1/projects', headers, remoteAddress: SOCKET });
    expect(addresses).toEqual([address]);
    await close();
  });
});
