import { currentSpeech } from '../../agents/speech/language.ts';
import { CallwayError } from '../../base/errors.ts';
import type { AudioStream, StreamParty } from '../../conversation/streams/audioStream.ts';
import { DEFAULT_LANGUAGE } from '../../conversation/turnDetection/turnSettings.ts';
import { SessionHistory, type SessionHistoryDeps } from '../../conversation/turns/sessionHistory.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { ReleaseStore } from '../../engine/session/releases.ts';
import type { VoiceActivityDetection } from '../../models/ports/voiceActivity.ts';
import type { SessionSpeech } from '../speech/callSpeech.ts';
import { announcementOf } from './announcement.ts';
import { Briefing } from './briefing.ts';
import { PartyRecognition, type PartyRecognitionDeps } from './partyRecognition.ts';

export interface PartyStreamDeps extends SessionHistoryDeps {
  readonly engine: ConversationEngine;
  readonly releases: ReleaseStore;
  readonly speech: SessionSpeech;
  readonly voiceActivity: VoiceActivityDetection;
}

/** Serves a stream to a party of a transfer until it is closed. */
export async function servePartyStream(
  deps: PartyStreamDeps,
  stream: AudioStream,
  party: StreamParty,
): Promise<void> {
  const closed = new Promise<void>((resolve) => stream.events.on('closed', () => resolve()));
  const found = await findSession(deps, stream);
  const { voiceActivity, historyStore, clock, onError } = deps;
  const { speechToText, callSpeech, synthesis, streamedSynthesis } = deps.speech;
  const { speech, language = DEFAULT_LANGUAGE, session, agentName, instanceId } = found;
  const history = new SessionHistory({ historyStore, clock, onError });
  history.onSession(instanceId);
  const hearing = { stream, closed, voiceActivity, speechToText, callSpeech, speech, clock, onError };
  try {
    if (party.kind === 'listener')
      return await listen({ ...hearing, language: found.language }, history, party);
    const voice = (await callSpeech?.synthesisFor(speech, language)) ?? { synthesis, streamedSynthesis };
    const announcement = announcementOf(party, { session, agentName, language });
    await new Briefing({ ...hearing, language, synthesis: voice }, party, announcement).run();
  } finally {
    history.addUsage(deps.speech.tally);
  }
}

async function findSession({ engine, releases }: PartyStreamDeps, { info }: AudioStream) {
  const { projectId, sessionId } = info;
  const session = await engine.find(projectId, sessionId);
  if (!session) throw new CallwayError('gone', 'session_ended', 'The session has ended');
  const release = await releases.find(projectId, session.releaseId);
  const node = release?.pathway.nodes.find(({ id }) => id === session.state.currentNodeId);
  const { variables } = session.state;
  const { speech, language } = currentSpeech(release?.agent.speech, node?.data.speech, variables);
  const { instanceId } = session;
  return { session, instanceId, speech, language, agentName: release?.agent.name ?? '' };
}

/** Writes what one side of a joined call says into the history, as the customer's words or as those of the target. */
async function listen(
  deps: Omit<PartyRecognitionDeps, 'expectedAnswers' | 'agentFrame' | 'onFrame' | 'onWords'> & {
    readonly closed: Promise<void>;
  },
  history: SessionHistory,
  { speaker, to }: Extract<StreamParty, { kind: 'listener' }>,
): Promise<void> {
  const recognition = new PartyRecognition({
    ...deps,
    expectedAnswers: [],
    agentFrame: () => undefined,
    onFrame: () => undefined,
    onWords: (content, name) => {
      const said = { content, speech: { recognition: name } };
      history.addMessages([
        speaker === 'caller' ? { role: 'user', ...said } : { role: 'assistant', name: to, ...said },
      ]);
    },
  });
  deps.stream.events.on('audio', (samples) => recognition.push(samples));
  await deps.closed;
  await recognition.close();
}
