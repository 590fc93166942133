import { expect, test } from 'vitest';

import { consentOf } from '../../../src/voice/transfer/consent.ts';

test.each<[string, string, boolean | undefined]>([
  ['Yes.', 'en', true],
  ['Yeah, put them through.', 'en', true],
  ['No problem.', 'en', true],
  ['Sure, go ahead!', 'en', true],
  ['No, I am busy.', 'en', false],
  ['Sorry, I can’t.', 'en', false],
  ["I can't right now", 'en', false],
  ['I do not know', 'en', false],
  ['Hello?', 'en', undefined],
  ['Yesterday', 'en', undefined],
  ['', 'en', undefined],
  ['Ja, gerne.', 'de', true],
  ['Kein Problem', 'de-AT', true],
  ['Nein danke', 'de', false],
  ['Ich habe keine Zeit', 'de', false],
  ['好，接過來', 'zh-TW', true],
  ['沒問題', 'zh-TW', true],
  ['不好意思，我在忙', 'zh-TW', false],
  ['Sí, claro', 'es', true],
  ['Ahora no', 'es', false],
  ['Oui, bien sûr', 'fr', true],
  ['Pas maintenant', 'fr', false],
  ['Yes', 'ja', true],
  ['Ok', undefined as unknown as string, true],
])('“%s” in %s is %s', (text, language, expected) => {
  expect(consentOf(text, language)).toBe(expected);
});
