import type { Logger } from 'pino';
import { UsageTally } from '../agents/cost/usage.ts';
import { renderTemplate } from '../agents/pathway/templates.ts';
import { currentSpeech } from '../agents/speech/language.ts';
import { retryForever } from '../base/async/retryForever.ts';
import { traceLogFields } from '../base/tracing.ts';
import { fallbackPhrasesOf } from '../conversation/speech/fallbackPhrases.ts';
import type { AudioStream, StreamInfo, StreamParty } from '../conversation/streams/audioStream.ts';
import type { TextStream } from '../conversation/streams/textStream.ts';
import { DEFAULT_LANGUAGE } from '../conversation/turnDetection/turnSettings.ts';
import { loggingTurns } from '../conversation/turns/turnLatency.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import {
  type RecoveryDeps,
  recoverInterruptedTurn,
  type TurnCheckpointStore,
} from '../engine/session/interruptedTurn.ts';
import type { ReleaseStore } from '../engine/session/releases.ts';
import type { Session } from '../engine/session/session.ts';
import { sessionPolicy } from '../engine/session/sessionPolicy.ts';
import { fillerOf } from '../engine/turn/filler.ts';
import { type Breakers, createBreakers } from '../models/failover/circuitBreaker.ts';
import type { Recognizer } from '../models/ports/recognizer.ts';
import { type Synthesizer, takesWords } from '../models/ports/synthesizer.ts';
import type { TextToSpeech } from '../models/ports/textToSpeech.ts';
import type {
  OnUsed,
  ProviderFallback,
  SpeechEngines,
  SpeechProviders,
} from '../models/selection/callProviders.ts';
import { type BotAccess, openBotConversation } from '../text/openBotConversation.ts';
import { serveTextStream } from '../text/serveTextStream.ts';
import type { AnsweredByMonitorDeps } from './answeringMachine/answeredByMonitor.ts';
import type { AnsweredBy } from './answeringMachine/answeringMachineDetector.ts';
import { CallSpeech, type SessionSpeech, type SessionSynthesis } from './speech/callSpeech.ts';
import { type FailoverTexts, sendFailoverPrompts } from './speech/failoverPrompt.ts';
import { createSpeechCache, type SpeechCache, SpeechSynthesis } from './speech/speechSynthesis.ts';
import { StreamedSynthesis } from './speech/streamedSynthesis.ts';
import { servePartyStream } from './transfer/servePartyStream.ts';
import {
  type VoiceReport,
  VoiceSession,
  type VoiceSessionDeps,
  type VoiceSessionOptions,
} from './voiceSession.ts';

export interface VoiceSessionServerDeps
  extends Omit<VoiceSessionDeps, 'stream' | 'speech' | 'engine' | 'onError'> {
  readonly engine: ConversationEngine;
  /** Reaches customers' bots of text turns; undefined when no call has one. */
  readonly bots?: BotAccess | undefined;
  readonly speechToText: Recognizer;
  readonly textToSpeech: Synthesizer;
  /** Speaks when the first one fails. */
  readonly fallbackSpeech?: TextToSpeech | undefined;
  /** The vendors that agents and nodes name; undefined when the vendors above serve all. */
  readonly speechProviders?: SpeechProviders | undefined;
  /** The speech-to-speech models that agents and nodes name; undefined when there are none. */
  readonly engines?: SpeechEngines | undefined;
  readonly calls: {
    find(projectId: string, callId: string): Promise<AnsweredCall | undefined>;
    /** Stores who has answered a live call. */
    setAnsweredBy(callId: string, answeredBy: AnsweredBy): Promise<void>;
  };
  readonly releases: ReleaseStore;
  readonly sessions: RecoveryDeps['sessions'];
  readonly checkpoints: TurnCheckpointStore;
  readonly logger: Logger;
}

/** What the calls of a node share. */
interface SharedSpeech {
  readonly cache: SpeechCache;
  /** The circuit breakers of the installation's voices. */
  readonly breakers: Breakers;
}

/** The call of a stream. */
interface AnsweredCall {
  readonly detectsAnsweringMachine: boolean;
  /** Who answered, as detected so far; null before detection. */
  readonly answeredBy: AnsweredBy | null;
  /** Whether the number's settings suppress noise; undefined where they leave it to the agent. */
  readonly noiseSuppression?: boolean | undefined;
}

export interface VoiceSessionServer {
  /**
   * Runs a voice session on a stream until it is closed. Creates the session where there is none, and resumes one whose
   * node failed.
   *
   * @throws {RangeError} When speech cannot be resampled to the stream's rate.
   */
  serve(stream: AudioStream): Promise<VoiceReport>;
  /** Runs a conversation on a stream of text turns until it is closed. */
  serveText(stream: TextStream): Promise<void>;
  /** Serves a stream to a party of a transfer until it is closed. */
  serveParty(stream: AudioStream, party: StreamParty): Promise<void>;
}

