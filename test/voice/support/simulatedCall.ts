import type { AgentConfig } from '../../../src/agents/agentConfig.ts';
import { type Amounts, UsageTally } from '../../../src/agents/cost/usage.ts';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { Tool } from '../../../src/agents/tool.ts';
import type { HeardSpeech } from '../../../src/engine/history/historyStore.ts';
import type { HistoryEvent, Session } from '../../../src/engine/session/session.ts';
import type { KnowledgeRetriever } from '../../../src/engine/tools/knowledge.ts';
import type { ToolRunner } from '../../../src/engine/tools/toolRunner.ts';
import type { ChatModel } from '../../../src/models/ports/chatModel.ts';
import type { Recognizer } from '../../../src/models/ports/recognizer.ts';
import type { TextToSpeech } from '../../../src/models/ports/textToSpeech.ts';
import type { CallEngines, CallProviders } from '../../../src/models/selection/callProviders.ts';
import { CallSpeech } from '../../../src/voice/speech/callSpeech.ts';
import { createSpeechCache, SpeechSynthesis } from '../../../src/voice/speech/speechSynthesis.ts';
import {
  type VoiceReport,
  VoiceSession,
  type VoiceSessionDeps,
  type VoiceSessionOptions,
} from '../../../src/voice/voiceSession.ts';
import { candidate } from '../../models/support/candidate.ts';
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
  readonly session?: Partial<VoiceSessionOptions>;
  readonly fallbackSpeech?: TextToSpeech;
  readonly checkpoints?: VoiceSessionDeps['checkpoints'];
  readonly wrapSessions?: MemoryOptions['wrapSessions'];
  /** The session that the call continues. */
  readonly sessions?: ReadonlyMap<string, Session>;
  /** Whether the engine writes the session behind. */
  readonly isAttached?: boolean;
  /** Runs before each write to the history that belongs to no turn. */
  readonly beforeHistoryWrite?: () => Promise<void>;
  /** These replace the scripted ones. */
  readonly clock?: SimulatedClock;
  readonly model?: ChatModel;
  readonly speechToText?: Recognizer;
  readonly textToSpeech?: TextToSpeech;
  readonly noiseSuppression?: VoiceSessionDeps['noiseSuppression'];
  /** What agent and nodes name. */
  readonly providers?: CallProviders;
  /** Changes what the voice session is made with. */
  readonly withDeps?: (deps: VoiceSessionDeps) => Partial<VoiceSessionDeps>;
  /** The speech-to-speech models that they name. */
  readonly engines?: CallEngines;
}

/** A call between a scripted caller and a voice session, with the conversation engine over stores in memory. */
export interface SimulatedCall {
  readonly clock: SimulatedClock;
  readonly stream: SimulatedStream;
  readonly caller: ScriptedCaller;
  readonly voice: ScriptedVoice;
  readonly model: ScriptedModel;
  /** The conversation engine. Sessions that have ended are gone; their history is in the records. */
  readonly memory: MemoryEngine;
  readonly report: Promise<VoiceReport>;
  readonly sessionEvents: HistoryEvent[];
  /** What its history tells of what it heard. */
  readonly heard: HeardSpeech[];
  readonly tally: UsageTally;
  /** What it has used since its last turn. */
  readonly addedUsage: Amounts[];
  readonly errors: unknown[];
  /** Lets the caller say this, and advances time to its end. */
  say(text: string, durationMs: number): Promise<void>;
  /** Advances time until the agent speaks, or is silent. */
  agentSpeaks(): Promise<void>;
  agentFallsSilent(): Promise<void>;
  /** Lets the caller hang up. @returns What the session reports at its end. */
  hangUp(): Promise<VoiceReport>;
  /** Messages as `role: content`. */
  transcript(): string[];
  isAgentSpeaking(): boolean;
}

export const GREETING = { text: 'Hello there. How can I help you?' };

export const ONE_NODE: PathwayInput = {
  nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.' } }],
  edges: [],
};

/** A pathway of one node with these settings. */
export const nodeWith = (data: object): PathwayInput => ({
  nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', ...data } }],
  edges: [],
});

/** One node, and a fixed sentence for when it fails. */
export const WITH_FALLBACK: PathwayInput = {
  nodes: [
    ...(ONE_NODE.nodes ?? []),
    { id: 'sorry', type: 'say', data: { title: 'Sorry', prompt: 'A person will call you.' } },
  ],
  edges: [
    { id: 'never', source: 'start', target: 'start', data: { condition: 'Never.' } },
    { id: 'else', source: 'start', target: 'sorry', data: { fallback: true } },
  ],
};

