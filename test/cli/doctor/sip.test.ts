import { expect, test } from 'vitest';

import { checkSipSettings, checkTrunks } from '../../../src/cli/doctor/sip.ts';

const settings = {
  SIP_HOST: '0.0.0.0',
  SIP_PORT: 5060,
  SIP_TLS_PORT: undefined,
  SIP_TLS_CERT_FILE: undefined,
  PUBLIC_IP: '198.51.100.7',
  DRACHTIO_URL: undefined,
};

test('SIP is shown with its port, its certificate and the address that peers are told', () => {
  const shown = checkSipSettings(settings, 0).map(({ name, status, message }) => [name, status, message]);
  expect(shown).toEqual([
    ['SIP port', 'ok', '0.0.0.0:5060 for UDP and TCP, no TLS'],
    ['SIP address', 'ok', 'peers are told 198.51.100.7'],
  ]);
  const secure = { ...settings, SIP_TLS_PORT: 5061, SIP_TLS_CERT_FILE: '/nowhere.pem' };
  expect(checkSipSettings(secure, 0)[1]).toMatchObject({
    name: 'SIP certificate',
    status: 'fail',
    message: expect.stringContaining('/nowhere.pem cannot be read'),
  });
  expect(checkSipSettings({ ...settings, DRACHTIO_URL: 'drachtio://:x@h:9022' }, 0)).toEqual([]);
});

const health = (change: object) => ({
  reachable: true,
  registered: true,
  lastOptionsMs: 3,
  channelsInUse: 0,
  error: null,
  ...change,
});
const trunk = (name: string, change: object, status = 'active') => ({
  name,
  host: 'sip.example.com',
  status,
  health: health(change),
});

test('Each active trunk is shown with its reachability, its registration and why it fails', async () => {
  const asked: string[] = [];
  const answers: Record<string, unknown> = {
    '/v1/projects': { data: [{ id: 'p', name: 'Clinic' }] },
    '/v1/projects/p/trunks': {
      data: [
        trunk('One', {}),
        trunk('Two', { registered: false, error: 'Registration refused: 403 Forbidden' }),
        trunk('Three', { reachable: null, registered: null }),
        trunk('Off', {}, 'inactive'),
      ],
    },
  };
  const fetchImpl = async (url: string | URL | Request, init?: RequestInit) => {
    const { pathname } = new URL(url instanceof Request ? url.url : url);
    asked.push(new Headers(init?.headers).get('authorization') ?? '');
    return Response.json(answers[pathname]);
  };
  const findings = await checkTrunks({ url: 'http://127.0.0.1:3000', token: 't' }, fetchImpl);
  expect(findings.map(({ status, message }) => [status, message])).toEqual([
    ['ok', 'One of Clinic at sip.example.com: reachable, registered'],
    [
      'warn',
      'Two of Clinic at sip.example.com: reachable, not registered (Registration refused: 403 Forbidden)',
    ],
    ['ok', 'Three of Clinic at sip.example.com: not checked yet'],
  ]);
  expect(new Set(asked)).toEqual(new Set(['Bearer t']));
  const away = async () => Promise.reject(new TypeError('fetch failed'));
  expect(await checkTrunks({ url: 'http://127.0.0.1:3000', token: 't' }, away)).toMatchObject([
    { name: 'trunks', status: 'warn' },
  ]);
});
