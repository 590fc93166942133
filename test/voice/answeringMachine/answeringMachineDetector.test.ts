import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { AnsweringMachineDetector } from '../../../src/voice/answeringMachine/answeringMachineDetector.ts';
import { scriptedRecognizer } from '../support/scriptedRecognizer.ts';
import { eventsOf, ONE_NODE, type SimulatedCall, simulatedCall } from '../support/simulatedCall.ts';

function tone(hz: number, durationMs: number, amplitude = 8000, sampleRateHz = 8000): Int16Array {
  return Int16Array.from({ length: (sampleRateHz * durationMs) / 1000 }, (_, n) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hz * n) / sampleRateHz)),
  );
}

const APPLE = 'Hi, if you record your name and reason for calling, I’ll see if this person is available.';
const SILENCE = new Int16Array(160);
const spoken = (voicedMs: number, startMs = 0) => ({ startMs, lastVoicedMs: startMs + voicedMs, voicedMs });

/** The verdict on what is said from 100 ms on, known in full at the pause after it. */
function verdictOn(text: string, voicedMs: number, atMs = voicedMs + 600): string {
  const detector = new AnsweringMachineDetector(8000);
  detector.onFrame(SILENCE, spoken(voicedMs), atMs, false);
  detector.onWords(text, spoken(voicedMs), true);
  return detector.answeredBy;
}

test('Speech that tells nothing is a machine from 10 s on; a menu, and few words in noise, are none', () => {
  const words = 'Some words that tell nothing and go on and on';
  expect(
    [
      [words, 9900],
      [words, 10_000],
      ['', 10_000],
      ['press one for sales and two for service and three for all else', 10_000],
      ['hello hello', 10_000],
    ].map(([text, voicedMs]) => verdictOn(String(text), Number(voicedMs))),
  ).toEqual(['unknown', 'machine', 'machine', 'unknown', 'unknown']);
});

test('A person answers in 2.5 s at most, or says what a person says; nothing is decided after 30 s', () => {
  expect([
    verdictOn('Yes, this is Ann.', 2500, 30_000),
    verdictOn('Yes, this is Ann.', 2501, 30_000),
    verdictOn('Smith and Sons, this is Ann speaking.', 6000, 30_000),
    verdictOn('Yes, this is Ann.', 2500, 30_001),
  ]).toEqual(['human', 'unknown', 'human', 'unknown']);
});

test('A machine records after 2 s of silence, once no words are due, or 30 s after it was recognized', () => {
  const evidence = (atMs: number, lastVoicedMs: number, areWordsDue: boolean) => {
    const detector = new AnsweringMachineDetector(8000);
    detector.onFrame(SILENCE, spoken(10_000), 10_600, false);
    detector.onWords('', spoken(10_000), true);
    return detector.recordingEvidence(atMs, lastVoicedMs, areWordsDue);
  };
  expect([
    evidence(12_599, 10_000, false),
    evidence(12_600, 10_000, false),
    evidence(12_600, 10_000, true),
    evidence(12_600, 10_601, false),
    evidence(40_599, 40_590, false),
    evidence(40_600, 40_590, true),
  ]).toEqual([undefined, 'length', undefined, undefined, undefined, 'length']);
});

test('A verdict is corrected by the words until the machine records', () => {
  const question =
    'Please leave your name and the reason for your call and I will see if this person is available.';
  const corrected = (isRecording: boolean) => {
    const detector = new AnsweringMachineDetector(8000);
    detector.onFrame(SILENCE, spoken(3000), 3000, true);
    detector.onWords('Please leave your name', spoken(3000), false);
    const first = detector.answeredBy;
    if (isRecording) detector.recordingEvidence(9000, 3000, false);
    detector.onWords(question, spoken(6000), false);
    return [first, detector.answeredBy];
  };
  expect([corrected(false), corrected(true)]).toEqual([
    ['machine', 'screening'],
    ['machine', 'machine'],
  ]);
});

