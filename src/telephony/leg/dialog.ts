import type { SipControl } from '../control/control.ts';
import type { IncomingRequest } from '../control/incoming.ts';
import { RequestRefusedError, type SentRequest, type SipResponse } from '../control/outgoing.ts';
import type { Authenticator } from '../sip/digest.ts';

/** What may be said inside a call that stands. */
export interface Dialog {
  readonly id: string;
  /**
   * Sends a request and waits for its final answer; a challenge is answered, and a 2xx to INVITE acknowledged.
   *
   * @throws {DialogLostError} When the SIP server knows the dialog no more. @throws {ControlDownError}
   */
  request(method: string, parts?: DialogRequestParts): Promise<SipResponse>;
  /** Ends the dialog; waits for the peer's answer, or leaves it to be said when the SIP server is back. */
  bye(headers: Record<string, string>): Promise<void>;
  /** Asks the peer whether it still knows the call. @returns False when either end does not. */
  isAlive(): Promise<boolean>;
  close(): void;
}

export interface DialogRequestParts {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The SIP server does not know the dialog any more. */
export class DialogLostError extends Error {
  readonly code = 'dialog_lost';
}

export interface DialogOptions {
  readonly control: SipControl;
  readonly id: string;
  /** A new one for each request, since each may be challenged anew. */
  readonly makeAuthenticator: () => Authenticator;
  readonly onRequest: (request: IncomingRequest) => void;
}

export function createDialog({ control, id, makeAuthenticator, onRequest }: DialogOptions): Dialog {
  const release = control.onDialogRequest(id, onRequest);

  const request = (method: string, parts: DialogRequestParts = {}): Promise<SipResponse> => {
    const authenticator = makeAuthenticator();
    const { body = '' } = parts;
    return new Promise((resolve, reject) => {
      const attempt = (credentials: Record<string, string>) => {
        let uri = '';
        const onSent = (sent: SentRequest) => {
          uri = sent.uri;
        };
        const onResponse = (response: SipResponse) => {
          if (response.status < 200) return;
          const answer = isChallenge(response)
            ? authenticator.answer(response.text, { method, uri, body })
            : undefined;
          if (answer) return attempt(answer);
          if (method === 'INVITE') acknowledge(response, credentials);
          resolve(response);
        };
        const onLost = (reason: string) => reject(new DialogLostError(reason));
        const headers = { ...parts.headers, ...credentials };
        const outgoing = { method, dialogId: id, headers, ...(body === '' ? {} : { body }) };
        control
          .request(outgoing, { onSent, onResponse, onConnectionLost: onLost })
          .catch((error: unknown) => reject(isGone(error) ? new DialogLostError(String(error)) : error));
      };
      attempt({});
    });
  };

  return {
    id,
    request,
    async bye(headers) {
      if (control.isConnected) await request('BYE', { headers });
      else control.requestWhenConnected({ method: 'BYE', dialogId: id, headers });
    },
    async isAlive() {
      try {
        const { status, isFromPeer } = await request('OPTIONS');
        return status !== 481 && (isFromPeer || status !== 408);
      } catch (error) {
        return !(error instanceof DialogLostError);
      }
    },
    close: release,
  };
}

function acknowledge(response: SipResponse, headers: Record<string, string>): void {
  if (response.status < 300) response.acknowledge({ headers });
}

function isChallenge({ status }: SipResponse): boolean {
  return status === 401 || status === 407;
}

function isGone(error: unknown): boolean {
  return error instanceof RequestRefusedError && error.isDialogUnknown;
}
