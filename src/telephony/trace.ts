import type { Clock, Timer } from '../base/values/clock.ts';
import type { SipTraceMessage, SipTraceStore } from '../calls/sipTraceStore.ts';
import type { SipControl } from './control/control.ts';

/** The SIP messages of calls in progress. */
export interface TraceSource {
  /** Calls back with the messages of one call, by its Call-ID, until the returned function is called. */
  follow(sipCallId: string, listener: (messages: readonly SipTraceMessage[]) => void): () => void;
}

/** The store of traces. */
export type TraceSink = Pick<SipTraceStore, 'append'>;

export interface CallTrace {
  /** Names the call; earlier messages are kept until then. */
  assign(projectId: string, callId: string): void;
  add(message: SipTraceMessage): void;
  /** Ends the trace after the last responses. Without `assign` nothing is stored. */
  end(): void;
}

export interface TraceOptions {
  readonly source: TraceSource;
  readonly sink: TraceSink;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Live views stay current, and the database gets few writes. */
const FLUSH_MS = 500;
/** Users open the trace of an ended call at once; this leaves time for the response to BYE. */
const LAST_FLUSH_MS = 20;
/** Messages that the database did not take are stored again after this time, in their order. */
const RETRY_MS = 2000;
const MAX_FAILURES = 5;
/** The time for retransmissions and late responses after a call's end. */
const TAIL_MS = 2000;
/** Bound the storage for a long call or a flood. */
const MAX_MESSAGES = 500;
const MAX_CHARACTERS = 1_000_000;

/** Starts to trace a call; to be called before its first message. */
export function traceCall({ source, sink, clock, onError }: TraceOptions, sipCallId: string): CallTrace {
  let call: { readonly projectId: string; readonly callId: string } | undefined;
  let buffer: SipTraceMessage[] = [];
  let remaining = MAX_MESSAGES;
  let remainingCharacters = MAX_CHARACTERS;
  let lastAt = '';
  let timer: Timer | undefined;
  let isEnding = false;
  let failures = 0;
  let writing: Promise<void> | undefined;

  const flush = () => {
    timer?.cancel();
    timer = undefined;
    if (!call || buffer.length === 0 || writing) return;
    const messages = buffer;
    buffer = [];
    writing = write(call.projectId, call.callId, messages);
  };
  const write = async (projectId: string, callId: string, messages: SipTraceMessage[]) => {
    try {
      await sink.append(projectId, callId, messages);
      failures = 0;
    } catch (error) {
      onError(error, 'storing a SIP trace failed');
      failures += 1;
      if (failures < MAX_FAILURES) buffer = [...messages, ...buffer];
    }
    writing = undefined;
    if (buffer.length > 0) timer ??= clock.setTimer(flush, failures > 0 ? RETRY_MS : LAST_FLUSH_MS);
  };
  const add = (message: SipTraceMessage) => {
    if (remaining === 0 || remainingCharacters < message.text.length) return;
    remaining -= 1;
    remainingCharacters -= message.text.length;
    // A time converted from another clock may be a millisecond less than that of the message before, and readers sort by it.
    if (message.at > lastAt) lastAt = message.at;
    buffer.push({ ...message, at: lastAt, text: redactSip(message.text) });
    if (call) timer ??= clock.setTimer(flush, isEnding ? LAST_FLUSH_MS : FLUSH_MS);
  };
  const stop = source.follow(sipCallId, (messages) => messages.forEach(add));

  return {
    add,
    assign(projectId, callId) {
      call = { projectId, callId };
      if (buffer.length > 0) timer ??= clock.setTimer(flush, FLUSH_MS);
    },
    end() {
      if (isEnding) return;
      isEnding = true;
      if (!call) {
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

/** Traces what a drachtio-server reports: no ACK to a non-2xx, no 100 Trying, no retransmissions. */
export function traceFromControl(control: SipControl): TraceSource {
  // A call to one of our own numbers has two legs with one Call-ID.
  const listeners = new Map<string, Set<(messages: readonly SipTraceMessage[]) => void>>();
  control.events.on('message', ({ atMs, callId, direction, transport, remote, text }) => {
    const message = { at: new Date(atMs).toISOString(), direction, transport, remote, text };
    for (const listener of listeners.get(callId) ?? []) listener([message]);
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

/** A SIP server that reports every message of a call, retransmissions included. */
interface TracingServer {
  trace(
    callId: string,
    listener: (entries: readonly (Omit<SipTraceMessage, 'at'> & { readonly atMs: number })[]) => void,
  ): () => void;
}

/**
 * Traces all messages of the embedded SIP server.
 *
 * @param toTime - Converts a time of the server's clock.
 */
export function traceFromServer(server: TracingServer, toTime: (atMs: number) => number): TraceSource {
  return {
    follow: (sipCallId, listener) =>
      server.trace(sipCallId, (entries) =>
        listener(
          entries.map(({ atMs, direction, transport, remote, text }) => {
            const at = new Date(toTime(atMs)).toISOString();
            return { at, direction, transport, remote, text };
          }),
        ),
      ),
  };
}

/** Headers that carry credentials, with their continuation lines. */
const SECRET_HEADERS = /^((?:Proxy-)?Authorization[ \t]*:[ \t]*\w*)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;
const CRYPTO_KEYS = /^(a=crypto:[^\r\n]*?inline:)[^\s|;\r\n]*/gim;
/** Matches further keys in the same line. */
const FURTHER_KEYS = /(;[ \t]*inline:)[^\s|;\r\n]*/gi;
const REDACTED = '[redacted]';

/** Removes credentials and SRTP keys from a SIP message. */
export function redactSip(text: string): string {
  return text
    .replace(SECRET_HEADERS, `$1 ${REDACTED}`)
    .replace(CRYPTO_KEYS, `$1${REDACTED}`)
    .replace(/^a=crypto:.*$/gim, (line) => line.replace(FURTHER_KEYS, `$1${REDACTED}`));
}
