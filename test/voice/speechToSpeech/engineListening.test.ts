import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';

import type { Transcript } from '../../../src/models/ports/speechToText.ts';
import { EngineListening } from '../../../src/voice/speechToSpeech/engineListening.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const frame = (value: number) => new Int16Array(2).fill(value);

/** One utterance that a model hears, and a recognizer that answers when it is told to. */
function scene() {
  const clock = createSimulatedClock();
  const model: unknown[] = [];
  const heard: string[] = [];
  const interim: string[] = [];
  const transcribed: number[][] = [];
  const recognizer = { answer: (_text: string | Error) => {} };
  let isLost = false;
  let commits = 0;
  const listening = new EngineListening({
    name: 'engine',
    listener: () =>
      isLost
        ? undefined
        : {
            push: (samples) => void model.push(samples[0]),
            commit: () => {
              model.push('commit');
              return commits++;
            },
            discard: () => void model.push('discard'),
          },
    transcribe(frames, options) {
      expect(options.sampleRateHz).toBe(8000);
      transcribed.push(frames.map(([sample]) => sample ?? 0));
      return new Promise<Transcript>((resolve, reject) => {
        recognizer.answer = (text) => (text instanceof Error ? reject(text) : resolve({ text }));
      });
    },
    onHeard: (text) => heard.push(text),
    clock,
  });
  const stream = listening.openStream({ sampleRateHz: 8000, onInterim: (text) => interim.push(text) });
  const ending = new AbortController();
  /** Asks for the words, and tells what came of it. */
  function finalize() {
    const found = { result: undefined as Transcript | Error | undefined };
    stream.finalize(ending.signal).then(
      (transcript) => {
        found.result = transcript;
      },
      (error) => {
        found.result = error;
      },
    );
    return found;
  }
  return {
    clock,
    ending,
    finalize,
    heard,
    interim,
    listening,
    lose() {
      isLost = true;
      listening.onLost();
    },
    /** The connection is not there for what is done. */
    whileAway(act: () => void) {
      isLost = true;
      act();
      isLost = false;
    },
    model,
    recognize: (text: string | Error) => recognizer.answer(text),
    stream,
    transcribed,
    async pass(ms: number) {
      await settle();
      clock.advance(ms);
      await settle();
    },
  };
}

describe('What a model hears', () => {
  test('is the words of all commits of an utterance, which are told as they come', async () => {
    const { clock, ending, finalize, heard, interim, listening, model, stream } = scene();
    const reused = frame(1);
    stream.push(reused);
    const pause = finalize();
    await settle();
    expect(model).toEqual([1, 'commit']);
    listening.onTranscript(0, 'what does', false);
    listening.onTranscript(0, 'What does', true);
    await settle();
    expect(pause.result).toEqual({ text: 'What does' });
    listening.onTranscript(0, 'too late', false);
    stream.push(frame(2));
    const silence = finalize();
    listening.onTranscript(1, '', true);
    await settle();
    expect(silence.result).toEqual({ text: 'What does' });
    stream.push(frame(3));
    const end = finalize();
    listening.onTranscript(2, 'it cost', false);
    listening.onTranscript(2, 'it cost?', true);
    await settle();
    expect(end.result).toEqual({ text: 'What does it cost?' });
    expect(interim).toEqual(['what does', 'What does it cost']);
    expect(heard).toEqual(['What does', 'What does', 'What does it cost?']);
    // Asked again without new samples, it has the same words.
    expect(await stream.finalize(ending.signal)).toEqual({ text: 'What does it cost?' });
    expect(model).toEqual([1, 'commit', 2, 'commit', 3, 'commit']);
    listening.onTranscript(7, 'of no commit', true);
    stream.close();
    expect(model).not.toContain('discard');
    expect(clock.pendingTimers()).toBe(0);
    expect(getEventListeners(ending.signal, 'abort')).toEqual([]);
  });

  test('is dropped where the utterance is closed before its words are asked for', () => {
    const { model, stream } = scene();
    stream.push(frame(1));
    stream.close();
    stream.close();
    expect(model).toEqual([1, 'discard']);
  });

  test('is not waited for by a turn that has ended', async () => {
    const { clock, ending, finalize, stream } = scene();
    stream.push(frame(1));
    const asked = finalize();
    await settle();
    const reason = new Error('the caller has hung up');
    ending.abort(reason);
    await settle();
    expect([asked.result, clock.pendingTimers()]).toEqual([reason, 0]);
    const late = finalize();
    await settle();
    expect(late.result).toBe(reason);
  });
});

