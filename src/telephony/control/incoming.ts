import { readSipText, type SipText } from '../sip/message.ts';
import type { SrfRequest, SrfResponse } from './srf.ts';

/** A request of a peer. */
export interface IncomingRequest {
  readonly method: string;
  readonly uri: string;
  readonly text: SipText;
  readonly dialogId: string;
  /** Begins something, being in no dialog. */
  readonly isNew: boolean;
  /** Made up by the SIP server, which ended the call itself: answers lead nowhere. */
  readonly isFromServer: boolean;
  readonly source: { readonly address: string; readonly port: number; readonly transport: string };
  /**
   * @returns The answer as it was sent. @throws {Error} When it could not be sent: the peer has cancelled, or the
   *   connection to the SIP server broke.
   */
  respond(
    status: number,
    parts?: { readonly reason?: string; readonly headers?: Record<string, string>; readonly body?: string },
  ): Promise<SipText>;
  /** The peer takes its INVITE back; the SIP server has answered it already. */
  onCancel(listener: () => void): void;
}

/** What a request needs of the connection that it came by. */
export interface RequestContext {
  readonly observe: (direction: 'in' | 'out', raw: string, transport: string, remote: string) => void;
  /** drachtio-srf hands an UPDATE to whatever request of the same call is under way, where it would be lost. */
  readonly onUpdate: (request: SrfRequest, response: SrfResponse) => void;
}

/**
 * What a SIP server says of an answer to a request that is over. drachtio-srf forgets an INVITE with its last answer, and
 * tells nobody of a CANCEL that the server took in the moment in which that answer left.
 */
const GONE = 'unknown transaction';

export function readIncoming(
  request: SrfRequest,
  response: SrfResponse,
  world: RequestContext,
): IncomingRequest {
  const text = readSipText(request.raw ?? '');
  const { source_address: address, source_port: port, protocol: transport } = request;
  const remote = `${address}:${port}`;
  if (text.raw !== '') world.observe('in', text.raw, transport, remote);
  if (request.method === 'INVITE') request.on('update', world.onUpdate);
  return {
    method: request.method,
    uri: request.uri,
    text,
    dialogId: request.stackDialogId || dialogIdOf(text),
    isNew: !/;\s*tag=/i.test(text.header('to') ?? ''),
    isFromServer: request.source === 'application',
    source: { address, port, transport },
    respond: (status, { reason, headers = {}, body } = {}) =>
      new Promise((resolve, reject) => {
        const parts = { headers: { ...headers }, ...(body === undefined ? {} : { body }) };
        const onSent = (error: unknown, sent?: { readonly raw?: string }) => {
          if (error) {
            const failure = error instanceof Error ? error : new Error(String(error));
            if (failure.message.includes(GONE)) request.emit('cancel');
            return reject(failure);
          }
          const raw = sent?.raw ?? '';
          if (raw !== '') world.observe('out', raw, transport, remote);
          resolve(readSipText(raw));
        };
        if (request.source === 'application') onSent(new Error('the SIP server has ended the call'));
        else sendKnown(response, status, reason, parts, onSent);
      }),
    onCancel: (listener) => request.on('cancel', listener),
  };
}

/** drachtio-srf refuses statuses that it does not know; the class's own stands for those. */
function sendKnown(
  response: SrfResponse,
  status: number,
  reason: string | undefined,
  parts: { headers: Record<string, string>; body?: string },
  onSent: (error: unknown, sent?: { readonly raw?: string }) => void,
): void {
  try {
    response.send(status, reason, parts, onSent);
  } catch {
    try {
      response.send(Math.floor(status / 100) * 100, reason, parts, onSent);
    } catch (error) {
      onSent(error);
    }
  }
}

/** As the SIP server forms it, which names none in the first request of a dialog. */
function dialogIdOf(text: SipText): string {
  const tag = /;\s*tag=([^;\s]+)/i.exec(text.header('from') ?? '')?.[1] ?? '';
  return `${text.header('call-id') ?? ''};from-tag=${tag}`;
}