export function simulatedCall(options: SimulatedCallOptions): SimulatedCall {
  const { clock = createSimulatedClock() } = options;
  const stream = createSimulatedStream({ clock, ...options.stream });
  const caller = scriptedCaller();
  const voice = scriptedVoice();
  const model = scriptedModel((_request, index) => options.answer(index));
  const { pathway = ONE_NODE, agent, tools, toolRunner, knowledge, wrapSessions } = options;
  const memory = memoryEngine({
    model: options.model ?? model,
    pathway,
    clock,
    ...(agent ? { agent } : {}),
    ...(tools ? { tools } : {}),
    ...(toolRunner ? { toolRunner } : {}),
    ...(knowledge ? { knowledge } : {}),
    ...(wrapSessions ? { wrapSessions } : {}),
  });
  for (const [id, session] of options.sessions ?? []) memory.sessions.set(id, session);
  if (options.isAttached) void memory.engine.attach(PROJECT, 's');
  const sessionEvents: HistoryEvent[] = [];
  const heard: HeardSpeech[] = [];
  const tally = new UsageTally();
  const addedUsage: Amounts[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const { textToSpeech = voice, fallbackSpeech: fallback, speechToText = caller, checkpoints } = options;
  const cache = createSpeechCache();
  const voices = fallback ? [textToSpeech, fallback] : [textToSpeech];
  const synthesis = new SpeechSynthesis(
    { voices: voices.map(candidate), cache, clock, onFailure: onError },
    stream.info.sampleRateHz,
  );
  const callSpeech =
    options.providers &&
    new CallSpeech({
      providers: options.providers,
      defaults: { synthesis, speechToText },
      projectId: PROJECT,
      sampleRateHz: stream.info.sampleRateHz,
      lastVoice: voice,
      cache,
      clock,
      onError,
    });
  const deps: VoiceSessionDeps = {
    stream,
    engine: memory.engine,
    historyStore: {
      addEvents: async (_instanceId, events) => void sessionEvents.push(...events),
      async addMessages(_instanceId, messages) {
        await options.beforeHistoryWrite?.();
        memory.records.push({ messages, events: [] });
      },
      addHeard: async (_instanceId, added) => void heard.push(added),
      addUsage: async (_instanceId, added) => void addedUsage.push(added),
    },
    speech: { speechToText, synthesis, callSpeech, engines: options.engines, tally },
    checkpoints,
    voiceActivity: loudActivity,
    noiseSuppression: options.noiseSuppression,
    clock,
    onError,
  };
  const session = { projectId: PROJECT, sessionId: 's', channel: 'phone' } as const;
  const report = new VoiceSession(
    { ...deps, ...options.withDeps?.(deps) },
    { session, ...options.session },
  ).run();
  const isAgentSpeaking = () => stream.agentAudio().at(-1) !== 0 && stream.agentAudio().length > 0;
  return {
    clock,
    stream,
    caller,
    voice,
    model,
    memory,
    report,
    sessionEvents,
    heard,
    tally,
    addedUsage,
    errors,
    async say(text, durationMs) {
      stream.speak(caller.say(text, durationMs));
      await stream.advance(durationMs);
    },
    agentSpeaks: () => stream.until(isAgentSpeaking),
    agentFallsSilent: () => stream.until(() => !isAgentSpeaking()),
    async hangUp() {
      await stream.hangUp();
      return await report;
    },
    transcript: () =>
      memory.records.flatMap((record) =>
        record.messages.flatMap(({ role, content, internal }) => (internal ? [] : [`${role}: ${content}`])),
      ),
    isAgentSpeaking,
  };
}

/** Advances time until the agent has spoken and is silent. */
export async function greeted(call: SimulatedCall): Promise<void> {
  await call.agentSpeaks();
  await call.agentFallsSilent();
  await call.stream.advance(100);
}

export function lastMessage({ memory }: SimulatedCall) {
  return memory.records.flatMap(({ messages }) => messages).at(-1);
}

/** The data of all events of a type in the session's history. */
export function eventsOf({ memory }: SimulatedCall, type: string) {
  return memory.events().flatMap((event) => (event.type === type ? [event.data] : []));
}

/** Duration of the samples that are not silence. */
export function soundMs(samples: Int16Array, sampleRateHz = 8000): number {
  return (samples.filter((sample) => sample !== 0).length * 1000) / sampleRateHz;
}
