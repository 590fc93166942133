import type { Clock, Timer } from '../base/clock.ts';
import type { SipTraceMessage, SipTraceStore } from '../calls/sipTraceStore.ts';
import type { SipControl } from './control/control.ts';
import { redactSip } from './trace/redact.ts';

/** Shows the messages of a SIP call, by its Call-ID, until the returned function is called. */
export interface TraceSource {
  follow(sipCallId: string, listener: (messages: readonly SipTraceMessage[]) => void): () => void;
}

/** Where messages are kept. */
export type TraceSink = Pick<SipTraceStore, 'append'>;

/** What is written down of one call. */
export interface CallTrace {
  /** Whose it is; what comes before that waits. */
  assign(projectId: string, callId: string): void;
  add(message: SipTraceMessage): void;
  /** Ends it soon, when the last answers are in. Without `assign` nothing is kept. */
  end(): void;
}

/** Often enough for somebody who looks on, rarely enough for a database. */
const FLUSH_MS = 500;
/** A call that is over is looked at at once; this is long enough for the answer to its BYE to be among the messages. */
const LAST_FLUSH_MS = 20;
/** What is repeated of the answer to BYE, and an answer that is late. */
const TAIL_MS = 2000;
/** A call that goes on for hours, or a flood, must not fill the database. */
const MAX_MESSAGES = 500;

export interface TraceOptions {
  readonly source: TraceSource;
  readonly sink: TraceSink;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Begins to follow a call. Ask before its first message. */
export function traceCall({ source, sink, clock, onError }: TraceOptions, sipCallId: string): CallTrace {
  let owner: { readonly projectId: string; readonly callId: string } | undefined;
  let waiting: SipTraceMessage[] = [];
  let left = MAX_MESSAGES;
  let timer: Timer | undefined;
  let isEnding = false;
  let writing = Promise.resolve();

  const flush = () => {
    timer?.cancel();
    timer = undefined;
    if (!owner || waiting.length === 0) return;
    const { projectId, callId } = owner;
    const messages = waiting;
    waiting = [];
    writing = writing
      .then(() => sink.append(projectId, callId, messages))
      .catch((error: unknown) => onError(error, 'a SIP trace was not kept'));
  };
  const add = (message: SipTraceMessage) => {
    if (left === 0) return;
    left -= 1;
    waiting.push({ ...message, text: redactSip(message.text) });
    if (owner) timer ??= clock.setTimer(flush, isEnding ? LAST_FLUSH_MS : FLUSH_MS);
  };
  const stop = source.follow(sipCallId, (messages) => messages.forEach(add));

  return {
    add,
    assign(projectId, callId) {
      owner = { projectId, callId };
      if (waiting.length > 0) timer ??= clock.setTimer(flush, FLUSH_MS);
    },
    end() {
      if (isEnding) return;
      isEnding = true;
      if (!owner) {
        stop();
        return;
      }
      timer?.cancel();
      timer = clock.setTimer(flush, LAST_FLUSH_MS);
      clock.setTimer(() => {
        stop();
        flush();
      }, TAIL_MS);
    },
  };
}

/** What a SIP server shows its applications anyway: no ACK between hops, no 100, nothing that is repeated. */
export function traceFromControl(control: Pick<SipControl, 'events'>): TraceSource {
  // Several may follow one Call-ID: both ends of a call to one's own number.
  const listeners = new Map<string, Set<(messages: readonly SipTraceMessage[]) => void>>();
  control.events.on('message', ({ atMs, direction, transport, remote, text }) => {
    const message = { at: new Date(atMs).toISOString(), direction, transport, remote, text: text.raw };
    for (const listener of listeners.get(text.header('call-id') ?? '') ?? []) listener([message]);
  });
  return {
    follow(sipCallId, listener) {
      const own = listeners.get(sipCallId) ?? new Set();
      listeners.set(sipCallId, own.add(listener));
      return () => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(sipCallId) === own) listeners.delete(sipCallId);
      };
    },
  };
}
