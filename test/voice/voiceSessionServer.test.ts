import pino from 'pino';
import { describe, expect, test } from 'vitest';
import type { AgentRelease } from '../../src/agents/releases/release.ts';
import type { StreamInfo } from '../../src/conversation/streams/audioStream.ts';
import type { ConversationEngine } from '../../src/engine/conversationEngine.ts';
import type { ReleaseStore } from '../../src/engine/session/releases.ts';
import type { HistoryEvent, Session } from '../../src/engine/session/session.ts';
import { createBreakers } from '../../src/models/failover/circuitBreaker.ts';
import { ModelError } from '../../src/models/ports/modelError.ts';
import type { ProviderFallback, SpeechProviders } from '../../src/models/selection/callProviders.ts';
import type { TextBotListener } from '../../src/text/textBot.ts';
import type { VoiceSessionDeps } from '../../src/voice/voiceSession.ts';
import { createVoiceSessionServer, type VoiceSessionServerDeps } from '../../src/voice/voiceSessionServer.ts';
import { type MemoryEngine, memoryEngine, PROJECT } from '../support/memoryEngine.ts';
import { scriptedModel } from '../support/scriptedModel.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { unused } from '../support/unused.ts';
import { loudActivity, scriptedCaller, scriptedVoice } from './support/scriptedSpeech.ts';
import { scriptedSynthesizer } from './support/scriptedSynthesizer.ts';
import { ONE_NODE } from './support/simulatedCall.ts';
import { createSimulatedStream } from './support/simulatedStream.ts';

const GREETING = 'Hello there.';

interface ServedOptions {
  readonly callId?: string;
  readonly placeholder?: string;
  readonly language?: string;
  readonly deps?: Partial<VoiceSessionServerDeps>;
  readonly info?: Partial<StreamInfo>;
  /** Before the stream is served. */
  readonly before?: (memory: MemoryEngine) => Promise<unknown>;
}

/** A stream served by the voice session server. */
function served({ callId, placeholder, language, deps, info = {}, before }: ServedOptions) {
  const clock = createSimulatedClock();
  const stream = createSimulatedStream({ clock, info, ...(callId === undefined ? {} : { callId }) });
  const memory = memoryEngine({ model: scriptedModel(() => ({ text: GREETING })), pathway: ONE_NODE, clock });
  const voice = scriptedVoice();
  const caller = scriptedCaller();
  const logs: string[] = [];
  const ended: string[] = [];
  const placeholderMessages = placeholder === undefined ? {} : { en: [placeholder] };
  const server = createVoiceSessionServer({
    engine: unused<ConversationEngine & VoiceSessionDeps['engine']>('engine', {
      initiative: undefined,
      runTurn: (...turn) => memory.engine.runTurn(...turn),
      attach: (...ids) => memory.engine.attach(...ids),
      detach: (...ids) => ended.push(ids.join(' ')),
      async find(...ids) {
        const session = await memory.engine.find(...ids);
        return session && withVariables(session, { language });
      },
    }),
    historyStore: {
      addEvents: async () => undefined,
      addMessages: async () => undefined,
      addHeard: async () => undefined,
      addUsage: async () => undefined,
    },
    voiceActivity: loudActivity,
    speechToText: caller,
    textToSpeech: voice,
    clock,
    calls: { find: async () => undefined, setAnsweredBy: async () => undefined },
    releases: unused<ReleaseStore>('releases', {
      find: async () =>
        ({ agent: { placeholderMessages }, pathway: { nodes: [] } }) as unknown as AgentRelease,
    }),
    sessions: { find: async () => undefined, saveTurn: async () => undefined },
    checkpoints: { put: async () => undefined, find: async () => undefined, drop: async () => undefined },
    logger: pino({}, { write: (line: string) => logs.push(JSON.parse(line).msg) }),
    ...deps,
  });
  const report = Promise.resolve(before?.(memory)).then(() => server.serve(stream));
  return { clock, stream, voice, caller, memory, server, report, logs, ended };
}

const withVariables = (session: Session, variables: Session['state']['variables']): Session => ({
  ...session,
  state: { ...session.state, variables: { ...session.state.variables, ...variables } },
});

test('A voice session is logged, and reported when it ends', async () => {
  const { stream, report, logs, ended, memory } = served({});
  await stream.advance(1000);
  expect(memory.session().channel).toBe('web');
  await stream.hangUp();
  expect((await report).outcome).toBe('closed');
  expect(logs).toEqual(['voice session started', 'agent turn spoken', 'voice session ended']);
  expect(ended).toEqual([`${PROJECT} s`]);
});

