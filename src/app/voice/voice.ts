import { detectsAnsweringMachine } from '../../calls/call.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { VoiceActivityDetection } from '../../models/ports/voiceActivity.ts';
import type { BotAccess } from '../../text/openBotConversation.ts';
import { createWebrtcVad } from '../../vendors/fvad/webrtc.ts';
import { createLocalTextToSpeech } from '../../vendors/local/textToSpeech.ts';
import { createRnnoiseVad } from '../../vendors/rnnoise/rnnoise.ts';
import { createRnnoiseSuppression } from '../../vendors/rnnoise/rnnoiseSuppression.ts';
import { createVoiceSessionServer, type VoiceSessionServer } from '../../voice/voiceSessionServer.ts';
import type { ThreadContext } from '../node/threadContext.ts';
import { buildSpeech, buildSpeechEngines, buildSpeechProviders } from '../services/providers.ts';
import type { Config } from '../settings/config.ts';

/** Voice sessions over the speech vendors of the settings. */
export async function buildVoice(
  context: ThreadContext,
  conversations: ConversationEngine,
  bots?: BotAccess,
): Promise<VoiceSessionServer> {
  const { config, turnCheckpoints, clock, sessionMetrics, liveEvents, lifecycle } = context;
  const { stores } = context.storage;
  const logger = context.logger.child({ part: 'voice' });
  const { speechToText, textToSpeech } = await buildSpeech(context, logger);
  const fallbackSpeech = config.TTS_PROVIDER === 'local' ? undefined : createLocalTextToSpeech();
  if (fallbackSpeech) lifecycle.onClose(() => fallbackSpeech.close());
  const projectCredentials = (projectId: string) => context.credentials.of(projectId);
  return createVoiceSessionServer({
    engine: conversations,
    historyStore: stores.history,
    sessions: stores.sessions,
    calls: {
      async find(projectId, callId) {
        const call = await stores.calls.find(projectId, callId);
        if (!call) return undefined;
        return {
          detectsAnsweringMachine: detectsAnsweringMachine(call),
          answeredBy: call.answeringMachine,
          noiseSuppression: call.settings.noiseSuppression,
        };
      },
      setAnsweredBy: (callId, answeredBy) => stores.calls.setAnsweringMachine(callId, answeredBy),
    },
    releases: stores.releases,
    checkpoints: turnCheckpoints,
    voiceActivity: await openVoiceActivity(config),
    noiseSuppression: createRnnoiseSuppression(),
    speechToText,
    textToSpeech,
    onSpokenTurn: sessionMetrics.turn,
    onUtterance: sessionMetrics.utterance,
    liveEvents,
    fallbackSpeech,
    speechProviders: buildSpeechProviders(context, logger, projectCredentials),
    engines: buildSpeechEngines(context, logger, projectCredentials),
    bots,
    clock,
    logger,
  });
}

export async function openVoiceActivity({
  VOICE_ACTIVITY,
}: Pick<Config, 'VOICE_ACTIVITY'>): Promise<VoiceActivityDetection> {
  const webrtc = await createWebrtcVad();
  return VOICE_ACTIVITY === 'neural' ? await createRnnoiseVad(webrtc) : webrtc;
}
