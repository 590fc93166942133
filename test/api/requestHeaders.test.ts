import { expect, test } from 'vitest';

import { preferredLocale } from '../../src/api/requestHeaders.ts';

test.each([
  [undefined, 'en'],
  ['*', 'en'],
  ['zh-Hant-HK,zh;q=0.9,en;q=0.8', 'zh-TW'],
  ['en;q=0.3, ZH;q=0.5', 'zh-TW'],
  ['fr-FR, en-GB;q=0.7, zh;q=0.2', 'en'],
  ['zh;q=0', 'en'],
  [';q=,,zh;q=much', 'en'],
])('Of English and Chinese, Accept-Language %j prefers %s', (header, locale) => {
  expect(preferredLocale(header, ['en', 'zh-TW'])).toBe(locale);
});
