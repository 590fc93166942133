import { describe, expect, test } from 'vitest';
import { estimatedMs } from '../../src/conversation/speech/spokenText.ts';
import type { TextStream } from '../../src/conversation/streams/textStream.ts';
import type { CurrentNode } from '../../src/engine/turn/delivery.ts';
import type { SpokenAnswer } from '../../src/models/ports/chatModel.ts';
import { TextSpeech } from '../../src/text/textSpeech.ts';
import { unused } from '../support/unused.ts';

const START_MS = 1000;
/** Of a gateway, before its first sound. */
const SYNTHESIS_MS = 700;
const SENTENCE = 'One two three four five six seven eight nine ten.';
const SPOKEN_MS = Math.ceil(estimatedMs(SENTENCE));

/** An answer that a gateway speaks, at times of our own. */
function scene() {
  const parts: { text: string; isLast: boolean; language: string | undefined; interruptible: boolean }[] = [];
  const told: unknown[] = [];
  const clock = { nowMs: START_MS };
  const speech = new TextSpeech({
    stream: unused<TextStream>('stream', {
      say: (part) => void parts.push(part),
      info: { provider: 'gateway' } as never,
    }),
    languageTag: (language) => language && `${language}-XX`,
    nowMs: () => clock.nowMs,
    onFirstSentence: () => undefined,
    onFirstSamples: () => void told.push('sent'),
    onStarted: (at) => void told.push(at),
    onFailure: () => undefined,
  });
  let ended: string | undefined;
  void speech.playout.ended.then((outcome) => {
    ended = outcome;
  });
  return {
    clock,
    parts,
    speech,
    told,
    texts: () => parts.map(({ text }) => text),
    async ended() {
      await undefined;
      return ended;
    },
  };
}

describe('The words of an answer', () => {
  test('are sent whole, in the manner of their node, and end with an empty part', () => {
    const { clock, parts, speech, told } = scene();
    expect([speech.hasBegun, speech.provider, speech.isInterruptible]).toEqual([false, undefined, true]);
    speech.write('Hel');
    expect([parts, told, speech.hasBegun]).toEqual([[], [], false]);
    speech.write('lo there');
    expect([speech.hasBegun, speech.provider]).toEqual([true, 'gateway']);
    speech.useVoiceOf({ language: 'es' } as CurrentNode);
    speech.enterNode({ interruptible: false } as Parameters<TextSpeech['enterNode']>[0]);
    clock.nowMs += 100;
    speech.finish();
    expect(parts).toEqual([
      { text: 'Hello ', isLast: false, language: undefined, interruptible: true },
      { text: 'there', isLast: false, language: 'es-XX', interruptible: false },
      { text: '', isLast: true, language: 'es-XX', interruptible: false },
    ]);
    expect(told).toEqual(['sent', { streamMs: START_MS, bufferDelayMs: 0 }]);
    expect([speech.isFinished, speech.isInterruptible]).toEqual([true, false]);
  });

  test.each([
    ['texts are parted by a space', ['One.', 'Two.'], 'One. Two.'],
    ['a space of their own is enough', ['One. ', 'Two.'], 'One. Two.'],
    ['or one of the next', ['One.', ' Two.'], 'One. Two.'],
    ['none stands before the first', ['Two.'], 'Two.'],
  ])('of several texts: %s', (_what, written, expected) => {
    const { speech, texts } = scene();
    for (const text of written) {
      speech.writeSpoken(text);
      speech.completeText();
    }
    expect(texts().join('')).toBe(expected);
    expect(speech.heardText()).toBe('');
  });

  test('of a script without spaces go on without one', () => {
    const { speech, texts } = scene();
    for (const text of ['你好，', '請問', '幾位？']) speech.write(text);
    speech.finish();
    expect(texts().join('')).toBe('你好，請問幾位？');
  });

  test('go on after a sentence that is said between them', () => {
    const { speech, texts } = scene();
    speech.write('It is on the w');
    speech.say('');
    speech.say('One moment.');
    speech.write('ay.');
    speech.finish();
    expect(texts()).toEqual(['It is on the ', 'One moment.', ' way.', '']);
  });

  test('have no Markdown, whose marks count at the start of a line alone', () => {
    const { speech, texts } = scene();
    for (const text of ['- Five\n', '- six ', '- seven ', '\n', '- eight']) {
      speech.write(text);
      speech.completeText();
    }
    expect(texts().join('').replaceAll(/\s+/g, ' ')).toBe('Five six - seven eight');
  });

  test('are no more after its end', async () => {
    const { ended, parts, speech } = scene();
    speech.write('One. ');
    speech.finish();
    const before = parts.length;
    speech.write('Two. ');
    speech.say('Three.');
    speech.completeText();
    speech.finish();
    expect(parts).toHaveLength(before);
    speech.assumePlayed();
    speech.stop();
    speech.interruptedAt({ text: '', ms: 0 });
    speech.onPlayed('nothing');
    expect([await ended(), speech.heardText(), speech.heard]).toEqual(['played', 'One. ', 'estimated']);
  });

  test('that are none end the answer at once', async () => {
    const { ended, parts, speech } = scene();
    speech.write('**');
    speech.finish();
    expect([await ended(), parts]).toEqual(['played', []]);
  });

  test('of a model’s own voice are not played', () => {
    const heard: number[] = [];
    const { speech } = scene();
    speech.play({ truncate: (ms: number) => void heard.push(ms) } as unknown as SpokenAnswer);
    expect(heard).toEqual([0]);
  });
});