test.each([
  ['the agent’s own filler', { placeholder: 'Hold on.' }, 'Hold on.', /^I am sorry/],
  ['the fallback phrase without one', {}, 'One moment, please.', /^I am sorry/],
  ['the session’s language', { language: 'de-AT' }, 'Einen Moment, bitte.', /^Es tut/],
])('Failover prompts are sent after 2 s, in %s', async (_, options, waiting, apology) => {
  const { stream, voice } = served({ callId: 'call-1', ...options });
  await stream.advance(1900);
  expect(stream.failoverPrompts).toEqual([]);
  await stream.advance(200);
  expect(stream.failoverPrompts).toHaveLength(1);
  const [prompts] = stream.failoverPrompts;
  expect([prompts?.waiting.length, prompts?.apology.length]).not.toContain(0);
  expect(voice.texts).toEqual([GREETING, waiting, expect.stringMatching(apology)]);
  await stream.hangUp();
});

test('Failover prompts are sent neither on streams without a call nor after its end', async () => {
  const web = served({});
  await web.stream.advance(4000);
  expect(web.voice.texts).toEqual([GREETING]);
  await web.stream.hangUp();
  const short = served({ callId: 'call-1' });
  await short.stream.advance(1000);
  await short.stream.hangUp();
  await short.report;
  short.clock.advance(10_000);
  await new Promise(setImmediate);
  expect(short.voice.texts).toEqual([GREETING]);
});

test('The speech providers of a call are the project’s, and a failover between them is logged and kept', async () => {
  const [opened, events]: [unknown[], unknown[]] = [[], []];
  let leave: (fallback: ProviderFallback) => void = () => undefined;
  const speechProviders: SpeechProviders = {
    counted: (_projectId, vendors) => vendors,
    open(projectId, onFallback) {
      opened.push(projectId);
      leave = onFallback;
      return {
        recognizers: async () => [],
        synthesizers: async () => [],
        ownDefaults: async () => ({ recognition: false, synthesis: false }),
        breakers: createBreakers(createSimulatedClock()),
        close: () => void opened.pop(),
      };
    },
  };
  const historyStore = {
    addEvents: async (_instanceId: string, added: readonly HistoryEvent[]) => void events.push(...added),
    addMessages: async () => undefined,
    addHeard: async () => undefined,
    addUsage: async () => undefined,
  };
  const deps = { speechProviders, forWholeTexts: () => scriptedVoice(), historyStore };
  const { stream, report, logs } = served({ deps });
  await stream.advance(1000);
  expect(opened).toEqual([PROJECT]);
  const fallback = { kind: 'synthesis', from: 'one', to: 'two', reason: 'away' } as const;
  leave(fallback);
  await stream.hangUp();
  await report;
  expect([opened, logs]).toEqual([
    [],
    [
      'voice session started',
      'agent turn spoken',
      'speech provider left for another one',
      'voice session ended',
    ],
  ]);
  expect(events).toMatchObject([{ type: 'provider_fallback', data: fallback }]);
});

/** A vendor that takes words, and how many connections to it are open. */
function countedSynthesizer() {
  const synthesizer = scriptedSynthesizer();
  const { connect } = synthesizer;
  const connections = { open: 0 };
  synthesizer.connect = (voice) => {
    connections.open += 1;
    return { ...connect(voice), close: () => void connections.open-- };
  };
  return { textToSpeech: synthesizer, connections };
}

test('A vendor that takes words has the fallback for whole sentences, and needs one', async () => {
  const { textToSpeech, connections } = countedSynthesizer();
  await expect(served({ deps: { textToSpeech } }).report).rejects.toThrow('scripted has no fallback');
  textToSpeech.isManual = true;
  const fallbackSpeech = scriptedVoice();
  const { stream, logs, report } = served({ deps: { textToSpeech, fallbackSpeech } });
  await stream.advance(500);
  textToSpeech.requests[0]?.emit({ type: 'failed', error: new ModelError('model_unavailable', 'away') });
  await stream.advance(500);
  expect([textToSpeech.requests[0]?.text, fallbackSpeech.texts]).toEqual([GREETING, [GREETING]]);
  expect(logs).toEqual(['voice session started', 'speech synthesis failed, retrying']);
  await stream.hangUp();
  await report;
  expect(connections.open).toBe(0);
});

test.each([
  [true, 'machine', ['unknown', 'machine']],
  [false, 'unknown', []],
] as const)(
  'Answering machines are detected where a call says so: %s',
  async (detects, answeredBy, stored) => {
    const told: unknown[] = [];
    const calls = {
      find: async () => ({ detectsAnsweringMachine: detects, answeredBy: null }),
      setAnsweredBy: async (_callId: string, who: string) => void told.push(who),
    };
    const { stream, caller, report } = served({ callId: 'call-1', deps: { calls } });
    await stream.advance(500);
    stream.speak(caller.say('Please leave a message after the tone.', 2000));
    await stream.advance(4000);
    await stream.hangUp();
    expect([(await report).answeredBy, told]).toEqual([answeredBy, stored]);
  },
);