export function createVoiceSessionServer(deps: VoiceSessionServerDeps): VoiceSessionServer {
  const { clock, logger } = deps;
  const shared = { cache: createSpeechCache(), breakers: createBreakers(clock) };
  const open = (info: StreamInfo) => {
    const { projectId, sessionId, callId, traceparent } = info;
    const fields = { projectId, sessionId, callId, ...traceLogFields(traceparent) };
    const onError = (error: unknown, message: string) => logger.warn({ ...fields, err: error }, message);
    const speech = openSpeech(deps, shared, info, onError);
    return { fields, onError, speech };
  };
  return {
    serveText: (stream) => serveTextStream(deps, stream),
    async serveParty(stream, party) {
      const { fields, onError, speech } = open(stream.info);
      const { engine, releases, historyStore, voiceActivity } = deps;
      logger.info({ ...fields, party: party.kind }, 'stream to a party of a transfer started');
      try {
        const partyDeps = { engine, releases, historyStore, voiceActivity, speech, clock, onError };
        await servePartyStream(partyDeps, stream, party);
      } finally {
        speech.close();
        logger.info({ ...fields, party: party.kind }, 'stream to a party of a transfer ended');
      }
    },
    async serve(stream) {
      const { projectId, sessionId, callId } = stream.info;
      const { fields, onError, speech } = open(stream.info);
      const { historyStore, voiceActivity, noiseSuppression, onUtterance } = deps;
      const { bot: target } = stream.info;
      const { engine, releases, bots, liveEvents } = deps;
      const botDeps = { engine, releases, bots, liveEvents, historyStore, clock, onError };
      const bot = target && (await openBotConversation(botDeps, stream, target));
      const call = bot ? undefined : await callOf(deps, stream.info);
      const { publishesEvents, ...options } = bot
        ? botSessionOptions(stream.info)
        : await sessionOptions(deps, stream.info, call, onError);
      const onAnsweredBy = answerRecorder(deps, callId, call, onError);
      // Other peers do not reconnect to another node.
      const cancelPrompts =
        callId === undefined
          ? undefined
          : sendFailoverPrompts({ stream, clock, onError }, () => failoverTexts(deps, stream.info, speech));
      logger.info(fields, 'voice session started');
      let report: VoiceReport | undefined;
      try {
        const session = new VoiceSession(
          {
            stream,
            engine: bot ?? engine,
            historyStore,
            checkpoints: bot ? undefined : deps.checkpoints,
            speech,
            voiceActivity,
            noiseSuppression,
            liveEvents: publishesEvents ? liveEvents : undefined,
            onSpokenTurn: loggingTurns(deps, fields),
            onUtterance,
            clock,
            onError,
          },
          { ...options, onAnsweredBy },
        );
        report = await session.run();
        return report;
      } finally {
        cancelPrompts?.();
        bot?.close();
        speech.close();
        logger.info({ ...fields, heard: report?.heard }, 'voice session ended');
        engine.detach(projectId, sessionId);
      }
    },
  };
}

async function callOf(
  { calls }: VoiceSessionServerDeps,
  { projectId, callId, opening }: StreamInfo,
): Promise<AnsweredCall | undefined> {
  if (callId === undefined) return undefined;
  return opening?.call ? { ...opening.call, answeredBy: null } : await calls.find(projectId, callId);
}

/** Opens the speech of one session, counted for its project: what the installation has, and what agent and nodes name. */
function openSpeech(
  deps: VoiceSessionServerDeps,
  shared: SharedSpeech,
  { projectId, sampleRateHz, bot, party }: StreamInfo,
  onError: (error: unknown, message: string) => void,
): SessionSpeech & { close(): void } {
  const { speechProviders, fallbackSpeech, clock, logger } = deps;
  const tally = new UsageTally();
  const onUsed: OnUsed = (used) => tally.add(used);
  const { speechToText, textToSpeech } = speechProviders?.counted(projectId, deps, onUsed) ?? deps;
  const synthesis = openSynthesis({ textToSpeech, fallbackSpeech, clock }, shared, sampleRateHz, onError);
  const defaults = { ...synthesis, speechToText };
  const onFallback = (fallback: ProviderFallback) => {
    logger.warn({ projectId, ...fallback }, 'speech provider left for another one');
    callSpeech?.report(fallback);
  };
  const providers = speechProviders?.open(projectId, onFallback, onUsed);
  const lastVoice = fallbackSpeech ?? (takesWords(textToSpeech) ? undefined : textToSpeech);
  const { cache } = shared;
  const callSpeech: CallSpeech | undefined =
    providers &&
    new CallSpeech({ providers, defaults, projectId, sampleRateHz, lastVoice, cache, clock, onError });
  // A bot answers in words, and parties of a transfer hear announcements.
  const engines = bot || party ? undefined : deps.engines?.open(projectId, onUsed);
  return {
    ...defaults,
    callSpeech,
    engines,
    tally,
    close() {
      engines?.close();
      callSpeech?.close();
      synthesis.streamedSynthesis?.close();
    },
  };
}

