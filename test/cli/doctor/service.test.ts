import { describe, expect, it } from 'vitest';

import { checkService } from '../../../src/cli/doctor/service.ts';
import { answering } from '../support.ts';

const refusing = () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' }));

describe('The service check', () => {
  it.each([
    {
      body: { status: 'ready', dependencies: { database: 'up' } },
      status: 'ok',
      isRunning: true,
      says: 'up: database',
    },
    {
      body: { status: 'draining', dependencies: {} },
      status: 'warn',
      isRunning: true,
      says: 'is shutting down',
    },
    {
      body: { status: 'not_ready', dependencies: { database: 'up', redis: 'down' } },
      status: 'fail',
      isRunning: true,
      says: 'down: redis',
    },
    { body: '<html>', status: 'fail', isRunning: false, says: 'another program responds' },
  ])('reports $status for the response $body', async ({ body, status, isRunning, says }) => {
    const result = await checkService('http://s.test', answering(200, body).fetch);
    expect(result).toMatchObject({ isRunning, finding: { status, message: expect.stringContaining(says) } });
  });

  it('passes when the service is not running', async () => {
    expect(await checkService('http://s.test', refusing as typeof fetch)).toMatchObject({
      isRunning: false,
      finding: { status: 'ok', message: expect.stringContaining('connection refused') },
    });
  });
});
