import { describe, expect, it } from 'vitest';
import { checkHeaders, targetHeadersSchema } from '../../src/http/headers.ts';

describe('checkHeaders', () => {
  it.each([
    ['Authorization', 'Bearer abc'],
    ['x-tab', 'a\tb'],
    ['x-latin', 'caf\u00e9'],
    ['x-empty', ''],
    ['User-Agent', 'mine'],
  ])('accepts %s: %j', (key, value) => {
    expect(checkHeaders([{ key, value }])).toBeUndefined();
  });

  it.each([
    ['Host', 'internal'],
    ['CONTENT-LENGTH', '0'],
    ['Transfer-Encoding', 'chunked'],
    ['Connection', 'upgrade'],
    ['Upgrade', 'websocket'],
    ['TE', 'trailers'],
    ['Expect', '100-continue'],
    ['Proxy-Authorization', 'x'],
    ['Accept-Encoding', 'gzip'],
    ['', 'x'],
    ['x y', 'x'],
    ['x:', 'x'],
    ['x\r\ny', 'x'],
    ['x', 'a\r\nHost: internal'],
    ['x', 'a\nb'],
    ['x', 'a\rb'],
    ['x', 'a\u0000b'],
    ['x', '\u4f60\u597d'],
    ['x', 'a'.repeat(4097)],
  ])('rejects %j: %j', (key, value) => {
    expect(checkHeaders([{ key, value }])).toMatchObject({
      code: 'target_header_invalid',
      category: 'invalid',
    });
  });

  it('rejects more than the maximum number of headers', () => {
    const headers = Array.from({ length: 51 }, (_, index) => ({ key: `x-${index}`, value: '' }));
    expect(checkHeaders(headers)?.code).toBe('target_header_invalid');
    expect(checkHeaders(headers.slice(1))).toBeUndefined();
  });

  it('never repeats a value, which may be a secret', () => {
    expect(checkHeaders([{ key: 'x', value: 'hunter2\n' }])?.message).not.toContain('hunter2');
  });
});

describe('targetHeadersSchema', () => {
  it('reports the path of the invalid header', () => {
    const result = targetHeadersSchema().safeParse([
      { key: 'x', value: '1' },
      { key: 'Host', value: 'internal' },
    ]);
    expect(result.error?.issues).toEqual([
      expect.objectContaining({
        path: [1],
        message: 'header Host is set by the service and cannot be given',
        params: { code: 'target_header_invalid' },
      }),
    ]);
  });

  it('rejects unknown fields', () => {
    expect(targetHeadersSchema().safeParse([{ key: 'x', value: '1', other: 1 }]).success).toBe(false);
  });
});