describe('Words that the model does not know', () => {
  test.each([
    ['it says so', ({ listening }: ReturnType<typeof scene>) => listening.onTranscriptLost(0)],
    ['it is lost meanwhile', ({ lose }: ReturnType<typeof scene>) => lose()],
  ])('are those of the ordinary recognizer where %s', async (_why, happens) => {
    const here = scene();
    const reused = frame(1);
    here.stream.push(reused);
    reused.fill(9);
    const asked = here.finalize();
    here.stream.push(frame(2));
    happens(here);
    await settle();
    // Those that had been heard when the words were asked for.
    expect(here.transcribed).toEqual([[1]]);
    here.recognize('What does it cost?');
    await settle();
    expect(asked.result).toEqual({ text: 'What does it cost?' });
    expect(here.heard).toEqual(['What does it cost?']);
  });

  test.each([
    ['before the utterance', 0],
    ['in the middle of it', 1],
    ['at its end', 2],
  ])('are those of the ordinary recognizer where it was lost %s', async (_when, at) => {
    const here = scene();
    for (let n = 0; n < 2; n++) {
      if (n === at) here.lose();
      here.stream.push(frame(n + 1));
    }
    if (at === 2) here.lose();
    const asked = here.finalize();
    await settle();
    expect(here.transcribed).toEqual([[1, 2]]);
    here.recognize(new Error('no recognizer'));
    await settle();
    expect(asked.result).toEqual(new Error('no recognizer'));
    here.stream.close();
  });
});

test('What was said before the model was connected is heard by the ordinary recognizer', async () => {
  const { finalize, listening, recognize, stream, transcribed, whileAway } = scene();
  whileAway(() => stream.push(frame(1)));
  stream.push(frame(2));
  const asked = finalize();
  listening.onTranscript(0, 'table', true);
  await settle();
  expect(transcribed).toEqual([[1, 2]]);
  recognize('a table');
  await settle();
  expect(asked.result).toEqual({ text: 'a table' });
});

describe('Words that are late', () => {
  async function late() {
    const here = scene();
    here.stream.push(frame(1));
    const asked = here.finalize();
    await here.pass(599);
    expect(asked.result).toBeUndefined();
    await here.pass(1);
    const { text, late: words } = asked.result as Transcript;
    expect(text).toBe('…');
    const found = { text: undefined as string | undefined };
    void words?.then((known) => {
      found.text = known;
    });
    here.stream.push(frame(2));
    return { ...here, found };
  }

  test('follow the answer, and are known to the model', async () => {
    const { found, heard, listening, clock } = await late();
    listening.onTranscript(0, 'a table', true);
    await settle();
    expect([found.text, heard, clock.pendingTimers()]).toEqual(['a table', ['…', 'a table'], 0]);
  });

  test('are asked of the ordinary recognizer after 5 s more', async () => {
    const { found, heard, pass, recognize, transcribed } = await late();
    await pass(4999);
    expect(transcribed).toEqual([]);
    await pass(1);
    expect(transcribed).toEqual([[1]]);
    recognize('a table');
    await settle();
    expect([found.text, heard]).toEqual(['a table', ['…', 'a table']]);
  });

  test.each([
    ['knows no words', ''],
    ['fails', new Error('no recognizer')],
    ['takes 5 s too', undefined],
  ])('stay unknown where that %s', async (_what, answer) => {
    const { found, heard, pass, recognize } = await late();
    await pass(5000);
    if (answer === undefined) await pass(5000);
    else recognize(answer);
    await settle();
    expect([found.text, heard]).toEqual(['', ['…']]);
  });
});
