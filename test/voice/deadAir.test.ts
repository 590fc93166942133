import { describe, expect, test } from 'vitest';

import { sleep } from '../../src/base/sleep.ts';
import type { ChatRequest } from '../../src/providers/ports/chatModel.ts';
import { slowSaves } from '../support/slowSaves.ts';
import { WORD_MS } from './support/scriptedSpeech.ts';
import { type SimulatedCall, simulatedCall, soundMs } from './support/simulatedCall.ts';

const GREETING = { text: 'Hello there. How can I help you?' };
const MOMENT = 'One moment, please.';

async function greeted(call: SimulatedCall): Promise<void> {
  await call.agentSpeaks();
  await call.agentFallsSilent();
  await call.stream.advance(100);
}

/** Until the agent sounds again, and what that is; time is counted from the call. */
async function silenceMs(call: SimulatedCall): Promise<number> {
  const from = call.stream.nowMs();
  await call.agentSpeaks();
  return call.stream.nowMs() - from;
}

describe('a long wait is covered', () => {
  test('before the greeting', async () => {
    const call = simulatedCall({ answer: () => ({ hang: true }) });
    expect(await silenceMs(call)).toBeLessThanOrEqual(4100);
    expect(call.voice.texts).toEqual([MOMENT]);
    await call.stream.hangUp();
    await call.report;
  });

  test('in the middle of an answer, and what follows is said after it', async () => {
    let goOn = () => {};
    const after = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const model = {
      name: 'pausing',
      async *stream({ model }: { readonly model: string }) {
        yield { type: 'text', text: 'Let me look into that. And ' } as const;
        await after;
        yield { type: 'text', text: 'so it is.' } as const;
        yield { type: 'end', finishReason: 'stop', model } as const;
      },
    };
    const call = simulatedCall({ answer: () => ({}), model });
    await call.agentSpeaks();
    await call.agentFallsSilent();
    expect(await silenceMs(call)).toBeLessThanOrEqual(4100);
    goOn();
    await call.agentFallsSilent();
    await call.stream.advance(2000);
    await call.stream.hangUp();
    await call.report;
    expect(call.transcript()).toEqual([`assistant: Let me look into that. ${MOMENT} And so it is.`]);
  });

  test('again where it takes longer, and not while the caller has put the agent on hold', async () => {
    const call = simulatedCall({ answer: (index) => (index === 0 ? GREETING : { hang: true }) });
    await greeted(call);
    await call.say('Who are you?', 600);
    await call.agentSpeaks();
    await call.agentFallsSilent();
    call.stream.putOnHold(true);
    await call.stream.advance(20_000);
    call.stream.putOnHold(false);
    expect(soundMs(call.stream.agentAudio())).toBeCloseTo(7 * WORD_MS + 3 * WORD_MS, -2);
    expect(await silenceMs(call)).toBeGreaterThan(3900);
    await call.stream.hangUp();
    await call.report;
  });

  test('and is no answer where it is cut short: the history says what was heard, and that it was cut', async () => {
    const call = simulatedCall({
      answer: (index) => [GREETING, { hang: true }, { text: 'Here.' }][index] ?? {},
    });
    await greeted(call);
    await call.say('Where are you?', 600);
    await call.stream.until(() => call.voice.texts.at(-1) === MOMENT);
    await call.agentSpeaks();
    await call.stream.advance(200);
    await call.say('Hello, where are you?', 1200);
    await greeted(call);
    await call.stream.hangUp();
    expect((await call.report).interruptions).toBe(1);
    const messages = call.memory.records.flatMap((record) => record.messages);
    expect(messages[2]).toMatchObject({ content: 'One moment,', interrupted: true });
    expect(call.memory.events().filter(({ type }) => type === 'barge_in')).toMatchObject([
      { data: { heardText: 'One moment,' } },
    ]);
  });
});

test('who speaks while an answer that was heard is being kept has not cut it short', async () => {
  const saves = slowSaves();
  const call = simulatedCall({
    answer: (index) => [GREETING, { text: 'It is noon.' }, { text: 'Gladly.' }][index] ?? {},
    wrapSessions: saves.wrapSessions,
  });
  await greeted(call);
  saves.hold();
  await call.say('What time is it?', 600);
  await call.agentSpeaks();
  await call.agentFallsSilent();
  await call.say('Thank you very much.', 900);
  saves.letGo();
  await greeted(call);
  await call.stream.hangUp();
  expect(await call.report).toMatchObject({ interruptions: 0 });
  expect(call.transcript().slice(1)).toEqual([
    'user: What time is it?',
    'assistant: It is noon.',
    'user: Thank you very much.',
    'assistant: Gladly.',
  ]);
  expect(call.memory.events().filter(({ type }) => type === 'barge_in')).toEqual([]);
});

test.each([240, 320, 400, 480, 560, 720])(
  'a caller who goes on %d ms after an answer that was expected has all of it kept, and once',
  async (pauseMs) => {
    let clock: SimulatedCall['clock'] | undefined;
    const model = {
      name: 'waiting',
      async *stream(request: ChatRequest, signal: AbortSignal) {
        const isAnswer = request.messages.some(({ role }) => role === 'user');
        if (isAnswer && clock) await sleep(clock, 300, signal);
        const text = isAnswer ? 'I have booked it for you, as you like it.' : 'Shall I book it?';
        yield { type: 'text', text } as const;
        yield { type: 'end', finishReason: 'stop', model: request.model } as const;
      },
    };
    const data = { title: 'Talk', prompt: 'Talk.', expectedAnswers: ['yes'] };
    const call = simulatedCall({
      answer: () => ({}),
      model,
      pathway: { nodes: [{ id: 'start', type: 'start', data }], edges: [] },
    });
    clock = call.clock;
    await greeted(call);
    await call.say('yes', 400);
    await call.stream.advance(pauseMs);
    const agentMs = () => soundMs(call.stream.agentAudio());
    const before = agentMs();
    await call.say('but not on Monday', 1200);
    // As much speech as cuts in, and the 5 ms of the fade.
    expect(agentMs() - before).toBeLessThanOrEqual(405);
    await call.stream.advance(2500);
    await call.stream.hangUp();
    await call.report;
    const said = call.transcript().filter((line) => line.startsWith('user: '));
    expect(said.map((line) => line.slice('user: '.length)).join(' ')).toBe('yes but not on Monday');
  },
);
