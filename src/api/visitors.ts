import type { FastifyRequest } from 'fastify';

import type { WidgetPrincipal } from '../agents/accounts/principal.ts';
import { type CallwayError, invalid, notFound } from '../base/errors.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { ChatBody } from './chat/requestBody.ts';
import { keyOf } from './plugins/accessControl.ts';

const MAX_MESSAGE_CHARACTERS = 4_000;
/** The fields that a visitor may send to the chat. OpenAI's clients send `model`, which is ignored. */
const CHAT_FIELDS: ReadonlySet<string> = new Set(['messages', 'stream', 'session_id', 'model']);

/** Returns the widget whose token the request carries; undefined for other credentials. */
export function visitorOf(request: FastifyRequest): WidgetPrincipal | undefined {
  const principal = keyOf(request);
  return principal.kind === 'widget' ? principal : undefined;
}

/** The `provider` of sessions that were begun with a token: no other session is open to it. */
export function providerOf({ keyId }: WidgetPrincipal): string {
  return `widget:${keyId}`;
}

/**
 * A visitor continues a live session that was begun with the token, whose random id only they know. Any other id is
 * unknown to them: a visitor chooses no session id, which another part of the project may use.
 *
 * @throws {CallwayError} 404 `session_not_found`
 */
export async function requireOwnSession(
  conversations: ConversationEngine,
  visitor: WidgetPrincipal,
  sessionId: string,
): Promise<void> {
  const session = await conversations.find(visitor.projectId, sessionId);
  if (session?.provider !== providerOf(visitor)) throw notFound('Session');
}

/**
 * A visitor says something, and no more: neither instructions nor tools, nor what the agent would have said.
 *
 * @throws {CallwayError} 400 `not_for_widgets`
 */
export function requireVisitorChat(body: ChatBody): void {
  const field = Object.keys(body).find((name) => !CHAT_FIELDS.has(name) && body[name] != null);
  if (field !== undefined) throw notForWidgets(`/${field}`, `A widget's token may not send ${field}`);
  const [message, ...more] = body.messages;
  if (message?.role !== 'user' || more.length > 0)
    throw notForWidgets(
      '/messages',
      'A widget sends one message, of the role user; the session has the others',
    );
  if (message.content.length > MAX_MESSAGE_CHARACTERS)
    throw notForWidgets('/messages/0/content', `A message has at most ${MAX_MESSAGE_CHARACTERS} characters`);
}

export function notForWidgets(path: string, message: string): CallwayError {
  return invalid('not_for_widgets', message, [{ path, message }]);
}
