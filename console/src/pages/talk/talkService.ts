import { readChatStream } from '../../../widget/chatStream.ts';
import { bodyOf, consoleHeaders, createApi, errorFrom, fetchInSession } from '../../api/client.ts';

/** Of the agent: what callers get, or the working copy. */
export type AgentVersion = 'live' | 'draft';

/** One conversation of the page: its project, its session, and the version that it begins on. @see useRenewSession */
export interface Conversation {
  readonly projectId: string;
  readonly sessionId: string;
  readonly version: AgentVersion;
  readonly renewSession: () => Promise<void>;
}

/** @throws {ApiError} */
export async function sendMessage(
  conversation: Conversation,
  text: string,
  onText: (text: string) => void,
): Promise<void> {
  const body = {
    messages: [{ role: 'user', content: text }],
    stream: true,
    session_id: conversation.sessionId,
  };
  const response = await post(conversation, 'chat/completions', body);
  await readChatStream(response, { onSession: () => undefined, onText });
}

/** @returns The URL of a WebSocket at this page's own address. @throws {ApiError} */
export async function openStream({
  projectId,
  sessionId,
  version,
  renewSession,
}: Conversation): Promise<string> {
  const { url } = await bodyOf(
    createApi({ projectId, renewSession }).POST('/v1/projects/{projectId}/media-streams', {
      params: { path: { projectId }, header: version === 'draft' ? { 'x-agent-version': 'draft' } : {} },
      body: { dialect: 'callway', sessionId, captions: true },
    }),
  );
  const { pathname, search } = new URL(url ?? '');
  return location.origin.replace(/^http/, 'ws') + pathname + search;
}

async function post(
  { projectId, version, renewSession }: Conversation,
  route: string,
  body: object,
): Promise<Response> {
  const request = new Request(`/v1/projects/${encodeURIComponent(projectId)}/${route}`, {
    method: 'POST',
    headers: {
      ...consoleHeaders(projectId),
      'content-type': 'application/json',
      ...(version === 'draft' && { 'x-agent-version': 'draft' }),
    },
    body: JSON.stringify(body),
  });
  const response = await fetchInSession(request, renewSession);
  if (!response.ok) throw await errorFrom(response);
  return response;
}
