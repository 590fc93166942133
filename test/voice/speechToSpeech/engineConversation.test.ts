import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';

import type { ChatEvent } from '../../../src/models/ports/chatModel.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type {
  SpeechToSpeech,
  SpeechToSpeechEvent,
  SpeechToSpeechRequest,
} from '../../../src/models/ports/speechToSpeech.ts';
import { EngineConversation } from '../../../src/voice/speechToSpeech/engineConversation.ts';
import { candidate } from '../../models/support/candidate.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const QUESTION = { role: 'user', content: 'What does it cost?' } as const;
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A conversation with a model that says what it is told to. */
function scene({ finds = true } = {}) {
  const clock = createSimulatedClock();
  const sent: unknown[] = [];
  const requests: SpeechToSpeechRequest[] = [];
  const reports: unknown[] = [];
  const lost: string[] = [];
  let emit: (event: SpeechToSpeechEvent) => void = () => undefined;
  let found: () => void = () => undefined;
  const engine: SpeechToSpeech = {
    name: 'engine',
    model: 'model-1',
    sampleRateHz: 8000,
    connect(options, onEvent) {
      sent.push(options);
      emit = onEvent;
      return {
        push: () => undefined,
        commit: () => 0,
        discard: () => undefined,
        answer: (request) => void requests.push(request),
        cancel: () => void sent.push('cancel'),
        truncate: (...told) => void sent.push(told),
        close: () => void sent.push('close'),
      };
    },
    close: async () => undefined,
  };
  const metrics = {
    recordError: ({ message }: { message: string }) => void reports.push(message),
    recordFirstOutput: (ms: number) => void reports.push(ms),
    recordOutput: () => undefined,
  };
  const conversation = new EngineConversation(
    {
      engines: {
        find: () =>
          new Promise((resolve) => {
            found = () => resolve({ ...candidate(engine), metrics });
            if (finds) found();
          }),
        breakers: {
          isClosed: () => true,
          succeeded: () => void reports.push('done'),
          failed: () => undefined,
        },
        close: () => undefined,
      },
      sampleRateHz: 8000,
      language: () => 'en',
      transcribe: async () => ({ text: '' }),
      clock,
      onFallback: (_from, _to, { message }) => lost.push(message),
    },
    { provider: 'openai-realtime', model: 'model-1' },
  );
  /** Asks for an answer, and reads it. */
  function ask() {
    const turn = new AbortController();
    const events: ChatEvent[] = [];
    const answer = { events, turn, outcome: undefined as unknown };
    const messages = [{ role: 'system', content: 'Be kind.' } as const, QUESTION];
    void (async () => {
      for await (const event of conversation.stream({ model: 'model-1', messages }, turn.signal))
        events.push(event);
      answer.outcome = 'done';
    })().catch((error: unknown) => {
      answer.outcome = error;
    });
    return answer;
  }
  const event = async (told: SpeechToSpeechEvent) => {
    emit(told);
    await settle();
  };
  return { ask, clock, conversation, event, found: () => found(), lost, reports, requests, sent };
}

const CONNECTED = { type: 'connected' } as const;
const text = (words: string) => ({ type: 'text', text: words }) as const;

