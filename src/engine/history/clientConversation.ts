import { createHash } from 'node:crypto';

import type { Session, SessionMessage } from '../session/session.ts';
import type { ExternalMessage } from '../turn/turn.ts';

/** A message as the client sends it, which may send the whole conversation with each request. */
export type GivenMessage = ExternalMessage | { readonly role: 'system'; readonly content: string };

/** A message other than a system message, with its index in the request. */
export interface IndexedMessage {
  readonly message: ExternalMessage;
  readonly index: number;
}

type DigestedMessage = Pick<ExternalMessage, 'role' | 'content' | 'tool_calls' | 'tool_call_id'>;

/** What a session knows of the client's messages. */
export type KnownConversation = Pick<Session, 'digest' | 'state'>;

/** Owns the sessions that a client's messages may continue. */
export interface ConversationOwner {
  readonly keyId: string;
  /** Whether the client talks with the working copy. */
  readonly draft: boolean;
}

/**
 * The conversation of one request, for clients that name no session and send all messages each time.
 *
 * A session keeps the digest of the conversation as its client has it: the messages that the client sent, and the answer
 * that it was given. The next request is found by it. Digests are chained, message by message, from one that belongs to
 * the key, so that no other key and no other project can ever have the same:
 *
 * ```text
 *   owner ──▶ user ──▶ assistant ──▶ user ──▶ (answer)
 *                          │          └─ the session's digest while this answer broke off
 *                          └─ the session's digest once the first answer was given
 * ```
 */
export class ClientConversation {
  readonly messages: readonly IndexedMessage[];
  /** The texts of system messages, which stand outside of the conversation. */
  readonly instructions: readonly string[];
  /** How many messages the request has, system messages included. */
  readonly givenCount: number;
  /** A system message is the last one: the client asks the agent to speak. */
  readonly endsWithInstruction: boolean;
  readonly #owner: string;
  /** The digest after each message. */
  readonly #digests: readonly string[];
  /** Position of the last answer; -1 where there is none. */
  readonly #lastAnswer: number;

  constructor(given: readonly GivenMessage[], { keyId, draft }: ConversationOwner) {
    this.messages = given.flatMap((message, index) =>
      message.role === 'system' ? [] : [{ message, index }],
    );
    this.instructions = given.flatMap(({ role, content }) => (role === 'system' && content ? [content] : []));
    this.givenCount = given.length;
    this.endsWithInstruction = given.at(-1)?.role === 'system';
    this.#owner = hashOf(['callway', keyId, draft]);
    this.#digests = chained(this.#owner, this.messages);
    this.#lastAnswer = this.messages.findLastIndex(
      ({ message }) => message.role === 'assistant' && !isEmptyAnswer(message),
    );
  }

  /** Digests of the sessions that the request may continue, the most likely first. */
  candidates(): string[] {
    const last = this.#lastAnswer;
    const asked = this.#digests.slice(last + 1).slice(-MAX_UNANSWERED);
    const answered = this.#digests.slice(Math.max(0, last - 1), last + 1);
    return [...new Set([...answered, ...asked].reverse())];
  }

  /**
   * Returns how many of the messages a session has already.
   *
   * @returns The number of messages that repeat the session; undefined when the request does not continue it.
   */
  repeatedIn({ digest, state }: KnownConversation): number | undefined {
    if (!digest) return undefined;
    const answered = this.#lastAnswer + 1;
    if (digest === this.#digests[this.#lastAnswer]) return answered;
    // The session's last answer broke off: the client has a part of it, or nothing.
    const stored = state.messages.at(-1);
    const given = this.messages[this.#lastAnswer];
    if (given && digest === this.#digests[this.#lastAnswer - 1])
      return stored?.interrupted && isPartOf(given.message, stored) ? answered : undefined;
    const asked = this.#digests.lastIndexOf(digest);
    if (asked < answered) return undefined;
    if (state.messages.length === 0) return 0;
    if (asked < this.messages.length - 1) return asked + 1;
    // The same request again: its question is asked once more.
    return this.messages.findLastIndex(({ message }) => message.role !== 'tool');
  }

  /**
   * The digest once the session has been sent this request, before its answer.
   *
   * @param sessionDigest - The digest of a session whose client sends only what is new; undefined where it sends
   *   everything.
   */
  digest(sessionDigest?: string | null): string {
    if (sessionDigest === undefined) return this.#digests.at(-1) ?? this.#owner;
    return chained(sessionDigest ?? this.#owner, this.messages).at(-1) ?? this.#owner;
  }
}

/** The most messages in a row without an answer; people send fewer. */
const MAX_UNANSWERED = 8;

export function digestWith(digest: string, message: DigestedMessage): string {
  if (message.role === 'assistant' && isEmptyAnswer(message)) return digest;
  const { role, content, tool_calls: calls = [], tool_call_id: callId } = message;
  return hashOf([digest, role, normalizedContent(content), calls.map(({ id }) => id), callId ?? null]);
}

/**
 * Normalizes a message's text for comparison: null becomes empty, line ends become LF, and surrounding whitespace is
 * removed.
 */
export function normalizedContent(content: string | null): string {
  return (content ?? '').replaceAll('\r\n', '\n').trim();
}

/** Clients keep an answer without words or calls; the session does not. */
export function isEmptyAnswer(message: DigestedMessage): boolean {
  return (
    message.role === 'assistant' && normalizedContent(message.content) === '' && !message.tool_calls?.length
  );
}

/** Whether one of two texts of an answer that broke off is the beginning of the other. */
export function isPartOf(given: ExternalMessage, stored: SessionMessage): boolean {
  const [theirs, ours] = [normalizedContent(given.content), normalizedContent(stored.content)];
  return theirs !== '' && (ours.startsWith(theirs) || theirs.startsWith(ours));
}

function chained(from: string, messages: readonly IndexedMessage[]): string[] {
  let digest = from;
  return messages.map(({ message }) => {
    digest = digestWith(digest, message);
    return digest;
  });
}

function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