/** The synthesis of one call. A vendor that takes words has the fallback for whole sentences. */
function openSynthesis(
  {
    textToSpeech,
    fallbackSpeech,
    clock,
  }: Pick<VoiceSessionServerDeps, 'textToSpeech' | 'fallbackSpeech' | 'clock'>,
  { cache, breakers }: SharedSpeech,
  sampleRateHz: number,
  onError: (error: unknown, message: string) => void,
): SessionSynthesis {
  const onFailure = (error: unknown) => onError(error, 'speech synthesis failed, retrying');
  const shared = { cache, breakers, clock, onFailure };
  const { name } = textToSpeech;
  const others = fallbackSpeech ? [{ model: fallbackSpeech, name: fallbackSpeech.name }] : [];
  if (!takesWords(textToSpeech)) {
    const voices = [{ model: textToSpeech, name, breaker: name }, ...others];
    return {
      synthesis: new SpeechSynthesis({ ...shared, voices }, sampleRateHz),
      streamedSynthesis: undefined,
    };
  }
  if (!fallbackSpeech) throw new Error(`${name} has no fallback for whole sentences`);
  const rest = new SpeechSynthesis({ ...shared, voices: others }, sampleRateHz);
  const firstVoice = { language: DEFAULT_LANGUAGE };
  const streamed = {
    ...shared,
    voice: { model: textToSpeech, name, breaker: name },
    others,
    rest,
    firstVoice,
  };
  return { synthesis: rest, streamedSynthesis: new StreamedSynthesis(streamed, sampleRateHz) };
}

type ServedSession = VoiceSessionOptions & { readonly publishesEvents: boolean };

/** A bot answers itself what has called it, and greets again on another stream. */
function botSessionOptions({ projectId, sessionId, callId, traceparent }: StreamInfo): ServedSession {
  const channel = callId === undefined ? 'web' : 'phone';
  const session = { projectId, sessionId, channel, callId, traceparent } as const;
  return { session, publishesEvents: true };
}

async function sessionOptions(
  { engine, sessions, checkpoints, clock }: VoiceSessionServerDeps,
  { projectId, sessionId, callId, traceparent, opening }: StreamInfo,
  call: AnsweredCall | undefined,
  onError: (error: unknown, message: string) => void,
): Promise<ServedSession> {
  // The session may have been on a node that failed.
  if (!opening)
    await recoverInterruptedTurn({ sessions, checkpoints, clock }, projectId, sessionId).catch(
      (error: unknown) => onError(error, 'interrupted turn not recovered'),
    );
  const channel = callId === undefined ? 'web' : 'phone';
  const session = await engine.attach(projectId, sessionId, opening?.session, opening?.call?.facts);
  return {
    session: { projectId, sessionId, channel, callId, traceparent },
    detectAnsweringMachine: call?.detectsAnsweringMachine ?? false,
    noiseSuppression: call?.noiseSuppression,
    isResumed: session?.channel === channel && hasAgentSpoken(session),
    publishesEvents: sessionPolicy(session?.state ?? {}).publishesEvents,
  };
}

/** Stores who has answered, in order. A resumed session that knows nothing yet leaves what is stored. */
function answerRecorder(
  { calls, clock }: VoiceSessionServerDeps,
  callId: string | undefined,
  call: AnsweredCall | undefined,
  onError: (error: unknown, message: string) => void,
): AnsweredByMonitorDeps['onAnsweredBy'] {
  if (callId === undefined || !call) return undefined;
  const onFailure = (error: unknown) => onError(error, 'answering machine detection not stored, retrying');
  let stored = Promise.resolve();
  return (answeredBy) => {
    if (answeredBy === 'unknown' && call.answeredBy !== null) return stored;
    const store = () => calls.setAnsweredBy(callId, answeredBy);
    stored = stored.then(() => retryForever(clock, store, onFailure));
    return stored;
  };
}

/** Otherwise the greeting is still due. */
function hasAgentSpoken({ state: { currentNodeId, hasSpoken, messages } }: Session): boolean {
  return currentNodeId !== null && (hasSpoken || messages.some(({ content }) => content !== ''));
}

/** The agent's own filler and language, where it has them; the session need not exist when the stream opens. */
async function failoverTexts(
  { engine, releases }: VoiceSessionServerDeps,
  { projectId, sessionId }: StreamInfo,
  { callSpeech, synthesis, streamedSynthesis }: SessionSpeech,
): Promise<FailoverTexts & SessionSynthesis> {
  const session = await engine.find(projectId, sessionId);
  const release = session && (await releases.find(projectId, session.releaseId));
  const { variables = {} } = release ? session.state : {};
  const node = release?.pathway.nodes.find(({ id }) => id === session?.state.currentNodeId);
  const { speech, language = DEFAULT_LANGUAGE } = currentSpeech(
    release?.agent.speech,
    node?.data.speech,
    variables,
  );
  const { filler, apology } = fallbackPhrasesOf(language);
  const agentFiller = release && fillerOf(release.agent, language, session.turn);
  const waiting = agentFiller && renderTemplate(agentFiller, variables, { onFailure: () => undefined });
  const voice = (await callSpeech?.synthesisFor(speech, language)) ?? { synthesis, streamedSynthesis };
  return { waiting: waiting ?? filler, apology, language, ...voice };
}
