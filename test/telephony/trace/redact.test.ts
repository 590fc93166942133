import { expect, test } from 'vitest';
import { redactSip } from '../../../src/telephony/trace/redact.ts';

test('credentials and keys are blanked, and nothing else', () => {
  const message = [
    'INVITE sip:a@b SIP/2.0',
    'Authorization: Digest username="u",',
    '  response="5ecre7"',
    'PROXY-AUTHORIZATION :Digest response="5ecre7"',
    'WWW-Authenticate: Digest realm="r",nonce="n"',
    'Call-ID: 1',
    '',
    'v=0',
    'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:5ecre7+/==|2^31|1:4 KDR=1',
    'a=crypto:2 X inline:5ecre7;inline:5ecre7|2:4',
    'a=sendrecv',
    '',
  ].join('\r\n');
  const shown = redactSip(message);
  expect(shown).not.toContain('5ecre7');
  expect(shown).toBe(
    [
      'INVITE sip:a@b SIP/2.0',
      'Authorization: Digest [redacted]',
      'PROXY-AUTHORIZATION :Digest [redacted]',
      'WWW-Authenticate: Digest realm="r",nonce="n"',
      'Call-ID: 1',
      '',
      'v=0',
      'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:[redacted]|2^31|1:4 KDR=1',
      'a=crypto:2 X inline:[redacted];inline:[redacted]|2:4',
      'a=sendrecv',
      '',
    ].join('\r\n'),
  );
});
