import pino from 'pino';
import type { AgentConfig } from '../../../src/agents/agentConfig.ts';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { Tool } from '../../../src/agents/tool.ts';
import { createEmitter } from '../../../src/base/emitter.ts';
import type { TextStream, TextStreamEvents } from '../../../src/conversation/streams/textStream.ts';
import type { TextPart } from '../../../src/dialects/textDialect.ts';
import type { ConversationEngine } from '../../../src/engine/conversationEngine.ts';
import type { TurnCheckpoint } from '../../../src/engine/session/interruptedTurn.ts';
import type { HistoryEvent, Session } from '../../../src/engine/session/session.ts';
import { serveTextStream } from '../../../src/text/serveTextStream.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { type ScriptedAnswer, scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { ONE_NODE } from '../../voice/support/simulatedCall.ts';

export interface TextCallOptions {
  readonly answer: (index: number) => ScriptedAnswer;
  readonly pathway?: PathwayInput;
  readonly agent?: Partial<AgentConfig>;
  readonly tools?: readonly Tool[];
  readonly customParameters?: Readonly<Record<string, string>>;
  /** The new session that the stream brings along. */
  readonly opening?: Session;
  /** In place of the scripted gateway. */
  readonly gateway?: TextStream;
  readonly clock?: SimulatedClock;
}

/** A gateway that recognizes and speaks itself, on a simulated clock, and the conversation engine over stores in memory. */
export async function textCall({ answer, pathway = ONE_NODE, ...options }: TextCallOptions) {
  const { clock = createSimulatedClock() } = options;
  const model = scriptedModel((_request, index) => answer(index));
  const memory = memoryEngine({ model, pathway, ...options, clock, onError: () => undefined });
  const { emit, ...events } = createEmitter<TextStreamEvents>((error) => {
    throw error;
  });
  const checkpoints: TurnCheckpoint[] = [];
  /** What the node does with the session, and says of it. */
  const log: string[] = [];
  const parts: TextPart[] = [];
  const sent: unknown[] = [];
  const historyEvents: HistoryEvent[] = [];
  const { opening, customParameters = {} } = options;
  const stream: TextStream = {
    info: {
      provider: 'gateway',
      projectId: PROJECT,
      sessionId: 's',
      customParameters,
      ...(opening ? { opening: { session: opening } } : {}),
    },
    events,
    say: (part) => void parts.push(part),
    useLanguage: (tag) => void sent.push(['language', tag]),
    sendDigits: (digits) => void sent.push(['digits', digits]),
    end: (handoff) => void sent.push(['end', handoff]),
    close: (code) => {
      sent.push(['close', code]);
      emit('closed', { code: code ?? 1000, reason: '' });
    },
  };
  if (opening) memory.sessions.set('s', opening);
  const served = serveTextStream(
    {
      engine: unused<ConversationEngine>('engine', {
        runTurn: (...turn) => memory.engine.runTurn(...turn),
        attach: (...ids) => memory.engine.attach(...ids),
        detach: (...ids) => void log.push(`detached ${ids.join(' ')}`),
      }),
      historyStore: {
        addEvents: async (_instanceId, added) => void historyEvents.push(...added),
        addMessages: async (_instanceId, messages) => void memory.records.push({ messages, events: [] }),
        addHeard: async () => undefined,
        addUsage: async () => undefined,
      },
      sessions: {
        find: async (...ids) => void log.push(`looked for ${ids.join(' ')}`),
        saveTurn: async () => undefined,
      },
      checkpoints: {
        put: async (_instanceId, checkpoint) => void checkpoints.push(checkpoint),
        drop: async () => void checkpoints.splice(0),
        find: async () => undefined,
      },
      liveEvents: { publish: (event) => void memory.liveEvents.push(event) },
      clock,
      logger: pino({}, { write: (line: string) => log.push(JSON.parse(line).msg) }),
    },
    options.gateway ?? stream,
  );
  const settle = async () => {
    for (let n = 0; n < 8; n++) await new Promise((resolve) => setImmediate(resolve));
  };
  const advance = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      await settle();
    }
  };
  await settle();
  return {
    clock,
    memory,
    model,
    parts,
    sent,
    historyEvents,
    checkpoints,
    log,
    served,
    advance,
    /** The text of the parts since the last call. */
    spoken: () =>
      parts
        .splice(0)
        .map(({ text }) => text)
        .join(''),
    async gateway<Name extends keyof TextStreamEvents>(name: Name, value: TextStreamEvents[Name]) {
      emit(name, value);
      await settle();
    },
    async says(text: string, language?: string) {
      emit('words', { text, language, isFinal: true });
      await settle();
    },
    async hangUp() {
      emit('closed', { code: 1000, reason: '' });
      await served;
    },
    transcript: () =>
      memory.records.flatMap(({ messages }) => messages.map(({ role, content }) => `${role}: ${content}`)),
  };
}
