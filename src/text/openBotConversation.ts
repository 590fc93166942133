import { notFound, unavailable } from '../base/errors.ts';
import type { AudioStream, BotTarget } from '../conversation/streams/audioStream.ts';
import { SessionHistory, type SessionHistoryDeps } from '../conversation/turns/sessionHistory.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { ReleaseStore } from '../engine/session/releases.ts';
import type { LiveEvents } from '../events/liveEvents.ts';
import { BotConversation } from './botConversation.ts';
import type { ConnectTextBot, FetchClip } from './textBot.ts';

export interface BotConversationOpenerDeps extends SessionHistoryDeps {
  readonly engine: ConversationEngine;
  readonly releases: ReleaseStore;
  readonly bots?: BotAccess | undefined;
  readonly liveEvents?: LiveEvents | undefined;
}

export interface BotAccess {
  readonly connectBot: ConnectTextBot;
  readonly fetchClip: FetchClip;
}

/** Connects a call's stream to the customer's bot, whose words are said by our voices. */
export async function openBotConversation(
  { engine, releases, bots, ...deps }: BotConversationOpenerDeps,
  stream: AudioStream,
  target: BotTarget,
): Promise<BotConversation> {
  const { projectId, sessionId, callId = '' } = stream.info;
  const session = await engine.find(projectId, sessionId);
  const release = session && (await releases.find(projectId, session.releaseId));
  if (!release) throw notFound('Session');
  if (!bots) throw unavailable('engine');
  const { connectBot, fetchClip } = bots;
  const history = new SessionHistory(deps);
  history.onSession(session.instanceId);
  const closed = new AbortController();
  stream.events.on('closed', () => closed.abort(new Error('the call has ended')));
  return new BotConversation({
    ...deps,
    session,
    agent: release.agent,
    history,
    fetchClip,
    connect: (listener) => connectBot(target, callId, listener, closed.signal),
    command: (command) => stream.command(command),
  });
}
