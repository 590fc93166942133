import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { AnsweringMachineDetector } from '../../../src/voice/answeringMachine/answeringMachineDetector.ts';
import { machineKindOf } from '../../../src/voice/answeringMachine/machinePhrases.ts';
import { eventsOf, type SimulatedCall, simulatedCall } from '../support/simulatedCall.ts';

function tone(hz: number, durationMs: number, amplitude = 8000, sampleRateHz = 8000): Int16Array {
  return Int16Array.from({ length: (sampleRateHz * durationMs) / 1000 }, (_, n) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hz * n) / sampleRateHz)),
  );
}

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
])('%j is a phrase of: %s', (text, kind) => expect(machineKindOf(text)).toBe(kind));

test('Speech of 4.2 s is a machine; it records after 2 s of silence, or 30 s after it was recognized', () => {
  const detector = new AnsweringMachineDetector(8000);
  const spoken = (voicedMs: number) => ({ startMs: 0, lastVoicedMs: voicedMs, voicedMs });
  const silence = new Int16Array(160);
  expect(detector.onFrame(silence, spoken(4199), 4980)).toBeUndefined();
  expect(detector.recordingEvidence(60_000, 0)).toBeUndefined();
  expect(detector.onFrame(silence, spoken(4200), 5000)).toBe('machine');
  expect(detector.onFrame(silence, spoken(4220), 5020)).toBeUndefined();
  const evidence = [
    [6999, 0],
    [7000, 0],
    [7000, 5001],
    [7001, 5001],
    [34_999, 34_990],
    [35_000, 34_990],
  ] as const;
  expect(evidence.map(([atMs, lastVoicedMs]) => detector.recordingEvidence(atMs, lastVoicedMs))).toEqual([
    undefined,
    'length',
    undefined,
    'length',
    undefined,
    'length',
  ]);
});

test('A person answers in 2.5 s at most; nothing is decided after 30 s', () => {
  const decided = (voicedMs: number, atMs: number) => {
    const detector = new AnsweringMachineDetector(8000);
    detector.onFrame(new Int16Array(160), undefined, atMs);
    detector.onTranscript('Yes, this is Ann.', voicedMs);
    return detector.answeredBy;
  };
  expect([decided(2500, 30_000), decided(2501, 30_000), decided(2500, 30_001)]).toEqual([
    'human',
    'unknown',
    'unknown',
  ]);
});

describe('Answering machine detection', () => {
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
  const machineEvents = (call: SimulatedCall) => eventsOf(call, 'answering_machine');

  test('recognizes a machine by its words and leaves the message after the beep', async () => {
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

  test('stores nothing that the machine says while the message is left', async () => {
    const nodes = [
      ...(pathway.nodes?.slice(0, 1) ?? []),
      { id: 'message', type: 'say' as const, data: { title: 'Message', prompt: 'Please do call us back.' } },
    ];
    const call = outbound({ pathway: { ...pathway, nodes } });
    await call.say('You have reached Ann. Please leave a message after the tone.', 3500);
    await call.stream.advance(700);
    call.stream.speak(tone(1000, 400));
    await call.stream.until(() => call.voice.texts.includes('Please do call us back.'));
    await call.agentSpeaks();
    await call.say('Your message is too long.', 900);
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('machine');
    expect(call.transcript().filter((line) => line.startsWith('user'))).toEqual([]);
    expect(call.transcript().at(-1)).toMatch(/^assistant: Please do/);
  });

  test('recognizes a machine by the length of its greeting and leaves the message in the silence after it', async () => {
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

  test('leaves no message while a colleague has the call', async () => {
    const call = outbound();
    await call.stream.advance(100);
    call.stream.control({ kind: 'takeover', isTakenOver: true });
    call.stream.speak(tone(1000, 300));
    await call.stream.advance(5000);
    expect(call.voice.texts).not.toContain('Please call us back.');
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('machine');
  });

  test('recognizes a machine by its beep alone', async () => {
    const call = outbound();
    await call.stream.advance(500);
    call.stream.speak(tone(1000, 300));
    await call.stream.advance(600);
    expect(call.voice.texts.at(-1)).toBe('Please call us back.');
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('machine');
  });

  test('hangs up on a machine when the pathway has no voicemail edge', async () => {
    const call = outbound({ pathway: { nodes: pathway.nodes?.slice(0, 1), edges: [] } });
    await call.stream.advance(500);
    call.stream.speak(tone(1000, 300));
    await call.stream.until(() => call.stream.commands.length > 0);
    expect(call.stream.commands).toEqual([{ kind: 'hangup' }]);
    await call.stream.hangUp();
    await call.report;
  });

  test('answers a call screening service like a person and stores an event', async () => {
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

  test('takes the screening edge on what the service asks, and not on what a person says after it', async () => {
    const nodes = [
      ...(pathway.nodes?.slice(0, 1) ?? []),
      {
        id: 'who',
        type: 'say' as const,
        data: { title: 'Who', prompt: 'Your clinic is calling.' },
      },
      { id: 'talk', type: 'conversation' as const, data: { title: 'Talk', prompt: 'Talk.' } },
      { id: 'again', type: 'say' as const, data: { title: 'Again', prompt: 'Never said.' } },
    ];
    const condition = { event: 'screening' as const };
    const edges = [
      { id: 'sc', source: 'start', target: 'who', data: { condition } },
      { id: 'on', source: 'who', target: 'talk', data: { condition: null } },
      { id: 'no', source: 'talk', target: 'again', data: { condition } },
    ];
    const call = outbound({ pathway: { nodes, edges } });
    await call.agentSpeaks();
    await call.agentFallsSilent();
    await call.say('Please state your name and the reason for your call.', 2600);
    await call.agentSpeaks();
    await call.agentFallsSilent();
    await call.say('Hello, this is Ann.', 900);
    await call.agentSpeaks();
    expect(call.voice.texts).toContain('Your clinic is calling.');
    expect(call.voice.texts).not.toContain('Never said.');
    await call.stream.hangUp();
    await call.report;
  });

  test('recognizes a person by a short answer, whatever they say later', async () => {
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
    expect((await call.report).answeredBy).toBe('human');
  });

  test('is off by default', async () => {
    const call = outbound({ session: {} });
    await call.say('Please leave a message after the tone.', 6000);
    await call.stream.advance(3000);
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('unknown');
  });
});