describe('An answer of a speech-to-speech model', () => {
  test('is asked for once it is connected, and its times are reported', async () => {
    const { ask, clock, conversation, event, lost, reports, requests, sent } = scene();
    const first = ask();
    await settle();
    expect(sent).toEqual([{ sampleRateHz: 8000, language: 'en' }]);
    expect(requests).toMatchObject([
      { instructions: 'Be kind.', step: '', tools: [], withheldTools: [], messages: [QUESTION] },
    ]);
    clock.advance(1400);
    await event(CONNECTED);
    clock.advance(1400);
    await event(text('Ten '));
    clock.advance(3900);
    await event(text('euros.'));
    await event({ type: 'done' });
    expect([first.outcome, reports]).toEqual(['done', [2800, 'done']]);
    expect(first.events.map(({ type }) => type)).toEqual(['text', 'text', 'end']);
    clock.advance(60_000);
    const second = ask();
    await settle();
    // What the model has said itself is no news.
    expect(requests[1]?.news).toEqual([]);
    clock.advance(100);
    await event({ type: 'tool_call', call: { id: 'c', name: 'find', arguments: '{}' } });
    await event({ type: 'done' });
    expect([second.outcome, reports.slice(2)]).toEqual(['done', [100, 'done']]);
    expect(getEventListeners(second.turn.signal, 'abort')).toEqual([]);
    expect([lost, clock.pendingTimers(), sent]).toEqual([[], 0, [{ sampleRateHz: 8000, language: 'en' }]]);
    conversation.close();
  });

  test('is cancelled with its turn, and what comes of it still is of no turn', async () => {
    const { ask, clock, event, lost, reports, sent } = scene();
    await settle();
    await event(CONNECTED);
    const answer = ask();
    await settle();
    await event(text('Ten '));
    const reason = new Error('the caller interrupted');
    answer.turn.abort(reason);
    await settle();
    expect([answer.outcome, sent.slice(1)]).toEqual([reason, ['cancel']]);
    await event(text('euros.'));
    await event({ type: 'done' });
    clock.advance(60_000);
    expect([answer.events.length, lost, reports]).toEqual([1, [], [0]]);
  });

  test('is not asked for where its turn ended before the connection was made', async () => {
    const { ask, found, requests } = scene({ finds: false });
    const answer = ask();
    answer.turn.abort(new Error('too late'));
    found();
    await settle();
    expect([answer.outcome, requests]).toEqual([new Error('too late'), []]);
  });
});

describe('A speech-to-speech model is lost', () => {
  test.each([
    ['did not connect in time', [], 1500],
    ['did not start to answer in time', [CONNECTED], 1500],
    ['stopped in the middle of an answer', [CONNECTED, text('Ten ')], 4000],
  ])('where it %s', async (what, events, timeoutMs) => {
    const { ask, clock, event, lost, reports, sent } = scene();
    const answer = ask();
    await settle();
    for (const one of events) await event(one);
    clock.advance(timeoutMs - 1);
    await settle();
    expect([answer.outcome, lost]).toEqual([undefined, []]);
    clock.advance(1);
    await settle();
    const message = `openai-realtime ${what}`;
    expect([(answer.outcome as Error).message, lost, reports.at(-1)]).toEqual([message, [message], message]);
    expect([sent.includes('close'), clock.pendingTimers()]).toEqual([true, 0]);
    await event(text('Too late.'));
    await event({ type: 'failed', error: new ModelError('model_unavailable', 'closed') });
    expect([lost.length, reports.length]).toEqual([1, events.length === 2 ? 2 : 1]);
    const next = ask();
    await settle();
    expect((next.outcome as Error).message).toBe(message);
  });

  test('where it cannot be found: what is asked of it fails', async () => {
    const { ask, clock, conversation, found, lost, sent } = scene({ finds: false });
    const answer = ask();
    clock.advance(1500);
    await settle();
    expect([(answer.outcome as Error).message, lost.length]).toEqual([lost[0], 1]);
    // Found after all, it is closed at once.
    found();
    await settle();
    expect(sent).toEqual([{ sampleRateHz: 8000, language: 'en' }, 'close']);
    const late = ask();
    await settle();
    expect((late.outcome as Error).message).toBe(lost[0]);
    conversation.close();
  });

  test('by whoever leaves it, without a report', async () => {
    const { ask, clock, conversation, lost, reports, sent } = scene();
    const answer = ask();
    await settle();
    conversation.close();
    await settle();
    expect((answer.outcome as Error).message).toBe('openai-realtime was left');
    expect([lost, reports, clock.pendingTimers()]).toEqual([[], [], 0]);
    expect(sent).toContain('close');
  });
});

test('A speech is truncated as long as the model is there', async () => {
  const { ask, conversation, event, sent } = scene();
  await settle();
  await event(CONNECTED);
  const answer = ask();
  await settle();
  await event({ type: 'speech', speechId: 'a', samples: new Int16Array(160) });
  const [said] = answer.events;
  const speech = said?.type === 'speech' ? said.speech : undefined;
  speech?.truncate(10);
  conversation.close();
  speech?.truncate(5);
  expect(sent.slice(1)).toEqual([['a', 10], 'close']);
});
