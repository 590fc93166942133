import type { Logger } from 'pino';
import type { UsageCounter } from '../../agents/accounts/usage.ts';
import type { Clock } from '../../base/values/clock.ts';
import { detectsAnsweringMachine } from '../../calls/call.ts';
import type { CallStore } from '../../calls/callStore.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { HistoryStore } from '../../engine/history/historyStore.ts';
import type { RecoveryDeps, TurnCheckpointStore } from '../../engine/session/interruptedTurn.ts';
import type { ReleaseStore } from '../../engine/session/releases.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { TargetPolicy } from '../../http/target.ts';
import type { VoiceActivityDetection } from '../../models/ports/voiceActivity.ts';
import type { ProjectCredentialCache } from '../../models/selection/projectCredentialCache.ts';
import { forWholeTexts } from '../../models/synthesis/wholeTexts.ts';
import type { SessionMetrics } from '../../observability/metrics/sessions.ts';
import { createWebrtcVad } from '../../vendors/fvad/webrtc.ts';
import { createLocalTextToSpeech } from '../../vendors/local/textToSpeech.ts';
import { createRnnoiseVad } from '../../vendors/rnnoise/rnnoise.ts';
import { createRnnoiseSuppression } from '../../vendors/rnnoise/rnnoiseSuppression.ts';
import {
  createVoiceSessionServer,
  type VoiceSessionServer,
  type VoiceSessionServerDeps,
} from '../../voice/voiceSessionServer.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { buildSpeech, buildSpeechEngines, buildSpeechProviders } from '../services/providers.ts';
import type { Config } from '../settings/config.ts';

export interface VoiceParts {
  readonly config: Config;
  readonly conversations: ConversationEngine;
  readonly stores: {
    readonly history: Pick<HistoryStore, 'addEvents' | 'addMessages' | 'addHeard'>;
    readonly sessions: RecoveryDeps['sessions'];
    readonly releases: Pick<ReleaseStore, 'find'>;
    readonly calls: Pick<CallStore, 'find' | 'setAnsweringMachine'>;
  };
  readonly credentials: ProjectCredentialCache;
  readonly targetPolicy: TargetPolicy;
  readonly usage: UsageCounter;
  readonly bots?: VoiceSessionServerDeps['bots'];
  readonly turnCheckpoints: TurnCheckpointStore;
  readonly metrics: Pick<SessionMetrics, 'turn' | 'utterance' | 'providerMetrics'>;
  readonly liveEvents?: LiveEvents;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

/** Voice sessions over the speech vendors of the settings. */
export async function buildVoice(parts: VoiceParts): Promise<VoiceSessionServer> {
  const { conversations, stores, turnCheckpoints, clock, metrics, lifecycle } = parts;
  const logger = parts.logger.child({ part: 'voice' });
  const { speechToText, textToSpeech } = await buildSpeech({ ...parts, logger });
  const fallbackSpeech = parts.config.TTS_PROVIDER === 'local' ? undefined : createLocalTextToSpeech();
  if (fallbackSpeech) lifecycle.onClose(() => fallbackSpeech.close());
  const projectCredentials = (projectId: string) => parts.credentials.of(projectId);
  const selected = { ...parts, projectCredentials, logger };
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
    voiceActivity: await openVoiceActivity(parts.config),
    noiseSuppression: createRnnoiseSuppression(),
    speechToText,
    textToSpeech,
    onSpokenTurn: metrics.turn,
    onUtterance: metrics.utterance,
    liveEvents: parts.liveEvents,
    fallbackSpeech,
    speechProviders: buildSpeechProviders(selected),
    engines: buildSpeechEngines(selected),
    forWholeTexts,
    bots: parts.bots,
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