test('Words right after those of a person may be the rest of a machine’s greeting', () => {
  const verdict = (startMs: number, text = 'I cannot come to the phone. Leave a message.') => {
    const detector = new AnsweringMachineDetector(8000);
    detector.onFrame(SILENCE, spoken(700), 1200, false);
    detector.onWords('Hi, this is Ann.', spoken(700), true);
    detector.onWords(text, spoken(2500, startMs), true);
    return detector.answeredBy;
  };
  expect([verdict(2700), verdict(2701)]).toEqual(['machine', 'human']);
  // What only a recording says counts later too.
  expect([verdict(9000, 'Speak after the tone.'), verdict(9000, APPLE)]).toEqual(['machine', 'screening']);
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
    expect(await call.hangUp()).toMatchObject({ outcome: 'hung_up', answeredBy: 'machine' });
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
    await call.say('Some words that tell nothing and go on and on and on and on', 10_500);
    await call.stream.advance(1500);
    expect(call.voice.texts).not.toContain('Please call us back.');
    await call.stream.advance(1500);
    expect(call.voice.texts.at(-1)).toBe('Please call us back.');
    expect(machineEvents(call)).toEqual([]);
    await call.stream.until(() => call.stream.commands.length > 0);
    expect(machineEvents(call)).toEqual([{ kind: 'voicemail', evidence: 'length' }]);
    await call.hangUp();
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
    await call.hangUp();
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
    await call.hangUp();
  });

  const SCREENED: PathwayInput = {
    nodes: [
      ...(pathway.nodes?.slice(0, 1) ?? []),
      { id: 'who', type: 'say', data: { title: 'Who', prompt: 'Your clinic is calling.' } },
      { id: 'talk', type: 'conversation', data: { title: 'Talk', prompt: 'Talk.' } },
    ],
    edges: [
      { id: 'sc', source: 'start', target: 'who', data: { condition: { event: 'screening' } } },
      { id: 'on', source: 'who', target: 'talk', data: { condition: null } },
    ],
  };

  test('takes the screening edge on a question of 7 s, whose tone is no beep of a machine', async () => {
    const call = outbound({ pathway: SCREENED });
    await call.stream.advance(300);
    await call.say(APPLE, 7000);
    // The words come after the tone.
    call.caller.delayTurns = 150;
    await call.stream.advance(400);
    call.stream.speak(tone(1000, 400));
    await call.stream.until(() => call.voice.texts.includes('Your clinic is calling.'), 4000);
    expect(await call.hangUp()).toMatchObject({ outcome: 'closed', answeredBy: 'screening' });
  });

  test('says nothing in the pauses of a screening question', async () => {
    const call = outbound({ pathway: SCREENED });
    await call.agentSpeaks();
    await call.agentFallsSilent();
    await call.say('Please state your name and the reason for your call.', 3000);
    await call.stream.advance(900);
    expect(call.voice.texts).not.toContain('Your clinic is calling.');
    await call.say('I will see if this person is available.', 2000);
    await call.stream.until(() => call.voice.texts.includes('Your clinic is calling.'), 4000);
    await call.stream.advance(3000);
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('screening');
    expect(call.transcript().slice(1)).toEqual([
      'user: Please state your name and the reason for your call. I will see if this person is available.',
      expect.stringMatching(/^assistant: Your clinic is calling\./),
    ]);
  });

  test('answers a question of 7 s without an edge for it, and goes on when the person picks up', async () => {
    const call = outbound({
      pathway: ONE_NODE,
      answer: (index: number) => ({
        text: ['Hello.', 'The clinic, about your results.', 'Hello Ann.'][index] ?? '',
      }),
    });
    await call.stream.advance(300);
    await call.say(APPLE, 7000);
    await call.agentSpeaks();
    expect(call.voice.texts.at(-1)).toBe('The clinic, about your results.');
    expect(JSON.stringify(call.model.requests.at(-1)?.messages)).toMatch(/who is calling and why/);
    await call.agentFallsSilent();
    await call.stream.advance(3000);
    await call.say('Hello, this is Ann.', 900);
    await call.agentSpeaks();
    expect(call.voice.texts.at(-1)).toBe('Hello Ann.');
    expect(JSON.stringify(call.model.requests.at(-1)?.messages)).not.toMatch(/who is calling and why/);
    expect(call.stream.commands).toEqual([]);
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('screening');
  });

  test('hears a machine in interim words, and is corrected by those that follow', async () => {
    const speechToText = scriptedRecognizer(false);
    const call = outbound({ pathway: SCREENED, speechToText });
    await call.stream.advance(300);
    call.stream.speak(call.caller.say('', 6000));
    await call.stream.advance(1500);
    expect(call.isAgentSpeaking()).toBe(false);
    speechToText.interim('Please leave your name');
    await call.stream.advance(1500);
    speechToText.interim(
      `Please leave your name and reason for calling, and I’ll see if this person is available.`,
    );
    await call.stream.until(() => call.voice.texts.includes('Your clinic is calling.'), 6000);
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('screening');
  });

  test('asks for the words of a long greeting while it goes on, under an agent that may not be interrupted', async () => {
    const nodes = [
      {
        id: 'start',
        type: 'start' as const,
        data: { title: 'Greeting', prompt: 'Greet.', interruption: 'off' as const },
      },
      ...(pathway.nodes?.slice(1) ?? []),
    ];
    const call = outbound({
      pathway: { ...pathway, nodes },
      answer: () => ({ text: 'This is a long greeting of the clinic. '.repeat(6) }),
    });
    await call.stream.advance(300);
    call.stream.speak(call.caller.say('You have reached Ann. Please leave a message after the tone.', 9000));
    await call.stream.advance(3400);
    expect(call.isAgentSpeaking()).toBe(true);
    await call.stream.advance(400);
    expect(call.isAgentSpeaking()).toBe(false);
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('machine');
  });

  test('waits 3 s for the words before a beep, and then leaves the message', async () => {
    const call = outbound();
    await call.stream.advance(300);
    call.caller.delayTurns = 10_000;
    await call.say('You have reached Ann. Please leave a message after the tone.', 3500);
    await call.stream.advance(400);
    call.stream.speak(tone(1000, 400));
    await call.stream.advance(2500);
    expect(call.voice.texts).not.toContain('Please call us back.');
    await call.stream.advance(400);
    expect(call.voice.texts.at(-1)).toBe('Please call us back.');
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('machine');
  });

  test('recognizes a person by a long greeting, and answers it', async () => {
    const call = outbound();
    await call.say('Thank you for calling Smith and Sons, this is Anna speaking, how can I help you?', 8500);
    await call.agentSpeaks();
    expect(call.stream.commands).toEqual([]);
    await call.stream.hangUp();
    expect((await call.report).answeredBy).toBe('human');
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
