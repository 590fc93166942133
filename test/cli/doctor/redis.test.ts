import { describe, expect, it } from 'vitest';

import { checkRedis } from '../../../src/cli/doctor/redis.ts';

const refusing = () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' }));

describe('The Redis check', () => {
  const url = 'redis://user:hidden@cache.test:6379/1';
  const check = (version: string, evictionPolicy: string) =>
    checkRedis(url, { probe: async () => ({ version, evictionPolicy }), installed: async () => undefined });

  it.each([
    { version: '7.0.15', policy: 'noeviction', status: 'ok' },
    { version: '6.2.0', policy: 'noeviction', status: 'ok' },
    { version: '6.0.16', policy: 'noeviction', status: 'fail' },
    { version: '7.0.15', policy: 'allkeys-lru', status: 'fail' },
    { version: '7.0.15', policy: '', status: 'fail' },
  ])('reports $status for $version with $policy', async ({ version, policy, status }) => {
    expect(await check(version, policy)).toMatchObject({ status });
  });

  it('names an unreachable server without its password', async () => {
    const finding = await checkRedis(url, { probe: refusing, installed: async () => undefined });
    expect(finding).toMatchObject({
      status: 'fail',
      message: 'redis://cache.test:6379/1 cannot be used (connection refused)',
    });
    expect(JSON.stringify(finding)).not.toContain('hidden');
  });

  it.each([
    { installed: '7.0.15', status: 'ok' },
    { installed: '6.0.0', status: 'fail' },
    { installed: undefined, status: 'fail' },
  ])('reports $status for the installed version $installed', async ({ installed, status }) => {
    expect(await checkRedis(undefined, { probe: refusing, installed: async () => installed })).toMatchObject({
      status,
    });
  });
});
