import { randomUUID } from 'node:crypto';

import type { CallCommand, Caption, PlayoutPosition } from '../media/agentStream/streamClient.ts';
import type {
  DialectConnection,
  DialectServer,
  GatewayMessageHandler,
  StreamDialect,
  StreamMessage,
  StreamStart,
} from './dialect.ts';
import { CallerAudio } from './realtime/callerAudio.ts';
import { CallerItem } from './realtime/callerItem.ts';
import { ConversationItems, messageItem, type SendEvent } from './realtime/conversationItems.ts';
import { RealtimeAnswers } from './realtime/realtimeAnswers.ts';
import {
  INITIAL_SESSION,
  problem,
  type RealtimeProblem,
  type RealtimeSession,
  shownSession,
  updatedSession,
} from './realtime/realtimeSession.ts';
import { type Fields, fieldsOf, nameOf, numberOf, parseJson } from './wire/json.ts';

/** The most characters of a typed message. */
const MAX_TEXT_LENGTH = 10_000;
/** Frames of 20 ms for a client to tell how much of a stopped answer it has played; its network may take a while. */
const POSITION_FRAMES = 50;
/** Typed messages that wait for a `response.create`. */
const MAX_TYPED = 20;

/**
 * The server of OpenAI's Realtime interface over a WebSocket, in its generally available form, so that its clients talk
 * with an agent. Instructions, tools and the voice are the agent's own.
 *
 * @see https://platform.openai.com/docs/api-reference/realtime-client-events
 * @see https://platform.openai.com/docs/api-reference/realtime-server-events
 */
export const openaiRealtime: StreamDialect = {
  subprotocols: ['realtime'],
  hasNoMarks: true,
  hasCaptions: true,
  description:
    ' (subprotocol `realtime` for browsers; also at `/v1/realtime`): the events of OpenAI’s Realtime interface over a WebSocket, audio in base64 as `audio/pcm` (24000 Hz), `audio/pcmu` or `audio/pcma`. The stream starts with the client’s first event, and the agent speaks first. `instructions`, `tools`, `model` and `voice` are accepted and have no effect, since the agent’s pathway decides. Text is what was heard; a truncation tells it, else it is estimated.',
  openServer: (connection) => new RealtimeServer(connection),
};

class RealtimeServer implements DialectServer {
  readonly confirmsClear = true;
  readonly endsByClose = true;
  readonly #connection: DialectConnection;
  readonly #id = randomUUID();
  readonly #items: ConversationItems;
  readonly #callerItem: CallerItem;
  readonly #answers: RealtimeAnswers;
  #audio = new CallerAudio(INITIAL_SESSION.input.sampleRateHz);
  #session: RealtimeSession = INITIAL_SESSION;
  #gateway: GatewayMessageHandler | undefined;
  #events = 0;
  /** The first message has been applied. */
  #isStartRead = false;
  #typed: string[] = [];
  /** Since when the caller has spoken over the agent, which was not interrupted yet. */
  #overlapAtMs: number | undefined;
  /** An answer was stopped: where, as far as it is known, until the client tells or the time is over. */
  #stopped: { readonly position: PlayoutPosition; frames: number } | undefined;
  /** Where the client itself has stopped the answer. */
  #stoppedAt: PlayoutPosition | undefined;