test('A session whose agent has spoken is resumed on the next stream of its channel', async () => {
  const first = served({ callId: 'call-1' });
  await first.stream.advance(2000);
  await first.stream.hangUp();
  await first.report;
  const { engine } = first.memory;
  const resumed = served({ callId: 'call-1', deps: { engine } });
  await resumed.stream.advance(500);
  expect(resumed.voice.texts[0]).toBe('Sorry, I lost you for a moment. Please go on.');
  await resumed.stream.hangUp();
  const onWeb = served({ deps: { engine } });
  await onWeb.stream.advance(500);
  expect(onWeb.voice.texts[0]).toBe(GREETING);
  await onWeb.stream.hangUp();
});

test.each([
  [
    'at an earlier step',
    { hasSpoken: false, content: 'Hello.' },
    'Sorry, I lost you for a moment. Please go on.',
  ],
  [
    'in words that are not known',
    { hasSpoken: true, content: '' },
    'Sorry, I lost you for a moment. Please go on.',
  ],
  ['not yet', { hasSpoken: false, content: '' }, GREETING],
])('A session whose agent was heard %s starts with what the caller needs', async (_when, heard, first) => {
  const { stream, voice } = served({
    callId: 'call-1',
    before: async ({ engine, sessions }) => {
      const { session } = await engine.prepare(CALL);
      const { hasSpoken, content } = heard;
      const messages = [{ role: 'assistant', content, at: '2026-01-01T00:00:00Z' }] as const;
      sessions.set('s', {
        ...session,
        state: { ...session.state, currentNodeId: 'start', hasSpoken, messages },
      });
    },
  });
  await stream.advance(500);
  expect(voice.texts[0]).toBe(first);
  await stream.hangUp();
});

const TEST = { releaseId: 'r', toolMocks: [], allowRealTools: false };

test.each([false, true])('A session tells what it hears live, unless it is of a test: %s', async (isTest) => {
  const told: string[] = [];
  const { stream, caller } = served({
    callId: 'call-1',
    deps: { liveEvents: { publish: ({ type }) => void told.push(type) } },
    before: async ({ engine, sessions }) => {
      const { session } = await engine.prepare({ ...CALL, ...(isTest ? { test: TEST } : {}) });
      sessions.set('s', session);
    },
  });
  await stream.advance(2000);
  stream.speak(caller.say('A table.', 600));
  await stream.advance(300);
  caller.hearInterim('A ta');
  await stream.hangUp();
  expect(told).toEqual(isTest ? [] : ['transcript.interim']);
});

test('A turn that cannot be recovered is logged, and the session starts', async () => {
  const down = async () => Promise.reject(new Error('the database is down'));
  const { stream, logs, voice } = served({ deps: { sessions: { find: down, saveTurn: down } } });
  await stream.advance(500);
  expect(logs).toEqual(['interrupted turn not recovered', 'voice session started']);
  expect(voice.texts).toEqual([GREETING]);
  await stream.hangUp();
});

const CALL = { projectId: PROJECT, sessionId: 's', channel: 'phone', callId: 'call-1' } as const;
const create =
  (more: object = {}) =>
  (memory: MemoryEngine) =>
    memory.engine.create({ ...CALL, ...more });

describe('A customer’s bot of text turns', () => {
  const bot = { url: 'wss://bot', dialect: 'd', streamId: 'x', sealedHeaders: '', customParameters: {} };

  test('answers in the agent’s place with our voice, and is left when the call ends', async () => {
    const asked: unknown[] = [];
    let listener: TextBotListener | undefined;
    const tell = (what: string) => (text?: string) => void asked.push([what, text]);
    const bots = {
      connectBot: async (target: unknown, callId: string, to: TextBotListener) => {
        asked.push([target, callId]);
        listener = to;
        return {
          words: tell('words'),
          dtmf: tell('dtmf'),
          interrupted: tell('interrupted'),
          close: tell('close'),
        };
      },
      fetchClip: () => expect.unreachable(),
    } as VoiceSessionServerDeps['bots'];
    const { stream, voice, caller, report, memory } = served({
      callId: 'call-1',
      info: { bot },
      before: create(),
      deps: { bots },
    });
    await stream.advance(200);
    listener?.say({ text: 'I am a bot.', isLast: true, interruptible: true, language: undefined });
    await stream.advance(2_500);
    stream.speak(caller.say('Hello bot', 600));
    await stream.advance(2_500);
    await stream.hangUp();
    expect((await report).outcome).toBe('closed');
    expect(voice.texts[0]).toBe('I am a bot.');
    expect(voice.texts).not.toContain(GREETING);
    expect(asked).toEqual([
      [bot, 'call-1'],
      ['words', 'Hello bot'],
      ['close', undefined],
    ]);
    expect(memory.session().turn).toBe(0);
  });

  test.each([
    ['there is no session', undefined, 'session_not_found'],
    ['no bot can be reached', create(), 'engine_unavailable'],
  ])('is refused where %s', async (_what, before, code) => {
    const { report } = served({ callId: 'call-1', info: { bot }, ...(before ? { before } : {}) });
    await expect(report).rejects.toMatchObject({ code });
  });
});

