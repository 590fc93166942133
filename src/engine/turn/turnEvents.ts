import {
  type LiveEventData,
  type LiveEventType,
  liveEventData,
  type NewLiveEvent,
} from '../../events/liveEvent.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { HistoryEventType, MessageSpeech, Session, SessionMessage } from '../session/session.ts';
import type { Commitment, Delivered } from './delivery.ts';
import type { TurnRequest } from './turn.ts';

/** Maps types of history events to live ones; types that are not here have no live event. */
const LIVE_TYPES: Partial<Readonly<Record<HistoryEventType, LiveEventType>>> = {
  node_entered: 'node.entered',
  variable_set: 'variable.set',
  tool_called: 'tool.called',
  tool_result: 'tool.finished',
  provider_fallback: 'provider.fallback',
};

/** Tells live what happens in a turn. A preemptive turn is silent until it is committed, and for ever if it is not. */
export class TurnEvents {
  readonly #liveEvents: LiveEvents | undefined;
  readonly #session: Session;
  readonly #turn: number;
  /** Events to publish once the turn is committed; undefined from then on. */
  #held: NewLiveEvent[] | undefined;

  constructor(liveEvents: LiveEvents | undefined, session: Session, commitment?: Commitment) {
    this.#liveEvents = liveEvents;
    this.#session = session;
    this.#turn = session.turn + 1;
    if (!liveEvents || !commitment?.isPending) return;
    this.#held = [];
    commitment.promise.then(
      () => this.#release(),
      () => undefined,
    );
  }

  started({ input, history = [], delivery }: TurnRequest): void {
    if (input.kind !== 'unanswered_message')
      this.#publish('turn.started', { turn: this.#turn, input: input.kind });
    // What a caller said and no turn has answered. The earlier messages of a chat are no news.
    for (const { role, content, speech } of delivery ? history : [])
      if (role === 'user' && content) this.#said({ text: content, input: 'words', speech });
    if (input.kind === 'dtmf') this.#said({ text: input.digits, input: 'dtmf' });
    if (input.kind === 'user_message' && input.late) return;
    if (input.kind === 'user_message' || input.kind === 'unanswered_message') this.heard(input);
  }

  /** The person's words are known. */
  heard({ text, speech }: { readonly text: string; readonly speech?: MessageSpeech }): void {
    if (text !== '') this.#said({ text, input: 'words', speech });
  }

  /** Something was added to the turn's history. */
  noted(type: HistoryEventType, data: Readonly<Record<string, unknown>>): void {
    const liveType = LIVE_TYPES[type];
    if (!this.#liveEvents || !liveType) return;
    const read = liveEventData[liveType].safeParse({ turn: this.#turn, ...data });
    if (read.success) this.#add({ ...this.#subject(), type: liveType, data: read.data } as NewLiveEvent);
  }

  /** The answer was delivered. @param messages - The messages that the turn adds to the session. */
  answered(messages: readonly SessionMessage[], delivered: Delivered | undefined): void {
    const answer = messages.findLast(({ role, internal }) => role === 'assistant' && !internal);
    if (!answer?.content) return;
    const { content: text, nodeId, generatedText, latencyMs, latencyParts, latencyDetails, speech } = answer;
    const latency = {
      latencyMs,
      latencyParts: latencyParts && { ...latencyParts },
      latencyDetails: latencyDetails && { ...latencyDetails },
    };
    const heard = { nodeId, text, generatedText, ...latency, speech };
    const bargeIn = delivered?.events?.find(({ type }) => type === 'barge_in');
    if (bargeIn) {
      const { heardMs, stopMs } = bargeIn.data;
      this.#publish('turn.interrupted', {
        turn: this.#turn,
        ...heard,
        heardMs: typeof heardMs === 'number' ? heardMs : undefined,
        stopMs: typeof stopMs === 'number' ? stopMs : undefined,
      });
    }
    this.#publish('turn.agent', { turn: this.#turn, ...heard, interrupted: answer.interrupted ?? false });
  }

  #said(data: Omit<LiveEventData<'turn.user'>, 'turn'>): void {
    this.#publish('turn.user', { turn: this.#turn, ...data });
  }

  #publish<Type extends LiveEventType>(type: Type, data: LiveEventData<Type>): void {
    this.#add({ ...this.#subject(), type, data } as NewLiveEvent);
  }

  #add(event: NewLiveEvent): void {
    if (this.#held) this.#held.push(event);
    else this.#liveEvents?.publish(event);
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) this.#liveEvents?.publish(event);
  }

  #subject() {
    const { projectId, sessionId, callId, release } = this.#session;
    return { projectId, sessionId, callId, release };
  }
}
