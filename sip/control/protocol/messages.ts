import type { ByteString } from '../../message/bytes.ts';
import { unbracketed } from '../../message/fields/uri.ts';
import type { Endpoint } from '../../transport/types.ts';

/** Transport, peer, size and time of a SIP message, as in the meta lines. */
export interface MessageMeta {
  readonly lengthBytes: number;
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
}

export interface SipMessageMeta {
  readonly source: 'network' | 'application';
  readonly meta: MessageMeta;
  readonly transactionId: string;
  readonly dialogId: string;
  /** The endpoint that received the message; set only on requests outside dialogs. */
  readonly receivedOn?: Endpoint;
}

/** The transaction id of requests that the server generates. */
export const UNSOLICITED = 'unsolicited';

const MS_PER_DAY = 86_400_000;

/** UTC time of day as `HH:MM:SS.micros`. */
export function timeOfDay(atMs: number): string {
  const inDay = atMs % MS_PER_DAY;
  const two = (value: number) => (value < 10 ? `0${value}` : `${value}`);
  const seconds = Math.trunc(inDay / 1000);
  const [hour, minute] = [Math.trunc(seconds / 3600), Math.trunc(seconds / 60) % 60];
  const thousandths = String(1000 + (inDay % 1000)).slice(1);
  return `${two(hour)}:${two(minute)}:${two(seconds % 60)}.${thousandths}000`;
}

/** The meta data of a response that the server generates. */
export function generatedMeta(atMs: number): MessageMeta {
  return { lengthBytes: 0, protocol: 'udp', address: '', port: 0, atMs };
}

export function formatSipMessage(id: string, line: SipMessageMeta, sip: ByteString): ByteString {
  const on = line.receivedOn ? `${unbracketed(line.receivedOn.address)}|${line.receivedOn.port}|` : '';
  return `${id}|sip|${line.source}|${sighted(line.meta)}|${line.transactionId}|${line.dialogId}|${on}\r\n${sip}`;
}

/** Reports a request of the application as sent. */
export function formatRequestSent(
  id: string,
  commandId: string,
  meta: MessageMeta,
  transactionId: string,
  sip: string,
): string {
  return `${id}|response|${commandId}|OK|application|${sighted(meta)}|${transactionId}|Msg sent:|\r\n${sip}`;
}

/** Reports a response of the application as sent. */
export function formatResponseSent(
  id: string,
  commandId: string,
  meta: MessageMeta,
  ids: { transactionId: string; dialogId: string },
  sip: ByteString,
): ByteString {
  return `${id}|response|${commandId}|OK|application|${sighted(meta)}|${ids.transactionId}|${ids.dialogId}||Msg sent:|\r\n${sip}`;
}

/** Reports a final response to a proxied request; more follow. */
export function formatProxyResponse(
  id: string,
  commandId: string,
  meta: MessageMeta,
  sip: ByteString,
): ByteString {
  return `${id}|response|${commandId}|OK|network|${sighted(meta)}|||continue\r\n${sip}`;
}

export function formatOk(id: string, commandId: string, ...fields: readonly string[]): ByteString {
  return [id, 'response', commandId, 'OK', ...fields].join('|');
}

/** Refuses one command. */
export function formatNok(id: string, commandId: string, why: string): ByteString {
  return `${id}|response|${commandId}|NOK|${why}`;
}

/** Refuses a command; the connection is closed then. */
export function formatNo(id: string, commandId: string, why: string): ByteString {
  return `${id}|response|${commandId}|NO|${why}`;
}

function sighted(meta: MessageMeta): string {
  return `${meta.lengthBytes}|${meta.protocol}|${meta.address}|${meta.port}|${timeOfDay(meta.atMs)}`;
}
