import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { createBeepDetector, toneOf } from '../../../src/voice/answeringMachine/beepDetector.ts';
import { machineKindOf } from '../../../src/voice/answeringMachine/machinePhrases.ts';
import { type SimulatedCall, simulatedCall } from '../support/simulatedCall.ts';

function tone(hz: number, durationMs: number, amplitude = 8000, sampleRateHz = 8000): Int16Array {
  return Int16Array.from({ length: (sampleRateHz * durationMs) / 1000 }, (_, n) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hz * n) / sampleRateHz)),
  );
}

function beepsIn(samples: Int16Array, sampleRateHz = 8000): number {
  const detector = createBeepDetector(sampleRateHz);
  const length = sampleRateHz / 50;
  let beeps = 0;
  for (let at = 0; at + length <= samples.length; at += length) {
    if (detector.push(samples.subarray(at, at + length))) beeps += 1;
  }
  return beeps;
}

const silence = new Int16Array(1600);
const joined = (...parts: Int16Array[]) => Int16Array.from(parts.flatMap((part) => [...part]));

describe('the beep', () => {
  test.each([440, 1000, 1004, 1375, 2000])('of %i Hz is one', (hz) => {
    expect(beepsIn(joined(silence, tone(hz, 400), silence))).toBe(1);
  });

  test.each([
    ['too short', joined(silence, tone(1000, 100), silence)],
    ['a dial tone that does not end', joined(silence, tone(440, 3000), silence)],
    ['too soft', joined(silence, tone(1000, 400, 200), silence)],
    [
      'two tones at once',
      joined(
        tone(941, 400).map((sample, n) => sample + (tone(1336, 400)[n] ?? 0)),
        silence,
      ),
    ],
    [
      'a glide',
      joined(
        Int16Array.from(
          { length: 3200 },
          (_, n) => 8000 * Math.sin((2 * Math.PI * (500 + n / 4) * n) / 8000),
        ),
        silence,
      ),
    ],
    ['silence', silence],
  ])('%s is none', (_, samples) => expect(beepsIn(samples)).toBe(0));

  test.each([0, 1, 2, 3, 4, 5])(
    'is measured from its first frame, wherever it begins: after %i frames',
    (before) => {
      const heardOf = (durationMs: number) =>
        beepsIn(joined(silence, new Int16Array(before * 160), tone(1000, durationMs), silence));
      expect([140, 160, 1500, 1520].map(heardOf)).toEqual([0, 1, 1, 0]);
    },
  );

  test('is found at 16 kHz too', () => {
    expect(beepsIn(joined(silence, tone(1000, 300, 8000, 16_000), silence), 16_000)).toBe(1);
    expect(toneOf(tone(1000, 20, 8000, 16_000), 16_000)).toBe(1000);
  });
});

test.each([
  ['Hi, you have reached Ann. Please leave a message after the tone.', 'machine'],
  ['The person you are calling is not available.', 'machine'],
  ['您的電話將轉接到語音信箱，嗶一聲後開始計費。', 'machine'],
  ['Deje su mensaje después de la señal', 'machine'],
  ['Please state your name and the reason for your call.', 'screening'],
  ['If you record your name I’ll see if this person is available.', 'screening'],
  ['Hello?', undefined],
  ['Yes, this is Ann, who is there?', undefined],
  ['I left a message yesterday', undefined],
])('%j is said by %s', (text, kind) => expect(machineKindOf(text)).toBe(kind));

