import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/values/clock.ts';
import { AgentSpeech } from '../../../src/voice/speech/agentSpeech.ts';
import { createSpeechCache, SpeechSynthesis } from '../../../src/voice/speech/speechSynthesis.ts';
import { candidate } from '../../models/support/candidate.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { scriptedVoice } from '../support/scriptedSpeech.ts';
import { soundMs } from '../support/simulatedCall.ts';
import { createSimulatedStream, type SimulatedStreamOptions } from '../support/simulatedStream.ts';

function agentSpeech(options: Partial<SimulatedStreamOptions> = {}, isOnHold = () => false) {
  const voice = scriptedVoice();
  const stream = createSimulatedStream({ clock: createSimulatedClock(), ...options });
  const synthesis = new SpeechSynthesis(
    {
      voices: [candidate(voice)],
      cache: createSpeechCache(),
      clock: systemClock,
      onFailure: () => undefined,
    },
    8000,
  );
  let marks = 0;
  const told: string[] = [];
  const speech = new AgentSpeech({
    stream,
    synthesis,
    language: 'en',
    nowMs: () => stream.nowMs(),
    nextMark: () => `m${++marks}`,
    onStarted: () => undefined,
    onFirstSentence: () => void told.push('sentence'),
    onFirstSamples: () => void told.push('samples'),
    onFailure: () => undefined,
  });
  stream.events.on('mark', (mark) => speech.playout.onMark(mark));
  stream.events.on('cleared', (position) => speech.playout.onCleared(position));
  stream.events.on('audio', () => speech.onFrame(isOnHold()));
  let ended: string | undefined;
  void speech.playout.ended.then((outcome) => {
    ended = outcome;
  });
  return { voice, stream, speech, told, playout: speech.playout, ended: () => ended };
}

test('Synthesis runs eight seconds ahead of playout', async () => {
  const { voice, stream, speech } = agentSpeech();
  for (let n = 0; n < 40; n++) speech.say(`Sentence number ${n}. `);
  speech.finish();
  await stream.advance(100);
  // Each takes 900 ms; eight seconds are nine or ten of them.
  expect(voice.texts.length).toBeLessThan(12);
  await stream.advance(9000);
  expect(voice.texts.length).toBeGreaterThan(16);
  expect(voice.texts.length).toBeLessThan(22);
});

test('Repeated pauses and resumes neither lose nor repeat a sample', async () => {
  const { stream, speech, playout, ended } = agentSpeech({ clearDelayFrames: 1 });
  speech.say('One two three four five six seven eight nine ten.');
  speech.finish();
  for (let n = 0; n < 5; n++) {
    await stream.advance(260);
    playout.pause();
    await stream.advance(200);
    playout.resume();
  }
  await stream.advance(4000);
  expect(ended()).toBe('played');
  expect(soundMs(stream.agentAudio())).toBeGreaterThanOrEqual(3000 - 1);
  expect(soundMs(stream.agentAudio())).toBeLessThan(3000 + 5 * 6);
  expect(speech.heardText()).toBe('One two three four five six seven eight nine ten.');
});

test('A resume before the peer has reported the pause continues at the paused position', async () => {
  const { stream, speech, playout, ended } = agentSpeech({ clearDelayFrames: 5 });
  speech.say('One two three four.');
  speech.finish();
  await stream.advance(400);
  playout.pause();
  playout.resume();
  await stream.advance(3000);
  expect(ended()).toBe('played');
  // The whole text, and the 5 ms of the fade.
  expect(soundMs(stream.agentAudio())).toBeCloseTo(1205, 0);
});

test('A stop while paused, or before the first sample, ends the speech at once', async () => {
  const paused = agentSpeech();
  paused.speech.say('One two three four.');
  await paused.stream.advance(700);
  paused.playout.pause();
  await paused.stream.advance(100);
  paused.speech.stop();
  await paused.stream.advance(20);
  expect([paused.ended(), paused.speech.heardText()]).toEqual(['stopped', 'One two']);

  const silent = agentSpeech();
  silent.speech.stop();
  silent.speech.say('Too late.');
  await silent.stream.advance(20);
  expect([silent.ended(), silent.speech.heardText(), silent.voice.texts]).toEqual(['stopped', '', []]);
});

