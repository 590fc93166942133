import { describe, expect, test } from 'vitest';

import { newAgentConfig } from '../../src/agents/agentConfig.ts';
import { SessionHistory } from '../../src/conversation/turns/sessionHistory.ts';
import { draftSession } from '../../src/engine/session/session.ts';
import type { NewLiveEvent } from '../../src/events/liveEvent.ts';
import { BotConversation } from '../../src/text/botConversation.ts';
import type { TextBot, TextBotListener } from '../../src/text/textBot.ts';
import { PROJECT } from '../support/memoryEngine.ts';
import { greeted, lastMessage, simulatedCall } from '../voice/support/simulatedCall.ts';

const LONG = 'One two three four. Five six seven eight. Nine ten eleven twelve.';

/** A call between a scripted caller and a scripted bot. */
function botCall({ refuses = false } = {}) {
  const told: unknown[][] = [];
  const liveEvents: NewLiveEvent[] = [];
  let bot: TextBotListener | undefined;
  let isClosed = false;
  const connection: TextBot = {
    words: (...given) => void told.push(['words', ...given]),
    dtmf: (...given) => void told.push(['dtmf', ...given]),
    interrupted: (...given) => void told.push(['interrupted', ...given]),
    close: () => {
      isClosed = true;
    },
  };
  let conversation: BotConversation | undefined;
  const call = simulatedCall({
    answer: () => ({ text: 'the pathway does not speak' }),
    withDeps(deps) {
      const history = new SessionHistory(deps);
      history.onSession('i-1');
      const session = draftSession(
        { projectId: PROJECT, sessionId: 's', channel: 'phone' },
        '2026-01-01T00:00:00Z',
      );
      conversation = new BotConversation({
        ...deps,
        session: { ...session, instanceId: 'i-1', releaseId: 'r-1' },
        agent: newAgentConfig('Test'),
        history,
        fetchClip: async (url) => {
          if (!url.endsWith('.wav')) throw new Error('not a WAV file');
          return new Int16Array(4000).fill(9000);
        },
        connect: async (listener) => {
          if (refuses) throw new Error('refused');
          bot = listener;
          return connection;
        },
        command: (command) => deps.stream.command(command),
        liveEvents: { publish: (event) => void liveEvents.push(event) },
      });
      return { engine: conversation, initiative: conversation.initiative };
    },
  });
  const listener = () => {
    if (!bot) throw new Error('no bot');
    return bot;
  };
  return {
    ...call,
    told,
    /** Of turns: the type, its number, and what was said. */
    turnEvents: () =>
      liveEvents.map(({ type, data }) => {
        const { turn, text, input } = data as { turn: number; text?: string; input?: string };
        return [type, turn, text ?? input];
      }),
    bot: listener,
    botSays(text: string, more: { isLast?: boolean; interruptible?: boolean; language?: string } = {}) {
      const { isLast = true, interruptible = true, language } = more;
      listener().say({ text, isLast, interruptible, language });
    },
    async end() {
      await call.hangUp();
      conversation?.close();
      await new Promise((resolve) => setImmediate(resolve));
      return isClosed;
    },
  };
}