describe('a machine that answers', () => {
  const pathway: PathwayInput = {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Greeting', prompt: 'Greet.' } },
      { id: 'message', type: 'say', data: { title: 'Message', prompt: 'Please call us back.' } },
    ],
    edges: [{ id: 'vm', source: 'start', target: 'message', data: { condition: { event: 'voicemail' } } }],
  };
  const outbound = (more: object = {}) =>
    simulatedCall({
      answer: () => ({ text: 'Good day, this is the clinic.' }),
      pathway,
      session: { detectAnsweringMachine: true },
      ...more,
    });
  const machineEvents = (call: SimulatedCall) =>
    call.memory
      .events()
      .filter(({ type }) => type === 'answering_machine')
      .map(({ data }) => data);

  test('is greeted like a person, then known by its words, and gets its message after the tone', async () => {
    const call = outbound();
    await call.stream.advance(100);
    expect(call.isAgentSpeaking()).toBe(true);
    await call.say('You have reached Ann. Please leave a message after the tone.', 3500);
    await call.stream.advance(700);
    expect(call.voice.texts).not.toContain('Please call us back.');
    call.stream.speak(tone(1000, 400));
    await call.stream.advance(600);
    expect(call.voice.texts.at(-1)).toBe('Please call us back.');
    await call.stream.until(() => call.stream.commands.length > 0);
    expect(call.stream.commands).toEqual([{ kind: 'hangup' }]);
    expect(machineEvents(call)).toEqual([{ kind: 'voicemail', evidence: 'words' }]);
    expect(call.transcript().at(-1)).toBe('assistant: Please call us back.');
    await call.stream.hangUp();
    expect(await call.report).toMatchObject({ outcome: 'hung_up', answeredBy: 'machine' });
  });

  test('is known by the length of its greeting, and gets its message once it is silent', async () => {
    const call = outbound();
    await call.say('Some words that tell nothing and go on and on', 6000);
    await call.stream.advance(1500);
    expect(call.voice.texts).not.toContain('Please call us back.');
    await call.stream.advance(1500);
    expect(call.voice.texts.at(-1)).toBe('Please call us back.');
    expect(machineEvents(call)).toEqual([]);
    await call.stream.until(() => call.stream.commands.length > 0);
    expect(machineEvents(call)).toEqual([{ kind: 'voicemail', evidence: 'length' }]);
    await call.stream.hangUp();
    await call.report;
  });

  test('is known by its tone alone', async () => {
    const call = outbound();
    await call.stream.advance(500);
    call.stream.speak(tone(1000, 300));
    await call.stream.advance(600);
    expect(call.voice.texts.at(-1)).toBe('Please call us back.');
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('machine');
  });

  test('gets no message where the pathway has none for it', async () => {
    const call = outbound({ pathway: { nodes: pathway.nodes?.slice(0, 1), edges: [] } });
    await call.stream.advance(500);
    call.stream.speak(tone(1000, 300));
    await call.stream.until(() => call.stream.commands.length > 0);
    expect(call.stream.commands).toEqual([{ kind: 'hangup' }]);
    await call.stream.hangUp();
    await call.report;
  });

  test('a service that asks who is calling is answered like a person, and noted', async () => {
    const call = outbound();
    await call.agentSpeaks();
    await call.agentFallsSilent();
    await call.say('Please state your name and the reason for your call.', 2600);
    await call.agentSpeaks();
    expect(call.transcript()).toContain('assistant: Good day, this is the clinic.');
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('screening');
    expect(call.sessionEvents).toMatchObject([
      { type: 'answering_machine', data: { kind: 'screening', evidence: 'words' } },
    ]);
  });

  test('a person is a person, and a long story later in the call changes nothing', async () => {
    const call = outbound();
    await call.agentSpeaks();
    await call.agentFallsSilent();
    await call.say('Yes, this is Ann.', 900);
    await call.agentSpeaks();
    await call.agentFallsSilent();
    await call.say('Well it all began a long time ago and please leave a message', 7000);
    await call.agentSpeaks();
    expect(call.voice.texts).not.toContain('Please call us back.');
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('person');
  });

  test('nobody looks for machines on calls that came in', async () => {
    const call = outbound({ session: {} });
    await call.say('Please leave a message after the tone.', 6000);
    await call.stream.advance(3000);
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('unknown');
  });
});
