import type { HangupReason } from '../../calls/telephony.ts';
import { type ReceivedResponse, RequestRefusedError } from '../control/connection.ts';
import type { RequestHandler, SipControl } from '../control/control.ts';
import type { Authenticator } from '../sip/authenticator.ts';
import { formatQ850 } from '../sip/q850.ts';

/** The SIP server no longer knows the dialog. */
class DialogLostError extends Error {
  readonly code = 'dialog_lost';
}

export interface DialogOptions {
  readonly control: SipControl;
  readonly id: string;
  /** Makes the authenticator of a request. It is called for each request, since each may be challenged. */
  readonly makeAuthenticator: () => Authenticator;
  readonly onRequest: RequestHandler;
}

export interface DialogRequestParts {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends and receives the requests inside a confirmed dialog. */
export class Dialog {
  readonly #options: DialogOptions;
  readonly #release: () => void;

  constructor(options: DialogOptions) {
    this.#options = options;
    this.#release = options.control.onDialogRequest(options.id, options.onRequest);
  }

  /**
   * Sends a request, answers a challenge and acknowledges a 2xx to INVITE.
   *
   * @returns The final response.
   * @throws {DialogLostError} When the SIP server no longer knows the dialog.
   * @throws {ControlDownError}
   */
  request(method: string, { headers, body = '' }: DialogRequestParts = {}): Promise<ReceivedResponse> {
    const { control, id, makeAuthenticator } = this.#options;
    const authenticator = makeAuthenticator();
    return new Promise((resolve, reject) => {
      const attempt = (credentials: Record<string, string>) => {
        let uri = '';
        const onResponse = (response: ReceivedResponse) => {
          const { message } = response;
          if (message.status < 200) return;
          const isChallenge = message.status === 401 || message.status === 407;
          const answer = isChallenge ? authenticator.answer(message, { method, uri, body }) : undefined;
          if (answer) return attempt(answer);
          if (method === 'INVITE' && message.status < 300) response.acknowledge({ headers: credentials });
          resolve(response);
        };
        const handlers = {
          onSent: (sent: { readonly uri: string }) => {
            uri = sent.uri;
          },
          onResponse,
          onConnectionLost: (reason: string) => reject(new DialogLostError(reason)),
        };
        const allHeaders = { ...headers, ...credentials };
        control
          .request({ method, dialogId: id, headers: allHeaders, ...(body === '' ? {} : { body }) }, handlers)
          .catch((error: unknown) =>
            reject(isUnknownDialog(error) ? new DialogLostError(error.message) : error),
          );
      };
      attempt({});
    });
  }

  /** Sends BYE and waits for the response; without a connection it is sent after the reconnect. */
  async bye(reason: HangupReason): Promise<void> {
    const headers = { Reason: formatQ850(reason) };
    const { control, id } = this.#options;
    if (control.isConnected) await this.request('BYE', { headers });
    else control.requestWhenConnected({ method: 'BYE', dialogId: id, headers });
  }

  /** Asks the peer by OPTIONS. @returns False when the peer or the SIP server no longer knows the dialog. */
  async isAlive(): Promise<boolean> {
    try {
      const { message, isFromPeer } = await this.request('OPTIONS');
      return message.status !== 481 && (isFromPeer || message.status !== 408);
    } catch (error) {
      return !(error instanceof DialogLostError);
    }
  }

  close(): void {
    this.#release();
  }
}

function isUnknownDialog(error: unknown): error is RequestRefusedError {
  return error instanceof RequestRefusedError && error.isDialogUnknown;
}
