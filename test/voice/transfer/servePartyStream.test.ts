import { describe, expect, test } from 'vitest';
import { UsageTally } from '../../../src/agents/cost/usage.ts';
import type { StreamParty } from '../../../src/conversation/streams/audioStream.ts';
import type { ConversationEngine } from '../../../src/engine/conversationEngine.ts';
import type { ReleaseStore } from '../../../src/engine/session/releases.ts';
import { draftSession, type SessionMessage } from '../../../src/engine/session/session.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type { CallSpeech } from '../../../src/voice/speech/callSpeech.ts';
import { createSpeechCache, SpeechSynthesis } from '../../../src/voice/speech/speechSynthesis.ts';
import { servePartyStream } from '../../../src/voice/transfer/servePartyStream.ts';
import { candidate } from '../../models/support/candidate.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { loudActivity, scriptedCaller, scriptedVoice } from '../support/scriptedSpeech.ts';
import { createSimulatedStream } from '../support/simulatedStream.ts';

const TO = '+886223456789';
const YES_OR_NO = 'Do you take the call? Please say yes or no.';

interface PartyOptions {
  /** Whether the session goes on. */
  readonly isLive?: boolean;
  /** What the agent names. */
  readonly callSpeech?: CallSpeech;
}

/** The stream of a party of a transfer. */
function partyStream(party: StreamParty, { isLive = true, callSpeech }: PartyOptions = {}) {
  const clock = createSimulatedClock();
  const stream = createSimulatedStream({ clock });
  const caller = scriptedCaller();
  const voice = scriptedVoice();
  const said: unknown[] = [];
  const detectors = { open: 0 };
  const errors: unknown[] = [];
  const closed: unknown[] = [];
  stream.events.on('closed', (event) => closed.push(event));
  const onError = (_error: unknown, message: string) => void errors.push(message);
  const session = draftSession({ projectId: 'project-1', sessionId: 's', channel: 'phone' }, '');
  const synthesis = new SpeechSynthesis(
    {
      voices: [candidate(voice)],
      cache: createSpeechCache(),
      clock,
      onFailure: () => undefined,
    },
    8000,
  );
  const served = servePartyStream(
    {
      engine: unused<ConversationEngine>('engine', {
        find: async () => (isLive ? { ...session, instanceId: 'instance' } : undefined),
      }),
      releases: unused<ReleaseStore>('releases', { find: async () => undefined }),
      historyStore: {
        addEvents: async () => undefined,
        async addMessages(instanceId, messages: readonly SessionMessage[]) {
          for (const { at: _, ...message } of messages) said.push([instanceId, message]);
        },
        addHeard: async () => undefined,
        addUsage: async () => undefined,
      },
      voiceActivity: {
        open(sampleRateHz) {
          detectors.open += 1;
          return { ...loudActivity.open(sampleRateHz), close: () => void detectors.open-- };
        },
      },
      speech: { speechToText: caller, callSpeech, synthesis, tally: new UsageTally() },
      clock,
      onError,
    },
    stream,
    party,
  );
  const say = async (text: string) => {
    stream.speak(caller.say(text, 500));
    await stream.advance(1_500);
  };
  return { clock, stream, caller, voice, say, served, said, detectors, errors, closed };
}