describe('A bot of text turns', () => {
  test('greets, gets the caller’s words, and speaks as its tokens come', async () => {
    const call = botCall();
    await call.stream.advance(500);
    call.botSays('Hello there.');
    await greeted(call);
    await call.say('A table for two.', 1200);
    await call.stream.until(() => call.told.length === 1);
    expect(call.told).toEqual([['words', 'A table for two.', undefined]]);
    for (const token of ['For ', 'what ', 'time? ']) call.botSays(token, { isLast: false });
    await call.agentSpeaks();
    call.botSays('We open at six.');
    await call.agentFallsSilent();
    await call.stream.advance(3000);
    expect(await call.end()).toBe(true);
    expect(call.transcript()).toEqual([
      'assistant: Hello there.',
      'user: A table for two.',
      'assistant: For what time? We open at six.',
    ]);
    expect(call.voice.texts).toEqual(['Hello there.', 'For what time?', 'We open at six.']);
    expect(lastMessage(call)).toMatchObject({
      speech: { synthesis: 'scripted-5000' },
      latencyMs: expect.any(Number),
      latencyParts: { preemptive: 'none' },
    });
  });

  test('is told what the caller heard before an interruption, and no more of its answer is said', async () => {
    const call = botCall();
    await call.stream.advance(200);
    call.botSays(LONG, { isLast: false });
    await call.agentSpeaks();
    await call.stream.advance(1500);
    await call.say('No I want something else.', 1000);
    await call.stream.until(() => call.told.some(([kind]) => kind === 'interrupted'));
    const [, heard, heardMs] = call.told.find(([kind]) => kind === 'interrupted') ?? [];
    expect(heard).toBe('One two three four. Five six');
    expect(heardMs).toBeGreaterThan(1500);
    expect(call.sessionEvents).toMatchObject([{ type: 'barge_in', data: { heardMs } }]);
    expect(lastMessage(call)?.interrupted).toBe(true);
    call.botSays('Thirteen fourteen.');
    await call.stream.until(() => call.told.some(([kind]) => kind === 'words'));
    call.botSays('Of course.');
    await greeted(call);
    await call.end();
    expect(call.transcript()).toEqual([
      'assistant: One two three four. Five six',
      'user: No I want something else.',
      'assistant: Of course.',
    ]);
  });

  test('sends live turn events, like an agent', async () => {
    const call = botCall();
    await call.stream.advance(200);
    call.botSays('Hello there.');
    await greeted(call);
    await call.say('A table for two.', 1200);
    await call.stream.until(() => call.told.length === 1);
    call.botSays(LONG);
    await call.agentSpeaks();
    await call.stream.advance(700);
    await call.say('Stop it please now.', 1200);
    await call.stream.until(() => call.told.length === 3);
    call.botSays('Of course.');
    await greeted(call);
    call.stream.pressDigit('7');
    await call.stream.advance(200);
    await call.end();
    expect(call.turnEvents()).toEqual([
      ['turn.started', 1, 'begin'],
      ['turn.started', 2, 'say'],
      ['turn.agent', 2, 'Hello there.'],
      ['turn.started', 3, 'user_message'],
      ['turn.user', 3, 'A table for two.'],
      ['turn.interrupted', 3, 'One two three'],
      ['turn.agent', 3, 'One two three'],
      ['turn.started', 4, 'user_message'],
      ['turn.user', 4, 'Stop it please now.'],
      ['turn.agent', 4, 'Of course.'],
      ['turn.started', 5, 'dtmf'],
      ['turn.user', 5, '7'],
    ]);
  });

  test('gets each digit at once', async () => {
    const call = botCall();
    await call.stream.advance(200);
    for (const digit of ['4', '2', '#']) {
      call.stream.pressDigit(digit);
      await call.stream.advance(100);
    }
    expect(call.told).toEqual([
      ['dtmf', '4'],
      ['dtmf', '2'],
      ['dtmf', '#'],
    ]);
    call.botSays('Thank you.');
    await greeted(call);
    await call.end();
    expect(call.transcript()).toContain('assistant: Thank you.');
  });

  test('is asked nothing in a silence, and nothing is said in its place', async () => {
    const call = botCall();
    await call.stream.advance(40_000);
    expect(call.told).toEqual([]);
    expect(call.voice.texts).toEqual([]);
    await call.say('Hello?', 600);
    await call.stream.advance(20_000);
    expect(call.voice.texts).toEqual([]);
    await call.end();
  });

  test('gets the rest of a sentence that went on before it answered', async () => {
    const call = botCall();
    await call.stream.advance(200);
    await call.say('I would like', 900);
    await call.stream.until(() => call.told.length === 1);
    await call.say('a table.', 700);
    await call.stream.until(() => call.told.length === 2);
    expect(call.told).toEqual([
      ['words', 'I would like', undefined],
      ['words', 'a table.', undefined],
    ]);
    call.botSays('Sure.');
    await greeted(call);
    await call.end();
    expect(call.transcript()).toEqual(['user: I would like a table.', 'assistant: Sure.']);
  });

  test('is told that an answer was undone by the rest of a sentence, and nothing of it is said', async () => {
    const call = botCall();
    await call.stream.advance(200);
    await call.say('I would like', 900);
    await call.stream.until(() => call.told.length === 1);
    call.botSays('Whi', { isLast: false });
    await call.stream.advance(40);
    call.stream.speak(call.caller.say('a table.', 700));
    await call.stream.until(() => call.told.length === 2);
    call.botSays('ch day?');
    await call.stream.until(() => call.told.length === 3);
    expect(call.told.slice(1)).toEqual([
      ['interrupted', '', 0],
      ['words', 'a table.', undefined],
    ]);
    call.botSays('Sure.');
    await greeted(call);
    await call.end();
    expect(call.transcript()).toEqual(['user: I would like a table.', 'assistant: Sure.']);
  });

  test('is not there for the caller’s last words, which the history has', async () => {
    const call = botCall();
    await call.stream.advance(200);
    await call.say('A table for two.', 1200);
    await call.end();
    expect(call.told).toEqual([]);
    expect(call.transcript()).toEqual(['user: A table for two.']);
  });

  test('may forbid interruptions of what it says', async () => {
    const call = botCall();
    await call.stream.advance(200);
    call.botSays(LONG, { interruptible: false });
    await call.agentSpeaks();
    await call.say('No I want something else.', 1000);
    expect(call.isAgentSpeaking()).toBe(true);
    await call.agentFallsSilent();
    expect(call.told.filter(([kind]) => kind === 'interrupted')).toEqual([]);
    await call.end();
  });

  test('speaks in the language of its tokens', async () => {
    const call = botCall();
    await call.stream.advance(200);
    call.botSays('Hola.', { language: 'es-MX' });
    await greeted(call);
    expect(call.voice.texts).toEqual(['Hola.']);
    call.bot().useLanguage({ spoken: 'es-MX', understood: undefined });
    await call.say('Hola.', 600);
    await call.stream.until(() => call.told.length === 1);
    expect(call.told).toEqual([['words', 'Hola.', 'es-MX']]);
    await call.end();
  });

  test('sends digits into the call, and plays recordings', async () => {
    const call = botCall();
    await call.stream.advance(200);
    call.bot().sendDigits('12#');
    expect(call.stream.commands).toEqual([{ kind: 'send_dtmf', digits: '12#' }]);
    call.bot().play({ url: 'https://x.example/a.wav', times: 2, interruptible: true });
    await call.agentSpeaks();
    await call.agentFallsSilent();
    expect(call.stream.agentAudio().filter((sample) => sample === 9000).length).toBeGreaterThan(7500);
    call.bot().play({ url: 'https://x.example/a.mp3', times: 1, interruptible: true });
    await call.stream.advance(500);
    expect(call.sessionEvents).toMatchObject([{ type: 'error', data: { code: 'play_failed' } }]);
    await call.end();
  });

  test('may answer with a recording alone', async () => {
    const call = botCall();
    await call.stream.advance(200);
    await call.say('Play it.', 600);
    await call.stream.until(() => call.told.length === 1);
    call.bot().play({ url: 'https://x.example/a.wav', times: 1, interruptible: true });
    await greeted(call);
    await call.stream.advance(1000);
    expect(call.voice.texts).toEqual([]);
    await call.end();
  });

  test('ends the call once its last words were heard', async () => {
    const call = botCall();
    await call.stream.advance(200);
    call.botSays('Goodbye then.');
    call.bot().end('{"reasonCode":"done"}');
    await call.agentSpeaks();
    expect(call.stream.commands).toEqual([]);
    await call.agentFallsSilent();
    await call.stream.until(() => call.stream.commands.length > 0);
    expect(call.stream.commands).toEqual([{ kind: 'hangup' }]);
    expect(call.sessionEvents).toContainEqual(
      expect.objectContaining({ data: { status: 'handoff', handoffData: '{"reasonCode":"done"}' } }),
    );
    await call.end();
  });
});

