import type { Logger } from 'pino';
import type { Clock } from '../base/clock.ts';
import type { CallStore } from '../calls/callStore.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { HistoryStore } from '../engine/history/historyStore.ts';
import {
  type RecoveryDeps,
  recoverInterruptedTurn,
  type TurnCheckpointStore,
} from '../engine/session/interruptedTurn.ts';
import type { ReleaseStore } from '../engine/session/releases.ts';
import type { SessionMetrics } from '../observability/metrics/sessions.ts';
import {
  createLocalSpeechToText,
  findPocketsphinx,
  INSTALL_COMMAND,
} from '../providers/local/speechToText.ts';
import { createLocalTextToSpeech } from '../providers/local/textToSpeech.ts';
import { meteredRecogniser, meteredSpeech } from '../providers/metered.ts';
import { createOpenAiEndpoint } from '../providers/openai/endpoint.ts';
import { createOpenAiSpeechToText } from '../providers/openai/speechToText.ts';
import { createOpenAiTextToSpeech } from '../providers/openai/textToSpeech.ts';
import type { SpeechToText } from '../providers/ports/speechToText.ts';
import type { TextToSpeech } from '../providers/ports/textToSpeech.ts';
import { createRnnoiseVad } from '../providers/vad/rnnoise.ts';
import { createWebrtcVad } from '../providers/vad/webrtc.ts';
import { createVoiceSessionServer, type VoiceSessionServer } from '../voice/voiceSessionServer.ts';
import type { Closers } from './conversation.ts';
import { type Config, readEnvironment } from './settings/config.ts';

export interface VoiceParts {
  readonly config: Config;
  readonly conversations: ConversationEngine;
  readonly stores: {
    readonly history: Pick<HistoryStore, 'addEvents' | 'addMessages'>;
    readonly sessions: RecoveryDeps['sessions'];
    readonly releases: Pick<ReleaseStore, 'find'>;
    readonly calls: Pick<CallStore, 'find'>;
  };
  readonly turnNotes: TurnCheckpointStore;
  readonly meter: Pick<SessionMetrics, 'turn' | 'watchModel'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Voice sessions over the speech vendors of the settings. */
export async function buildVoice(
  parts: VoiceParts,
): Promise<VoiceSessionServer & { close(): Promise<void> }> {
  const { conversations, stores, turnNotes, clock, meter } = parts;
  const logger = parts.logger.child({ part: 'voice' });
  const closers: Closers = [];
  const webrtc = await createWebrtcVad();
  const activity = parts.config.VOICE_ACTIVITY === 'neural' ? await createRnnoiseVad(webrtc) : webrtc;
  const offlineSpeech = createLocalTextToSpeech();
  closers.push(() => offlineSpeech.close());
  const { speechToText, textToSpeech } = await buildSpeech(parts, logger, closers, offlineSpeech);
  if (textToSpeech === offlineSpeech) warmUp(offlineSpeech, logger);
  const voice = createVoiceSessionServer({
    engine: conversations,
    addEvents: (instanceId, events) => stores.history.addEvents(instanceId, events),
    addMessages: (instanceId, messages) => stores.history.addMessages(instanceId, messages),
    findCall: (projectId, callId) => stores.calls.find(projectId, callId),
    findRelease: (projectId, releaseId) => stores.releases.find(projectId, releaseId),
    recoverInterruptedTurn: (projectId, sessionId) =>
      recoverInterruptedTurn({ sessions: stores.sessions, notes: turnNotes, clock }, projectId, sessionId),
    voiceActivity: activity,
    speechToText: meteredRecogniser(speechToText, meter.watchModel('transcription', speechToText.name)),
    textToSpeech: meteredSpeech(textToSpeech, meter.watchModel('speech', textToSpeech.name)),
    onSpokenTurn: meter.turn,
    checkpoints: turnNotes,
    fallbackSpeech: textToSpeech === offlineSpeech ? undefined : offlineSpeech,
    clock,
    logger,
  });
  return {
    serve: voice.serve,
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

async function buildSpeech(
  { config, clock }: VoiceParts,
  logger: Logger,
  closers: Closers,
  offlineSpeech: TextToSpeech,
): Promise<{ readonly speechToText: SpeechToText; readonly textToSpeech: TextToSpeech }> {
  const endpoint = createOpenAiEndpoint({ apiKey: config.OPENAI_API_KEY, baseUrl: config.OPENAI_BASE_URL });
  closers.push(() => endpoint.close());
  const openai = {
    endpoint,
    clock,
    timeoutMs: config.MODEL_TIMEOUT_SECONDS * 1000,
    onRetry: (error: Error) => logger.warn({ err: error }, 'the speech endpoint failed; asked once more'),
  };
  const speechToText =
    config.STT_PROVIDER === 'openai'
      ? createOpenAiSpeechToText({ ...openai, model: config.STT_MODEL })
      : await buildPocketsphinx(logger);
  closers.push(() => speechToText.close());
  const textToSpeech =
    config.TTS_PROVIDER === 'openai'
      ? createOpenAiTextToSpeech({ ...openai, model: config.TTS_MODEL, voice: config.TTS_VOICE })
      : offlineSpeech;
  return { speechToText, textToSpeech };
}

async function buildPocketsphinx(logger: Logger): Promise<SpeechToText> {
  const searchPath = readEnvironment().PATH ?? '';
  if (!(await findPocketsphinx(searchPath))) {
    const install = INSTALL_COMMAND;
    logger.warn({ install }, 'speech is not recognized: pocketsphinx is not installed; DTMF digits work');
  }
  return createLocalSpeechToText({ searchPath });
}

/** Starts the speaking thread before the first caller waits for it. */
function warmUp(speech: TextToSpeech, logger: Logger): void {
  const speak = async () => {
    for await (const samples of speech.synthesize({ text: 'Hello.' }, new AbortController().signal)) {
      if (samples.length > 0) break;
    }
  };
  speak().catch((error: unknown) =>
    logger.warn({ err: error }, 'the offline speech synthesis does not start'),
  );
}