describe('A transfer target', () => {
  const briefing = (acceptBy: 'answer' | 'digit' | 'speech', announce = 'Ann calls.') =>
    partyStream({ kind: 'briefing', to: TO, announce, acceptBy, acceptDigit: '1' });

  test('is told who calls, after which it has the call by staying', async () => {
    const { stream, voice, served } = briefing('answer');
    await stream.advance(400);
    expect(stream.commands).toEqual([]);
    await stream.advance(1_000);
    expect(voice.texts).toEqual(['Ann calls.']);
    expect(stream.commands).toEqual([{ kind: 'briefing', outcome: 'told' }]);
    await stream.hangUp();
    await served;
  });

  test('is asked for a digit, and again 6 s after the question while none comes', async () => {
    const { stream, voice, served } = briefing('digit');
    const question = 'To take the call, press 1. To refuse it, press another key.';
    const toldMs = 600 + question.split(' ').length * 300;
    await stream.advance(toldMs + 5_800);
    expect(voice.texts.join(' ')).toBe(`Ann calls. ${question}`);
    expect(stream.agentAudio().at(-1)).toBe(0);
    await stream.advance(600);
    expect(stream.agentAudio().at(-1)).not.toBe(0);
    await stream.hangUp();
    await served;
    expect(stream.commands).toEqual([]);
  });

  test.each([
    ['over the text', 300],
    ['after the question', 6_000],
  ])('that hangs up %s is told no more', async (_, afterMs) => {
    const { clock, stream, served } = briefing('speech');
    await stream.advance(afterMs);
    await stream.hangUp();
    await served;
    expect([clock.pendingTimers(), stream.commands]).toEqual([0, []]);
  });

  test.each([
    ['yes', 'accepted', 1_000],
    ['not now', 'refused', 5_000],
  ])('that says "%s" has %s the call, %i ms after the beginning', async (words, outcome, atMs) => {
    const { clock, stream, caller, voice, say, served, errors } = briefing('speech');
    await stream.advance(atMs);
    await say('hello');
    expect(stream.commands).toEqual([]);
    await say(words);
    expect(stream.commands).toEqual([{ kind: 'briefing', outcome }]);
    expect(caller.hints[0]).toEqual(expect.arrayContaining(['yes', 'not now']));
    expect(stream.agentAudio().at(-1)).toBe(0);
    expect(clock.pendingTimers()).toBe(0);
    expect(voice.texts.join(' ')).toBe(`Ann calls. ${YES_OR_NO}`);
    await stream.hangUp();
    await served;
    expect(errors).toEqual([]);
  });

  test('that hangs up with its answer has not given it', async () => {
    const { stream, caller, served } = briefing('speech');
    await stream.advance(1_000);
    stream.speak(caller.say('yes', 300));
    await stream.advance(300);
    await stream.hangUp();
    await served;
    expect(stream.commands).toEqual([]);
  });

  test('that cannot be told is left', async () => {
    const { stream, voice, served, errors, closed } = briefing('answer');
    voice.failures = 9;
    await stream.advance(5_000);
    await served;
    expect(stream.commands).toEqual([]);
    expect(closed).toEqual([{ code: 1011, reason: 'no speech' }]);
    expect(errors).toEqual(['transfer target not told: speech synthesis failed']);
  });
});

test.each([
  ['caller', { role: 'user', content: 'my order' }],
  ['target', { role: 'assistant', name: TO, content: 'my order' }],
] as const)(
  'What the %s of a joined call says is in the history, up to the last word',
  async (speaker, message) => {
    const party = { kind: 'listener', speaker, to: TO } as const;
    const { stream, caller, say, served, said, detectors, errors } = partyStream(party);
    const kept = ['instance', { ...message, speech: { recognition: 'scripted' } }];
    await say('my order');
    expect(said).toEqual([kept]);
    stream.speak(caller.say('bye', 300));
    await stream.advance(300);
    await stream.hangUp();
    await served;
    expect(said).toEqual([kept, ['instance', expect.objectContaining({ content: 'bye' })]]);
    expect([errors, detectors.open]).toEqual([[], 0]);
  },
);

test('A party is heard by the recognizer that the agent names, and by the next one when it fails', async () => {
  const [own, second] = [scriptedCaller(), scriptedCaller()];
  const left: unknown[] = [];
  const callSpeech = {
    recognizersFor: async () => [
      { ...own, name: 'own' },
      { ...second, name: 'second' },
    ],
    leave: (...told: unknown[]) => void left.push(told.slice(0, 3)),
  } as unknown as CallSpeech;
  const party = { kind: 'listener', speaker: 'caller', to: TO } as const;
  const { stream, served, said } = partyStream(party, { callSpeech });
  stream.speak(own.say('my', 300));
  // A pause that ends no sentence.
  stream.speak(new Int16Array(8 * 600));
  stream.speak(own.say('order', 300));
  await stream.advance(2_000);
  own.fail = new ModelError('model_unavailable', 'away');
  stream.speak(own.say('please', 300));
  await stream.advance(1_500);
  stream.speak(second.say('again', 300));
  await stream.advance(1_500);
  expect(left).toEqual([['recognition', 'own', 'second']]);
  const words = (content: string, recognition: string) => ({
    role: 'user',
    content,
    speech: { recognition },
  });
  expect(said).toEqual([
    ['instance', words('my order', 'own')],
    ['instance', words('again', 'second')],
  ]);
  await stream.hangUp();
  await served;
});

test('Words that cannot be recognized are reported, and the next ones are heard', async () => {
  const { stream, caller, say, served, said, errors } = partyStream({
    kind: 'listener',
    speaker: 'caller',
    to: TO,
  });
  caller.fail = new Error('away');
  await say('one');
  caller.fail = undefined;
  await say('two');
  await stream.hangUp();
  await served;
  expect(errors).toContain('speech recognition failed');
  expect(said).toHaveLength(1);
});

test('A stream of a session that has ended is refused', async () => {
  const { served } = partyStream({ kind: 'listener', speaker: 'caller', to: TO }, { isLive: false });
  await expect(served).rejects.toMatchObject({ category: 'gone', code: 'session_ended' });
});