test('A first stream brings its session and its call along, and nothing is read or recovered', async () => {
  const told: unknown[] = [];
  const unread = () => expect.unreachable();
  const other = memoryEngine({ model: scriptedModel(() => ({ text: GREETING })), pathway: ONE_NODE });
  const { session } = await other.engine.prepare(CALL);
  const facts = {
    direction: 'inbound',
    fromNumber: '+1',
    toNumber: '+2',
    callId: 'call-1',
    trunkId: null,
  } as const;
  const { stream, caller, report, memory } = served({
    callId: 'call-1',
    info: { opening: { session, call: { facts, detectsAnsweringMachine: true } } },
    deps: {
      calls: { find: unread, setAnsweredBy: async (...answer) => void told.push(answer) },
      sessions: { find: unread, saveTurn: unread },
    },
    before: async ({ sessions }) => sessions.set('s', session),
  });
  await stream.advance(300);
  stream.speak(caller.say('Please leave a message after the tone.', 2_000));
  await stream.advance(4_000);
  await stream.hangUp();
  expect((await report).answeredBy).toBe('machine');
  expect(told).toEqual([
    ['call-1', 'unknown'],
    ['call-1', 'machine'],
  ]);
  expect(memory.session().state.call).toEqual(facts);
});

test('Who has answered is stored once the database is back', async () => {
  const told: unknown[] = [];
  let failures = 3;
  const calls = {
    find: async () => ({ detectsAnsweringMachine: true, answeredBy: null }),
    setAnsweredBy: async (_callId: string, who: string) => {
      if (failures-- > 0) throw new Error('connection refused');
      told.push(who);
    },
  };
  const { stream, caller, report, logs } = served({ callId: 'call-1', deps: { calls } });
  await stream.advance(500);
  stream.speak(caller.say('Please leave a message after the tone.', 2000));
  await stream.advance(2000);
  expect(told).toEqual([]);
  await stream.advance(3000);
  expect(told).toEqual(['unknown', 'machine']);
  expect(logs.filter((line) => line === 'answering machine detection not stored, retrying')).toHaveLength(3);
  await stream.hangUp();
  await report;
});

test.each([
  ['once it is stored that a machine has answered', 2000, ['unknown', 'machine']],
  ['without that where the database is slow', 10_000, []],
])('The agent hangs up %s', async (_when, storingMs, storedBefore) => {
  const stored: string[] = [];
  const calls = {
    find: async () => ({ detectsAnsweringMachine: true, answeredBy: null }),
    setAnsweredBy: (_callId: string, who: string) =>
      new Promise<void>((resolve) =>
        call.clock.setTimer(() => {
          stored.push(who);
          resolve();
        }, storingMs),
      ),
  };
  const call = served({ callId: 'call-1', deps: { calls } });
  const { stream } = call;
  await stream.advance(500);
  stream.speak(call.caller.say('Please leave a message after the tone.', 500));
  await stream.until(() => stream.commands.length > 0, 8000);
  expect(stored).toEqual(storedBefore);
  await stream.hangUp();
  await call.report;
});

test('A resumed call that knows nothing yet leaves who was said to have answered', async () => {
  const told: unknown[] = [];
  const calls = {
    find: async () => ({ detectsAnsweringMachine: true, answeredBy: 'machine' as const }),
    setAnsweredBy: async (_callId: string, who: string) => void told.push(who),
  };
  const { stream, report } = served({ callId: 'call-1', deps: { calls } });
  await stream.advance(2_000);
  await stream.hangUp();
  await report;
  expect(told).toEqual([]);
});

test('The stream of a party of a transfer is logged, and is no voice session', async () => {
  const { textToSpeech, connections } = countedSynthesizer();
  const { server, stream, logs, report } = served({
    before: () => new Promise(() => undefined),
    deps: {
      textToSpeech,
      fallbackSpeech: scriptedVoice(),
      releases: unused<ReleaseStore>('releases', { find: async () => undefined }),
    },
  });
  void report;
  const party = { kind: 'listener', speaker: 'caller', to: '+886223456789' } as const;
  await expect(server.serveParty(stream, party)).rejects.toMatchObject({ code: 'session_ended' });
  expect(logs).toEqual(['stream to a party of a transfer started', 'stream to a party of a transfer ended']);
  expect(connections.open).toBe(0);
});
