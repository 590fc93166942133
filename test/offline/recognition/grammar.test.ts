import { describe, expect, test } from 'vitest';
import { answerGrammar, answerIn, spokenForm } from '../../../offline/recognition/grammar.ts';

const isKnown = (word: string) => !['callway', 'um', 'uh', 'well', 'oh', 'thanks'].includes(word);

describe('answerGrammar', () => {
  test('has each phrase of known words once, between optional fillers', () => {
    expect(answerGrammar(['Yes!', 'no', 'YES', 'Callway, please'], isKnown)).toMatchObject({
      text: expect.stringMatching(
        /\n<phrase> = yes \| no;\n<tail> = please \| thank you;\n<answer> = \/1\/ <phrase> \| \/0\.0+25\/ <phrase> <tail>;\n/,
      ),
      words: new Set(['yes', 'no', 'please', 'thank', 'you']),
    });
  });

  test('has a pronunciation of each sound beside the answers', () => {
    const { text = '', sounds = [] } = answerGrammar(['yes'], isKnown) ?? {};
    const named = new Set(text.match(/sound_\w+/g));
    expect(named.size).toBe(40);
    expect(new Set(sounds.map((line) => line.split(' ')[0]))).toEqual(named);
  });

  test.each([[[]], [['Callway']], [['是']], [['…']]])('is undefined for %j', (answers) => {
    expect(answerGrammar(answers, (word) => /^[a-z']+$/.test(word) && isKnown(word))).toBeUndefined();
  });
});

test.each([
  ['yes please', 'yes please'],
  ['sound_p sound_f sound_dh yes sound_p', 'yes'],
  ['sound_p sound_f sound_dh sound_s yes', ''],
  ['yes sound_s sound_p sound_f', ''],
  ['sound_ay yes', ''],
  ['yes sound_f sound_iy', ''],
  ['sound_w sound_ah sound_t', ''],
  ['sound_f', ''],
  ['', ''],
])('answerIn(%j) is %j', (words, answer) => expect(answerIn(words)).toBe(answer));

test.each([
  ['Table 4', 'table four'],
  ['20', 'twenty'],
  ['42', 'forty two'],
  ['07', 'zero seven'],
  ['110', 'one one zero'],
  ['I don’t know.', "i don't know"],
  ['x; public <y> = z', 'x public y z'],
])('spokenForm(%j) is %j', (phrase, words) => expect(spokenForm(phrase)).toBe(words));