  constructor(connection: DialectConnection) {
    this.#connection = connection;
    const send: SendEvent = (...event) => this.#send(...event);
    this.#items = new ConversationItems(this.#id.slice(0, 8), send);
    this.#callerItem = new CallerItem(this.#items, send);
    this.#answers = new RealtimeAnswers({
      items: this.#items,
      send,
      session: () => this.#session,
      onPlayed: (mark) => this.#gateway?.mark(mark, { outcome: 'played' }),
    });
    this.#sendSession('session.created');
  }

  /** The stream has the rate of the first formats; later ones are resampled. */
  readStart(message: StreamMessage): StreamStart {
    const event = parseJson(message);
    // At once: the agent may speak before the message is read.
    if (event?.type === 'session.update' && !this.#update(fieldsOf(event.session))) this.#isStartRead = true;
    const { input, output } = this.#session;
    const sampleRateHz = input.sampleRateHz === output.sampleRateHz ? output.sampleRateHz : 24_000;
    this.#audio = new CallerAudio(sampleRateHz);
    this.#answers.sampleRateHz = sampleRateHz;
    return { sampleRateHz, customParameters: {} };
  }

  read(message: StreamMessage, gateway: GatewayMessageHandler): void {
    this.#gateway = gateway;
    if (this.#isStartRead) {
      this.#isStartRead = false;
      return;
    }
    const event = parseJson(message);
    const found = event
      ? this.#readEvent(event, gateway)
      : problem('invalid_json', 'The message is no JSON object.');
    if (!found) return;
    gateway.malformed();
    const { param = null, ...error } = found;
    const event_id = nameOf(event?.event_id) ?? null;
    this.#send('error', { error: { type: 'invalid_request_error', ...error, param, event_id } });
  }

  fillSilence(gateway: GatewayMessageHandler): void {
    this.#gateway = gateway;
    this.#hear(this.#audio.silence(), gateway);
    if (this.#stopped && this.#stopped.frames-- === 0) this.#reportStop(this.#stopped.position, gateway);
  }

  play(samples: Int16Array): void {
    this.#answers.play(samples);
  }

  mark(name: string): void {
    this.#answers.playout.mark(name);
  }

  /** A client stops playing when it is told that the caller speaks, and may then tell how much it has played. */
  clear(): void {
    const overlapAtMs = this.#overlapAtMs;
    this.#overlapAtMs = undefined;
    if (overlapAtMs !== undefined) this.#callerItem.start(overlapAtMs);
    this.#answers.end(overlapAtMs === undefined ? 'client_cancelled' : 'turn_detected');
    const position = this.#stoppedAt;
    this.#stoppedAt = undefined;
    this.#stopped = position
      ? undefined
      : { position: this.#answers.playout.position, frames: POSITION_FRAMES };
    if (position) queueMicrotask(() => this.#gateway?.cleared(position));
    this.#answers.playout.clear();
  }

  caption({ speaker, text, isFinal }: Caption): void {
    if (speaker === 'agent') this.#answers.show(text, isFinal);
    else if (isFinal) this.#callerItem.words(text);
  }

  callerSpeech(isSpeaking: boolean, atMs: number): void {
    if (this.#session.isManual) return;
    if (!isSpeaking) {
      this.#overlapAtMs = undefined;
      this.#callerItem.stop(atMs);
    } else if (this.#answers.playout.isPlaying) this.#overlapAtMs = atMs;
    else this.#callerItem.start(atMs);
  }

  command({ kind }: CallCommand): void {
    if (kind === 'hangup') this.#connection.close('hangup');
  }

  #readEvent(event: Fields, gateway: GatewayMessageHandler): RealtimeProblem | undefined {
    switch (event.type) {
      case 'session.update':
        return this.#update(fieldsOf(event.session));
      case 'input_audio_buffer.append':
        return this.#append(event.audio, gateway);
      case 'input_audio_buffer.commit':
        return this.#commit(gateway);
      case 'input_audio_buffer.clear':
        this.#audio.clear();
        this.#send('input_audio_buffer.cleared', {});
        return undefined;
      case 'conversation.item.create':
        return this.#createItem(fieldsOf(event.item));
      case 'conversation.item.retrieve':
        if (this.#items.retrieve(nameOf(event.item_id) ?? '')) return undefined;
        return problem('item_retrieve_invalid_item_id', 'There is no such item', 'item_id');
      case 'conversation.item.truncate':
        return this.#truncate(event, gateway);
      case 'response.create':
        return this.#createResponse(gateway);
      case 'response.cancel':
        if (this.#answers.activeId === undefined)
          return problem('response_cancel_not_active', 'Cancellation failed: no active response found');
        gateway.request({ kind: 'stop' });
        return undefined;
      case 'output_audio_buffer.clear':
        if (this.#answers.playout.isPlaying) gateway.request({ kind: 'stop' });
        this.#send('output_audio_buffer.cleared', {});
        return undefined;
      default:
        return problem('invalid_value', `The event "${nameOf(event.type) ?? ''}" is not served`, 'type');
    }
  }

  #update(changes: Fields | undefined): RealtimeProblem | undefined {
    if (!changes) return problem('missing_required_parameter', 'The session is missing', 'session');
    const session = updatedSession(this.#session, changes);
    if ('code' in session) return session;
    this.#session = session;
    this.#sendSession('session.updated');
    return undefined;
  }

  #append(audio: unknown, gateway: GatewayMessageHandler): RealtimeProblem | undefined {
    const { input, isManual } = this.#session;
    const heard = this.#audio.append(audio, input, isManual);
    if (!heard) {
      const message = `The audio must be base64 of ${input.type}, and at most 50 s of it before a commit`;
      return problem('invalid_value', message, 'audio');
    }
    this.#hear(heard, gateway);
    return undefined;
  }

  #commit(gateway: GatewayMessageHandler): RealtimeProblem | undefined {
    const heard = this.#audio.commit();
    if (!heard) {
      const message = 'The input audio buffer has less than 100 ms of audio';
      return problem('input_audio_buffer_commit_empty', message);
    }
    if (this.#session.isManual) this.#callerItem.commit();
    this.#hear(heard, gateway);
    return undefined;
  }

  #hear(audio: readonly Int16Array[], gateway: GatewayMessageHandler): void {
    for (const samples of audio) {
      this.#answers.playout.received(samples.length);
      gateway.audio(samples);
    }
  }

  #createItem(item: Fields | undefined): RealtimeProblem | undefined {
    const content = Array.isArray(item?.content) ? item.content.map(fieldsOf) : [];
    const texts = content.flatMap((part) =>
      part?.type === 'input_text' && typeof part.text === 'string' && part.text.trim() !== ''
        ? [part.text]
        : [],
    );
    const isMessage = item?.type === 'message' && item.role === 'user';
    if (!isMessage || texts.length === 0 || texts.length < content.length) {
      const message = 'Items are messages of the user with input_text; the agent’s pathway decides all else';
      return problem('invalid_value', message, 'item');
    }
    const text = texts.join('\n');
    if (text.length > MAX_TEXT_LENGTH) {
      const message = `The text has more than ${MAX_TEXT_LENGTH} characters`;
      return problem('string_above_max_length', message, 'item.content');
    }
    const id = nameOf(item.id) ?? this.#items.makeId();
    const created = messageItem(
      'user',
      'completed',
      texts.map((one) => ({ type: 'input_text', text: one })),
    );
    this.#items.added(id, created);
    this.#items.done(id, created);
    this.#typed = [...this.#typed, text].slice(-MAX_TYPED);
    return undefined;
  }

  /** Without a typed message, the answer that is due is the one that is asked for. */
  #createResponse(gateway: GatewayMessageHandler): RealtimeProblem | undefined {
    const { activeId, hasAnswered } = this.#answers;
    if (activeId !== undefined) {
      const message = `Conversation already has an active response in progress: ${activeId}. Wait until the response is finished before creating a new one.`;
      return problem('conversation_already_has_active_response', message);
    }
    const text = this.#typed.join('\n');
    this.#typed = [];
    if (text !== '') gateway.request({ kind: 'message', text });
    else if (hasAnswered) gateway.request({ kind: 'answer' });
    return undefined;
  }

  #truncate(event: Fields, gateway: GatewayMessageHandler): RealtimeProblem | undefined {
    const item_id = nameOf(event.item_id) ?? '';
    const audio_end_ms = numberOf(event.audio_end_ms);
    const found = audio_end_ms === undefined ? undefined : this.#answers.positionIn(item_id, audio_end_ms);
    if (!found) {
      const message = `The item "${item_id}" has no ${audio_end_ms ?? ''} ms of audio`;
      return problem('invalid_value', message, 'audio_end_ms');
    }
    const position: PlayoutPosition = { ...found, isReported: true };
    this.#send('conversation.item.truncated', { item_id, content_index: 0, audio_end_ms });
    if (this.#stopped) this.#reportStop(position, gateway);
    else if (this.#answers.playout.isPlaying) {
      this.#stoppedAt = position;
      gateway.request({ kind: 'stop' });
    }
    return undefined;
  }

  #reportStop(position: PlayoutPosition, gateway: GatewayMessageHandler): void {
    this.#stopped = undefined;
    gateway.cleared(position);
  }

  #sendSession(type: string): void {
    this.#send(type, { session: shownSession(`sess_${this.#id}`, this.#session) });
  }

  #send(...[type, fields, audio]: Parameters<SendEvent>): void {
    const event = JSON.stringify({ type, event_id: `event_${++this.#events}`, ...fields });
    // `JSON.stringify` would search the base64 for characters to escape, which it has none of.
    this.#connection.send(audio === undefined ? event : `${event.slice(0, -1)},"delta":"${audio}"}`);
  }
}
