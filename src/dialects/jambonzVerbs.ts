import type { CallCommand } from '../media/agentStream/streamClient.ts';
import type { StreamMessage } from './dialect.ts';
import { fieldsOf, nameOf, parseJson } from './wire/json.ts';

/** The subprotocol of a jambonz application's WebSocket. */
export const APPLICATION_SUBPROTOCOL = 'ws.jambonz.org';
/** The hook that reports how a transfer ended. */
const TRANSFER_HOOK = '/transfer';
const SAMPLE_RATE_HZ = 8000;
const DIGIT_MS = 250;
/** The statuses of a call that has ended. */
const FINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'busy', 'no-answer']);
const OUTCOMES: Readonly<Record<string, string>> = { busy: 'busy', 'no-answer': 'no_answer' };

/** What jambonz tells an application. */
export type JambonzMessage =
  | { readonly kind: 'session'; readonly msgid: string }
  | { readonly kind: 'ended' }
  /** @property outcome - Undefined for a transfer that has succeeded. */
  | { readonly kind: 'transfer'; readonly msgid: string; readonly outcome: string | undefined }
  /** Asks for verbs, which is answered with none. */
  | { readonly kind: 'hook'; readonly msgid: string }
  | { readonly kind: 'other' };

/**
 * Reads a message of a jambonz application's WebSocket.
 *
 * @returns Undefined when it cannot be read.
 * @see https://docs.jambonz.org/reference/websocket-api/call-control/overview
 */
export function readJambonz(message: StreamMessage): JambonzMessage | undefined {
  const fields = parseJson(message);
  const msgid = nameOf(fields?.msgid);
  const data = fieldsOf(fields?.data);
  switch (fields?.type) {
    case 'session:new':
      return msgid === undefined ? undefined : { kind: 'session', msgid };
    case 'call:status':
      return FINAL.has(data?.call_status) ? { kind: 'ended' } : { kind: 'other' };
    case 'session:redirect':
    case 'session:reconnect':
    case 'verb:hook': {
      if (msgid === undefined) return undefined;
      if (fields.hook !== TRANSFER_HOOK) return { kind: 'hook', msgid };
      const status = nameOf(data?.dial_call_status);
      const hasReferred = /^2/.test(statusOf(data?.final_referred_call_status ?? data?.refer_status));
      if (status === 'completed' || (status === undefined && hasReferred))
        return { kind: 'transfer', msgid, outcome: undefined };
      return { kind: 'transfer', msgid, outcome: OUTCOMES[status ?? ''] ?? 'failed' };
    }
    default:
      return typeof fields?.type === 'string' ? { kind: 'other' } : undefined;
  }
}

/** A SIP status is a number or a text. */
function statusOf(value: unknown): string {
  return typeof value === 'number' ? String(value) : (nameOf(value) ?? '');
}

export function acknowledge(msgid: string, verbs?: readonly object[]): string {
  return JSON.stringify({ type: 'ack', msgid, data: verbs });
}

/** Replaces what the call does at the moment. */
export function redirect(verbs: readonly object[]): string {
  return JSON.stringify({ type: 'command', command: 'redirect', queueCommand: false, data: verbs });
}

export function dtmfCommand(digit: string): string {
  return JSON.stringify({ type: 'command', command: 'dtmf', data: { dtmf: { digit, duration: DIGIT_MS } } });
}

/** @param url - The URL of the audio stream. */
export function talkVerbs(url: string): readonly object[] {
  return [
    { verb: 'answer' },
    {
      verb: 'listen',
      url,
      mixType: 'mono',
      sampleRate: SAMPLE_RATE_HZ,
      passDtmf: true,
      bidirectionalAudio: { enabled: true, streaming: true, sampleRate: SAMPLE_RATE_HZ },
    },
    ...HANGUP_VERBS,
  ];
}

export const HANGUP_VERBS: readonly object[] = [{ verb: 'hangup' }];

/** Several targets ring at once where the order says so; otherwise the first is called. */
export function transferVerbs({
  to,
  options,
}: Extract<CallCommand, { kind: 'transfer' }>): readonly object[] {
  if (options?.mode === 'refer') return [{ verb: 'sip:refer', referTo: to, actionHook: TRANSFER_HOOK }];
  const { targets, strategy, timeoutSeconds } = options ?? {};
  const all = strategy === 'simultaneous' && Array.isArray(targets) ? targets : [to];
  const target = all
    .flatMap((one) => nameOf(one) ?? nameOf(fieldsOf(one)?.to) ?? [])
    .map((one) => (/^sips?:/i.test(one) ? { type: 'sip', sipUri: one } : { type: 'phone', number: one }));
  const timeout = typeof timeoutSeconds === 'number' ? { timeout: timeoutSeconds } : {};
  return [{ verb: 'dial', target, ...timeout, actionHook: TRANSFER_HOOK }];
}
