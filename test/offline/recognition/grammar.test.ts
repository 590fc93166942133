import { describe, expect, test } from 'vitest';
import { answerGrammar, spokenForm } from '../../../offline/recognition/grammar.ts';

const isKnown = (word: string) => !['callway', 'um', 'uh', 'well', 'oh', 'thanks'].includes(word);

describe('answerGrammar', () => {
  test('has each phrase of known words once, between optional fillers', () => {
    expect(answerGrammar(['Yes!', 'no', 'YES', 'Callway, please'], isKnown)).toEqual({
      text: '#JSGF V1.0;\ngrammar answers;\npublic <answer> = ( yes | no ) [ please | thank you ];\n',
      words: new Set(['yes', 'no', 'please', 'thank', 'you']),
    });
  });

  test.each([[[]], [['Callway']], [['是']], [['…']]])('is undefined for %j', (answers) => {
    expect(answerGrammar(answers, (word) => /^[a-z']+$/.test(word) && isKnown(word))).toBeUndefined();
  });
});

test.each([
  ['Table 4', 'table four'],
  ['20', 'twenty'],
  ['42', 'forty two'],
  ['07', 'zero seven'],
  ['110', 'one one zero'],
  ['I don’t know.', "i don't know"],
  ['x; public <y> = z', 'x public y z'],
])('spokenForm(%j) is %j', (phrase, words) => expect(spokenForm(phrase)).toBe(words));
