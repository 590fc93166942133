import type { AgentConfig } from '../../../src/agents/agentConfig.ts';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { Tool } from '../../../src/agents/tool.ts';
import type { HistoryEvent } from '../../../src/engine/session/session.ts';
import type { KnowledgeRetriever, ToolRunner } from '../../../src/engine/tools/toolRunner.ts';
import type { ChatModel } from '../../../src/providers/ports/chatModel.ts';
import type { SpeechToText } from '../../../src/providers/ports/speechToText.ts';
import type { TextToSpeech } from '../../../src/providers/ports/textToSpeech.ts';
import type { VoiceReport } from '../../../src/voice/voiceReport.ts';
import {
  createVoiceSessionServer,
  type ServeOptions,
  type VoiceSessionServerDeps,
} from '../../../src/voice/voiceSessionServer.ts';
import { type MemoryEngine, type MemoryOptions, memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
import {
  loudActivity,
  type ScriptedCaller,
  type ScriptedVoice,
  scriptedCaller,
  scriptedVoice,
} from './scriptedSpeech.ts';
import {
  createSimulatedStream,
  type SimulatedStream,
  type SimulatedStreamOptions,
} from './simulatedStream.ts';

export interface SimulatedCallOptions {
  readonly answer: (index: number) => ScriptedAnswer;
  readonly pathway?: PathwayInput;
  readonly agent?: Partial<AgentConfig>;
  readonly tools?: readonly Tool[];
  readonly toolRunner?: ToolRunner;
  readonly knowledge?: KnowledgeRetriever;
  readonly stream?: Partial<SimulatedStreamOptions>;
  readonly serve?: Partial<ServeOptions>;
  readonly fallbackSpeech?: TextToSpeech;
  readonly turnNotes?: VoiceSessionServerDeps['turnNotes'];
  readonly wrapSessions?: MemoryOptions['wrapSessions'];
  /** Comes before what is added to a history beside the turns. */
  readonly beforeNotes?: () => Promise<void>;
  /** In place of the scripted ones. */
  readonly clock?: SimulatedClock;
  readonly model?: ChatModel;
  readonly speechToText?: SpeechToText;
  readonly textToSpeech?: TextToSpeech;
}

/** A call between a scripted caller and the whole voice engine over a conversation in memory. */
export interface SimulatedCall {
  readonly clock: SimulatedClock;
  readonly stream: SimulatedStream;
  readonly caller: ScriptedCaller;
  readonly voice: ScriptedVoice;
  readonly model: ScriptedModel;
  readonly talk: MemoryEngine;
  readonly report: Promise<VoiceReport>;
  readonly extraEvents: HistoryEvent[];
  readonly errors: unknown[];
  /** The caller says this, and time passes until it is out. */
  say(text: string, durationMs: number): Promise<void>;
  /** Waits until the agent sounds, or is silent, right now. */
  agentSounds(): Promise<void>;
  agentIsSilent(): Promise<void>;
  /** Messages as `role: content`. */
  transcript(): string[];
  isSounding(): boolean;
}

export const ONE_NODE: PathwayInput = {
  nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.' } }],
  edges: [],
};

/** Where its node fails, a fixed sentence is said. */
export const WITH_FALLBACK: PathwayInput = {
  nodes: [
    ...(ONE_NODE.nodes ?? []),
    { id: 'sorry', type: 'say', data: { title: 'Sorry', prompt: 'A person will call you.' } },
  ],
  edges: [
    { id: 'never', source: 'start', target: 'start', data: { condition: 'Never.' } },
    { id: 'else', source: 'start', target: 'sorry' },
  ],
};

export function simulatedCall(options: SimulatedCallOptions): SimulatedCall {
  const { clock = createSimulatedClock() } = options;
  const stream = createSimulatedStream({ clock, ...options.stream });
  const caller = scriptedCaller();
  const voice = scriptedVoice();
  const model = scriptedModel((_request, index) => options.answer(index));
  const { pathway = ONE_NODE, agent, tools, toolRunner, knowledge, wrapSessions } = options;
  const talk = memoryEngine({
    model: options.model ?? model,
    pathway,
    clock,
    ...(agent ? { agent } : {}),
    ...(tools ? { tools } : {}),
    ...(toolRunner ? { toolRunner } : {}),
    ...(knowledge ? { knowledge } : {}),
    ...(wrapSessions ? { wrapSessions } : {}),
  });
  const extraEvents: HistoryEvent[] = [];
  const errors: unknown[] = [];
  const messages: string[] = [];
  const engine = createVoiceSessionServer({
    conversations: {
      // A session that has ended is gone: what was said is remembered from its records.
      runTurn: (...turn) => talk.engine.runTurn(...turn),
    },
    addEvents: async (_instance, events) => void extraEvents.push(...events),
    async addMessages(_instance, messages) {
      await options.beforeNotes?.();
      talk.records.push({ messages, events: [] });
    },
    speechToText: options.speechToText ?? caller,
    textToSpeech: options.textToSpeech ?? voice,
    fallbackSpeech: options.fallbackSpeech,
    turnNotes: options.turnNotes,
    activity: loudActivity,
    clock,
    onError: (error) => errors.push(error),
  });
  const session = { projectId: PROJECT, sessionId: 's', channel: 'phone' } as const;
  const report = engine.serve(stream, { session, ...options.serve });
  const isSounding = () => stream.agentSide().at(-1) !== 0 && stream.agentSide().length > 0;
  return {
    clock,
    stream,
    caller,
    voice,
    model,
    talk,
    report,
    extraEvents,
    errors,
    async say(text, durationMs) {
      stream.speak(caller.say(text, durationMs));
      await stream.advance(durationMs);
    },
    agentSounds: () => stream.until(isSounding),
    agentIsSilent: () => stream.until(() => !isSounding()),
    transcript() {
      messages.splice(0);
      for (const record of talk.records) {
        for (const { role, content, internal } of record.messages)
          if (!internal) messages.push(`${role}: ${content}`);
      }
      return [...messages];
    },
    isSounding,
  };
}

/** Milliseconds of sound in these samples. */
export function soundMs(samples: Int16Array, sampleRateHz = 8000): number {
  return (samples.filter((sample) => sample !== 0).length * 1000) / sampleRateHz;
}
