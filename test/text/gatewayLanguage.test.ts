import { expect, test } from 'vitest';
import { GatewayLanguage } from '../../src/text/gatewayLanguage.ts';

/** A gateway's language after these steps, with the tags that it was told to speak. */
function gateway(...steps: ((language: GatewayLanguage) => void)[]) {
  const told: string[] = [];
  const language = new GatewayLanguage((tag) => void told.push(tag));
  for (const step of steps) step(language);
  return { told, tagOf: (tag?: string) => language.tagOf(tag) };
}
const heard = (tag?: string) => (language: GatewayLanguage) => language.heard(tag);
const speak = (tag?: string) => (language: GatewayLanguage) => language.speak(tag);

test.each<[string, Parameters<typeof gateway>, string[]]>([
  ['is told nothing where it speaks the first language', [speak('en'), speak('en-GB'), speak(undefined)], []],
  ['is told each change once', [speak('en'), speak('es'), speak('es'), speak('en')], ['es', 'en']],
  [
    'is told the tags by which it has heard a language',
    [heard('es-MX'), heard(undefined), speak('en'), speak('es')],
    ['es-MX'],
  ],
])('A gateway %s', (_what, steps, told) => {
  expect(gateway(...steps).told).toEqual(told);
});

test.each<[string, Parameters<typeof gateway>, string | undefined, string | undefined]>([
  ['what it heard last, where nothing says', [heard('es-MX'), heard('fr-CA')], undefined, 'fr-CA'],
  ['nothing before it has heard anything', [], undefined, undefined],
  ['nothing of the language that it began with', [speak('en')], 'en', undefined],
  ['the tag that it has heard', [speak('en'), heard('en-IN')], 'en', 'en-IN'],
  ['the language itself otherwise', [speak('en')], 'de', 'de'],
])('The tag of a language is %s', (_what, steps, language, tag) => {
  expect(gateway(...steps).tagOf(language)).toBe(tag);
});