describe('A bot that is lost', () => {
  test.each([
    ['in the call', false, { code: 'engine_unavailable' }],
    ['before it, since it refuses', true, { message: 'refused' }],
  ])('%s leaves the caller with an apology and a failed call', async (_when, refuses, problem) => {
    const call = botCall({ refuses });
    await call.stream.advance(200);
    if (!refuses) call.bot().closed(false);
    await call.agentSpeaks();
    expect(call.voice.texts[0]).toContain('I am sorry');
    expect(call.errors).toMatchObject([problem]);
    await call.stream.until(() => call.stream.commands.length > 0);
    expect(call.stream.commands).toEqual([{ kind: 'hangup', reason: 'error' }]);
    await call.end();
  });

  test('in its answer leaves what the caller said in the history', async () => {
    const call = botCall();
    await call.stream.advance(200);
    await call.say('A table for two.', 1200);
    await call.stream.until(() => call.told.length === 1);
    call.bot().closed(false);
    await call.stream.until(() => call.stream.commands.length > 0);
    await call.end();
    expect(call.transcript()[0]).toBe('user: A table for two.');
  });

  test('by a flood of words is the same', async () => {
    const call = botCall();
    await call.stream.advance(200);
    for (let n = 0; n < 20_001; n++) call.botSays('', { isLast: false });
    await call.stream.until(() => call.stream.commands.length > 0, 60_000);
    expect(call.stream.commands).toMatchObject([{ kind: 'hangup', reason: 'error' }]);
    await call.end();
  });
});
