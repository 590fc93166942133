import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkTarget, targetUrlSchema } from '../../src/http/target.ts';

const strict = { allowInsecureLoopback: false };
const development = { allowInsecureLoopback: true };
const codeOf = (...args: Parameters<typeof checkTarget>) => checkTarget(...args)?.code;

describe('checkTarget', () => {
  it.each([
    ['https://example.com/hook', undefined],
    ['https://example.com', undefined],
    ['HTTPS://EXAMPLE.COM:8443/hook?token=1#part', undefined],
    ['https://bücher.example/hook', undefined],
    ['https://a_b.example.com./', undefined],
    ['https://8.8.8.8/', undefined],
    ['https://[2606:4700:4700::1111]/', undefined],
    ['http://example.com/', 'target_not_https'],
    ['http://10.0.0.1/', 'target_not_https'],
    ['http://127.0.0.1/', 'target_not_https'],
    ['ftp://example.com/', 'target_not_https'],
    ['javascript:alert(1)', 'target_not_https'],
    ['file:///etc/passwd', 'target_not_https'],
    ['https://user:secret@example.com/', 'target_has_credentials'],
    ['https://user@example.com/', 'target_has_credentials'],
    ['https://:secret@example.com/', 'target_has_credentials'],
    ['https://10.0.0.1/', 'target_private_address'],
    ['https://169.254.169.254/latest/meta-data', 'target_private_address'],
    ['https://2130706433/', 'target_private_address'],
    ['https://0177.0.0.1/', 'target_private_address'],
    ['https://0x7f.1/', 'target_private_address'],
    ['https://127.1/', 'target_private_address'],
    ['https://[::ffff:10.0.0.1]/', 'target_private_address'],
    ['https://[fd00::1]/', 'target_private_address'],
    ['https://localhost/', 'target_private_address'],
    ['https://a.localhost./', 'target_private_address'],
    ['https://localhost./', 'target_private_address'],
    ['https://0.0.0.0/', 'target_private_address'],
    ['https://0/', 'target_private_address'],
    ['https://[::]/', 'target_private_address'],
    ['https://[::1]/', 'target_private_address'],
    ['https://[::ffff:127.0.0.1]/', 'target_private_address'],
    ['https://[::127.0.0.1]/', 'target_private_address'],
    ['https://[64:ff9b::127.0.0.1]/', 'target_private_address'],
    ['https://[64:ff9b::a9fe:a9fe]/', 'target_private_address'],
    ['https://[64:ff9b:1::a9fe:a9fe]/', 'target_private_address'],
    ['https://[2002:a9fe:a9fe::]/', 'target_private_address'],
    ['https://[fe80::1]/', 'target_private_address'],
    ['https://0xa9.0xfe.0xa9.0xfe/', 'target_private_address'],
    ['https://0251.0376.0251.0376/', 'target_private_address'],
    ['https://2852039166/', 'target_private_address'],
    ['https://169.254.43518/', 'target_private_address'],
    ['https://１６９.254.169.254/', 'target_private_address'],
    ['https://169.254.169.254./', 'target_private_address'],
    ['https://%31%36%39.254.169.254/', 'target_private_address'],
    ['', 'target_invalid_url'],
    ['example.com/hook', 'target_invalid_url'],
    ['/hook', 'target_invalid_url'],
    ['https://', 'target_invalid_url'],
    ['https://example.com:0/', 'target_invalid_url'],
    ['https://exa mple.com/', 'target_invalid_url'],
    ['https://exa\nmple.com/', 'target_invalid_url'],
    [' https://example.com/', 'target_invalid_url'],
    ['https://example.com\\@10.0.0.1/', 'target_invalid_url'],
    ['https://example.com:99999/', 'target_invalid_url'],
    ['https://[fe80::1%25eth0]/', 'target_invalid_url'],
    ['https://a..b/', 'target_invalid_url'],
    ['https://{host}/', 'target_invalid_url'],
    ['https://example.com/{{ id }}', 'target_invalid_url'],
    [`https://example.com/${'a'.repeat(2048 - 20)}`, undefined],
    [`https://example.com/${'a'.repeat(2049 - 20)}`, 'target_invalid_url'],
  ])('classifies %j as %s', (url, expected) => {
    expect(codeOf(url, strict)).toBe(expected);
  });

  it.each([
    ['http://127.0.0.1:8080/hook', undefined],
    ['http://localhost:8080/hook', undefined],
    ['http://[::1]/', undefined],
    ['https://localhost/', undefined],
    ['https://127.0.0.1/', undefined],
    ['http://example.com/', 'target_not_https'],
    ['http://10.0.0.1/', 'target_not_https'],
    ['http://0.0.0.0/', 'target_not_https'],
    ['https://10.0.0.1/', 'target_private_address'],
  ])('classifies %s as %s when insecure loopback is allowed', (url, expected) => {
    expect(codeOf(url, development)).toBe(expected);
  });

  it.each([
    ['https://example.com/orders/{{ order.id }}', undefined],
    ['https://example.com?q={{ a | escape }}&r={% if b %}1{% endif %}', undefined],
    ['https://{{ host }}/', 'target_invalid_url'],
    ['https://{{host}}.example.com/', 'target_invalid_url'],
    ['https://example.com{{ path }}', 'target_invalid_url'],
    ['https://example.com:{{ port }}/', 'target_invalid_url'],
    ['https://{% if a %}x{% endif %}.com/', 'target_invalid_url'],
    ['{{ url }}', 'target_invalid_url'],
    ['https:{{ rest }}', 'target_invalid_url'],
    ['https://example.com/{{ id', 'target_invalid_url'],
    ['https://example.com/{{ a }} b', 'target_invalid_url'],
    ['https://10.0.0.1/{{ id }}', 'target_private_address'],
    ['https://me:{{ secret }}@example.com/', 'target_invalid_url'],
    ['https://me:secret@example.com/{{ id }}', 'target_has_credentials'],
  ])('classifies %j as %s when templates are allowed', (url, expected) => {
    expect(codeOf(url, strict, { allowTemplates: true })).toBe(expected);
  });

  it('never repeats the URL, which may contain a token', () => {
    const error = checkTarget('https://user:hunter2@example.com/?token=abc', strict);
    expect(error?.message).not.toMatch(/hunter2|abc/);
    expect(error).toMatchObject({ category: 'invalid', name: 'EgressError' });
  });
});

describe('targetUrlSchema', () => {
  it('reports the code and the message once', () => {
    const result = targetUrlSchema(strict).safeParse('http://example.com/');
    expect(result.error?.issues).toEqual([
      expect.objectContaining({
        message: 'the URL must begin with https://',
        params: { code: 'target_not_https' },
      }),
    ]);
    expect(targetUrlSchema(strict).safeParse(`https://a/${'b'.repeat(3000)}`).error?.issues).toHaveLength(1);
  });

  it('returns a valid URL unchanged and describes itself for OpenAPI', () => {
    const schema = targetUrlSchema(development, { allowTemplates: true });
    expect(schema.parse('http://localhost:1/{{ id }}')).toBe('http://localhost:1/{{ id }}');
    expect(z.toJSONSchema(schema)).toMatchObject({ type: 'string', maxLength: 2048 });
  });
});
