import { describe, expect, it } from 'vitest';

import { checkDrachtio } from '../../../src/cli/doctor/drachtio.ts';

const refusing = () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' }));

describe('The drachtio-server check', () => {
  const url = 'drachtio://:hidden@sip.test:9022';

  it('passes when the secret is accepted', async () => {
    const probe = async () =>
      ({ accepted: true, version: 'v0.9.9', endpoints: ['udp/10.0.0.1:5060'] }) as const;
    expect(await checkDrachtio(url, probe)).toEqual({
      name: 'SIP server',
      status: 'ok',
      message: 'drachtio://sip.test:9022, drachtio-server v0.9.9 on udp/10.0.0.1:5060',
    });
  });

  it('fails when the secret is refused or the server is unreachable, without showing the secret', async () => {
    const refused = await checkDrachtio(url, async () => ({ accepted: false, reason: 'incorrect secret' }));
    const away = await checkDrachtio(url, refusing);
    expect([refused, away]).toMatchObject([{ status: 'fail' }, { status: 'fail' }]);
    expect(JSON.stringify([refused, away])).not.toContain('hidden');
  });
});