describe('What was heard of an answer', () => {
  test('is estimated by the pace of voices, from the gateway’s first sound on', async () => {
    const { clock, ended, speech } = scene();
    expect([speech.heardText(), speech.heardMs()]).toEqual(['', 0]);
    speech.write(SENTENCE);
    speech.completeText();
    clock.nowMs += SYNTHESIS_MS - 100;
    expect([speech.heardText(), speech.heardMs()]).toEqual(['', 0]);
    clock.nowMs += 100 + SPOKEN_MS / 2;
    expect([speech.heardText(), speech.heardMs()]).toEqual(['One two three four five', SPOKEN_MS / 2]);
    speech.stop();
    speech.stop();
    clock.nowMs += SPOKEN_MS;
    expect([await ended(), speech.heardText(), speech.heard]).toEqual([
      'stopped',
      'One two three four five',
      'estimated',
    ]);
    speech.assumePlayed();
    expect(speech.heardText()).toBe('One two three four five');
  });

  test('is all of it once a slow voice has spoken it, and not before it is finished', async () => {
    const { clock, ended, speech } = scene();
    speech.write(SENTENCE);
    speech.completeText();
    const spokenMs = START_MS + SYNTHESIS_MS + estimatedMs(SENTENCE) * 1.25;
    clock.nowMs = spokenMs - 1;
    expect(speech.isStarved).toBe(false);
    clock.nowMs = spokenMs;
    expect(speech.isStarved).toBe(true);
    speech.onFrame();
    speech.assumePlayed();
    expect(await ended()).toBeUndefined();
    // The next words are spoken from now on.
    clock.nowMs += 5000;
    speech.say(SENTENCE);
    expect(speech.isStarved).toBe(false);
    speech.finish();
    clock.nowMs += estimatedMs(` ${SENTENCE}`) * 1.25 - 1;
    speech.onFrame();
    expect([await ended(), speech.isStarved]).toEqual([undefined, false]);
    clock.nowMs += 1;
    expect(speech.isStarved).toBe(false);
    speech.onFrame();
    expect(await ended()).toBe('played');
    expect(speech.heardText()).toBe(`${SENTENCE} ${SENTENCE}`);
  });

  test('is what the gateway reports to have spoken, and all of it with the last part', async () => {
    const { ended, speech } = scene();
    speech.write('Hello there. How are you?');
    speech.completeText();
    speech.onPlayed('Hello there.');
    expect([speech.heardText(), speech.heard]).toEqual(['Hello there.', undefined]);
    speech.onPlayed('How are you?');
    expect(await ended()).toBeUndefined();
    speech.finish();
    speech.onPlayed('');
    expect(await ended()).toBe('played');
  });

  test('is what the gateway reports of an interruption', async () => {
    const { clock, ended, speech } = scene();
    speech.write(SENTENCE);
    clock.nowMs += SYNTHESIS_MS + SPOKEN_MS;
    speech.interruptedAt({ text: 'one two three', ms: 460 });
    expect([speech.heardText(), speech.heardMs(), speech.heard]).toEqual(['One two three', 460, undefined]);
    speech.onClosed();
    speech.onPlayed(SENTENCE);
    speech.interruptedAt({ text: 'one', ms: 10 });
    speech.write('Eleven. ');
    expect([await ended(), speech.heardText(), speech.isStarved]).toEqual([
      'stopped',
      'One two three',
      false,
    ]);
  });
});