test('The first sentence and the first samples of an answer are told once', async () => {
  const { stream, speech, told } = agentSpeech();
  speech.say('One.');
  speech.say('Two.');
  await stream.advance(1000);
  expect(told).toEqual(['sentence', 'samples']);
});

test('Silence before the first sound of an answer is left out, and a later pause is not', async () => {
  const { stream, speech } = agentSpeech();
  speech.play({
    provider: 'model',
    sampleRateHz: 8000,
    async *samples() {
      for (const level of [0, 5000, 0, 5000]) yield new Int16Array(4000).fill(level);
    },
    truncate: () => undefined,
  });
  speech.writeSpoken('One two.');
  speech.finish();
  await stream.advance(2000);
  const heard = stream.agentAudio();
  expect(heard.findIndex((sample) => sample !== 0)).toBeLessThan(8 * 60);
  expect(heard.findLastIndex((sample) => sample !== 0) / 8).toBeGreaterThan(1500);
});

test('What a model says itself after other words is truncated by its own time', async () => {
  const { stream, speech } = agentSpeech();
  const truncated: number[] = [];
  speech.say('One two.');
  speech.play({
    provider: 'model',
    sampleRateHz: 8000,
    async *samples() {
      for (let n = 0; n < 10; n++) yield new Int16Array(800).fill(5000);
    },
    truncate: (heardMs) => void truncated.push(heardMs),
  });
  speech.writeSpoken('Three four five six.');
  await stream.advance(600 + 400);
  speech.stop();
  await stream.advance(40);
  expect(truncated).toEqual([expect.closeTo(400, -2)]);
  expect(speech.heardMs()).toBeCloseTo(1000, -2);
});

test('An answer without words ends as soon as it is complete', async () => {
  const { stream, speech, ended } = agentSpeech();
  speech.say(' … ');
  await stream.advance(40);
  expect(ended()).toBeUndefined();
  speech.finish();
  await stream.advance(40);
  expect(ended()).toBe('played');
});

test('A gap between two sentences does not count as heard speech', async () => {
  const { stream, speech } = agentSpeech();
  speech.say('One two.');
  await stream.advance(600 + 1000);
  expect(speech.isStarved).toBe(true);
  speech.say('Three four five six.');
  await stream.advance(400);
  expect(speech.isStarved).toBe(false);
  speech.onClosed();
  expect(speech.heardText()).toBe('One two. Three');
  expect(speech.heardMs()).toBeCloseTo(soundMs(stream.agentAudio()), -2);
});

test('What was heard during the caller’s last frame is what the peer played in it', async () => {
  const { stream, speech, playout } = agentSpeech();
  await stream.advance(40);
  expect(playout.lastFrame()).toBeUndefined();
  speech.say('One two.');
  for (let n = 0; n < 25; n++) {
    await stream.advance(20);
    expect(playout.lastFrame() ?? new Int16Array(160)).toEqual(stream.agentAudio().slice(-160));
  }
  playout.pause();
  await stream.advance(20);
  expect(playout.lastFrame()).toBeUndefined();
});

test('A peer that reports nothing has played or stopped what it had 1500 ms for', async () => {
  const played = agentSpeech({ isMute: true });
  played.speech.say('One two.');
  played.speech.finish();
  await played.stream.advance(1500);
  expect(played.playout.hasStarted).toBe(false);
  await played.stream.advance(40);
  expect([played.playout.hasStarted, played.ended()]).toEqual([true, undefined]);
  await played.stream.advance(700);
  expect(played.ended()).toBe('played');
  const stopped = agentSpeech({ isMute: true });
  stopped.speech.say('One two three four five six seven eight.');
  await stopped.stream.advance(1700);
  stopped.speech.stop();
  await stopped.stream.advance(1500);
  expect(stopped.ended()).toBeUndefined();
  await stopped.stream.advance(20);
  expect([stopped.ended(), stopped.playout.stopMs]).toEqual(['stopped', undefined]);
});

test('A stop is as long as the peer takes to report it', async () => {
  const { stream, speech, playout, ended } = agentSpeech({ clearDelayFrames: 3 });
  speech.say('One two three four.');
  await stream.advance(400);
  speech.stop();
  await stream.advance(60);
  expect([ended(), playout.isStopped]).toEqual([undefined, true]);
  await stream.advance(20);
  expect([ended(), playout.stopMs]).toEqual(['stopped', 80]);
});
