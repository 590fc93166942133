import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { type AgentSpeech, createAgentSpeech } from '../../../src/voice/speech/agentSpeech.ts';
import { createSpeechCache } from '../../../src/voice/speech/speechCache.ts';
import { createSpeechSynthesis } from '../../../src/voice/speech/speechSynthesis.ts';
import { collect } from '../../support/collect.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { scriptedVoice } from '../support/scriptedSpeech.ts';
import { soundMs } from '../support/simulatedCall.ts';
import { createSimulatedStream, type SimulatedStreamOptions } from '../support/simulatedStream.ts';

const forever = new AbortController().signal;

function speaking(options: Partial<SimulatedStreamOptions> = {}, isOnHold = () => false) {
  const voice = scriptedVoice();
  const stream = createSimulatedStream({ clock: createSimulatedClock(), ...options });
  const source = createSpeechSynthesis(
    { textToSpeech: voice, cache: createSpeechCache(), clock: systemClock, onFailure: () => undefined },
    8000,
  );
  let marks = 0;
  const speech: AgentSpeech = createAgentSpeech({
    stream,
    source,
    voice: {},
    nowMs: () => stream.nowMs(),
    nextMark: () => `m${++marks}`,
    onSounding: () => undefined,
    onSpeech: () => undefined,
    onFailure: () => undefined,
  });
  stream.events.on('mark', (mark) => speech.onMark(mark));
  stream.events.on('cleared', (position) => speech.onCleared(position));
  stream.events.on('audio', () => (isOnHold() ? speech.onHeldTick() : speech.onTick()));
  let over: string | undefined;
  void speech.over.then((how) => {
    over = how;
  });
  return { voice, stream, speech, over: () => over };
}

test('speech is made little ahead of what sounds', async () => {
  const { voice, stream, speech } = speaking();
  for (let n = 0; n < 40; n++) speech.say(`Sentence number ${n}. `);
  speech.finish();
  await stream.advance(100);
  // Each takes 900 ms; eight seconds ahead are nine or ten of them.
  expect(voice.texts.length).toBeLessThan(12);
  await stream.advance(9000);
  expect(voice.texts.length).toBeGreaterThan(16);
  expect(voice.texts.length).toBeLessThan(22);
});

test('stops and resumptions, as often as one likes, lose no sample and repeat none', async () => {
  const { stream, speech, over } = speaking({ clearDelayFrames: 1 });
  speech.say('One two three four five six seven eight nine ten.');
  speech.finish();
  for (let n = 0; n < 5; n++) {
    await stream.advance(260);
    speech.hold();
    await stream.advance(200);
    speech.resume();
  }
  await stream.advance(4000);
  expect(over()).toBe('played');
  expect(soundMs(stream.agentSide())).toBeGreaterThanOrEqual(3000 - 1);
  expect(soundMs(stream.agentSide())).toBeLessThan(3000 + 5 * 6);
  expect(speech.heardText()).toBe('One two three four five six seven eight nine ten.');
});

test('resumed before the stop came back, it goes on from where it stopped', async () => {
  const { stream, speech, over } = speaking({ clearDelayFrames: 5 });
  speech.say('One two three four.');
  speech.finish();
  await stream.advance(400);
  speech.hold();
  speech.resume();
  await stream.advance(3000);
  expect(over()).toBe('played');
  // All of it, and the 5 ms of the fade.
  expect(soundMs(stream.agentSide())).toBeCloseTo(1205, 0);
});

test('time that the other side was on hold is not taken for time that was heard', async () => {
  const { stream, speech, over } = speaking({ isMute: true }, () => true);
  speech.say('One two three.');
  speech.finish();
  await stream.advance(20_000);
  expect(speech.hasSounded).toBe(false);
  expect(over()).toBeUndefined();
});

test('cut while it is held, or before anything sounded, it is over at once', async () => {
  const held = speaking();
  held.speech.say('One two three four.');
  await held.stream.advance(700);
  held.speech.hold();
  await held.stream.advance(100);
  held.speech.cut();
  await held.stream.advance(20);
  expect([held.over(), held.speech.heardText()]).toEqual(['cut', 'One two']);

  const silent = speaking();
  silent.speech.cut();
  silent.speech.say('Too late.');
  await silent.stream.advance(20);
  expect([silent.over(), silent.speech.heardText(), silent.voice.texts]).toEqual(['cut', '', []]);
});

test('an answer without anything to be spoken is over as soon as it is complete', async () => {
  const { stream, speech, over } = speaking();
  speech.say(' … ');
  await stream.advance(40);
  expect(over()).toBeUndefined();
  speech.finish();
  await stream.advance(40);
  expect(over()).toBe('played');
});

test('speech comes at the stream’s rate, and from the cache the second time', async () => {
  const voice = scriptedVoice(24_000 as 8000);
  const cache = createSpeechCache();
  const source = createSpeechSynthesis(
    { textToSpeech: voice, cache, clock: systemClock, onFailure: () => undefined },
    8000,
  );
  const first = await collect(source.speak({ text: 'One two.' }, forever));
  const length = first.reduce((sum, samples) => sum + samples.length, 0);
  // 600 ms, and 5 ms that push the filters' memory out.
  expect(length).toBe(8 * 605);
  expect(Math.abs(first[1]?.[420] ?? 0)).toBeCloseTo(5000, -2);
  const second = await collect(source.speak({ text: 'One two.' }, forever));
  expect([second.length, second[0]?.length, voice.texts.length]).toEqual([1, length, 1]);
  await collect(source.speak({ text: 'One two.', voice: 'other' }, forever));
  expect(voice.texts.length).toBe(2);
});

test('speech that broke off is not kept, and is not begun again', async () => {
  const voice = scriptedVoice();
  const speak = voice.synthesize.bind(voice);
  const breaking = {
    ...voice,
    async *speak(request: { text: string }, signal: AbortSignal) {
      for await (const samples of speak(request, signal)) {
        yield samples;
        throw new Error('broke off');
      }
    },
  };
  const cache = createSpeechCache();
  const source = createSpeechSynthesis(
    { textToSpeech: breaking, cache, clock: systemClock, onFailure: () => undefined },
    8000,
  );
  await expect(collect(source.speak({ text: 'One two.' }, forever))).rejects.toThrow('broke off');
  expect([voice.texts.length, cache.sizeBytes]).toEqual([1, 0]);
});

test('a stream at a rate that speech cannot be brought to is refused by name', () => {
  const deps = {
    textToSpeech: scriptedVoice(),
    cache: createSpeechCache(),
    clock: systemClock,
    onFailure: () => undefined,
  };
  expect(() => createSpeechSynthesis(deps, 11_025)).toThrow(/11025/);
});

test('a voice that keeps the caller waiting is stood in for, and left alone for a while', async () => {
  const clock = createSimulatedClock();
  const [mute, other] = [scriptedVoice(), scriptedVoice(8000, 7000)];
  let asked = 0;
  const hanging = {
    ...mute,
    async *speak(_request: object, signal: AbortSignal): AsyncGenerator<Int16Array> {
      asked += 1;
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  const failures: unknown[] = [];
  const source = createSpeechSynthesis(
    {
      textToSpeech: hanging,
      fallback: other,
      cache: createSpeechCache(),
      clock,
      onFailure: (error) => failures.push(error),
    },
    8000,
  );
  const say = (text: string) => collect(source.speak({ text }, forever));
  const first = say('One.');
  clock.advance(3999);
  expect(other.texts).toEqual([]);
  clock.advance(1);
  await first;
  await say('Two.');
  expect([asked, other.texts, failures.length]).toEqual([1, ['One.', 'Two.'], 1]);
  clock.advance(30_000);
  const third = say('Three.');
  clock.advance(4000);
  await third;
  expect([asked, other.texts.length]).toEqual([2, 3]);
});

test('speech that nobody can hear is said by another voice, and not kept', async () => {
  const [faint, other] = [scriptedVoice(8000, 20), scriptedVoice(8000, 7000)];
  const cache = createSpeechCache();
  const deps = { textToSpeech: faint, cache, clock: systemClock, onFailure: () => undefined };
  await expect(collect(createSpeechSynthesis(deps, 8000).speak({ text: 'One.' }, forever))).rejects.toThrow(
    'nothing that can be heard',
  );
  expect(cache.sizeBytes).toBe(0);
  const heard = await collect(
    createSpeechSynthesis({ ...deps, fallback: other }, 8000).speak({ text: 'One.' }, forever),
  );
  expect([other.texts, heard.at(-1)?.[0]]).toEqual([['One.'], 7000]);
});

test('an answer that ran dry for a while was heard as far as it sounded, and no further', async () => {
  const { stream, speech } = speaking();
  speech.say('One two.');
  await stream.advance(600 + 1000);
  expect(speech.isDry).toBe(true);
  speech.say('Three four five six.');
  await stream.advance(400);
  expect(speech.isDry).toBe(false);
  speech.onClosed();
  expect(speech.heardText()).toBe('One two. Three');
  expect(speech.heardMs()).toBeCloseTo(soundMs(stream.agentSide()), -2);
});

test('a voice that stops in the middle of a text is given up', async () => {
  const clock = createSimulatedClock();
  const voice = scriptedVoice();
  const stopping = {
    ...voice,
    async *speak(request: { text: string }, signal: AbortSignal) {
      for await (const samples of voice.synthesize(request, signal)) {
        yield samples;
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }
    },
  };
  const source = createSpeechSynthesis(
    { textToSpeech: stopping, cache: createSpeechCache(), clock, onFailure: () => undefined },
    8000,
  );
  const pieces = source.speak({ text: 'One two.' }, forever)[Symbol.asyncIterator]();
  expect((await pieces.next()).done).toBe(false);
  const next = pieces.next();
  await Promise.resolve();
  clock.advance(3999);
  expect(clock.pendingTimers()).toBe(1);
  clock.advance(1);
  await expect(next).rejects.toThrow('stopped in the middle');
  expect(clock.pendingTimers()).toBe(0);
});
