import { unquote } from '../../../sip/message/grammar.ts';
import type { SipResponse } from '../../../sip/message/message.ts';
import { withTimeout } from '../../base/async/withTimeout.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import { DEFAULT_SIP_PORT, type Trunk } from '../../calls/trunks/trunk.ts';
import { type Backoff, backoffMs } from '../backoff.ts';
import type { ReceivedResponse, SentRequest } from '../control/connection.ts';
import type { SipControl } from '../control/control.ts';
import { createAuthenticator, type UsedNonces } from '../sip/authenticator.ts';
import { addressesOf, readAddress, readUri, userOf } from '../sip/headerValues.ts';
import { contactUri, credentialsOf, identityUri, routeOf, trunkUri, USER_AGENT } from './addressing.ts';
import {
  registrationError,
  sendError,
  TRUNK_ERRORS,
  type TrunkError,
  trunkError,
  unansweredError,
} from './trunkError.ts';

export interface RegistrationState {
  readonly isRegistered: boolean;
  /** The reason for which it is not registered; null while it is, or while that is unknown. */
  readonly error: TrunkError | null;
  /** URIs of the proxies that calls over the registration go by, the nearest first. @see RFC 3608 */
  readonly serviceRoute: readonly string[];
}

export interface RegistrationDeps {
  readonly control: SipControl;
  readonly clock: Clock;
  readonly random: () => number;
  readonly makeToken: () => string;
  readonly onChange: (state: RegistrationState) => void;
}

const BACKOFF: Backoff = { firstMs: 4000, maxMs: 300_000 };
/** Leaves time for retries, and spreads trunks that registered together. */
const REFRESH_FROM = 0.7;
const REFRESH_SPREAD = 0.15;
const UNREGISTER_TIMEOUT_MS = 2000;
const RECONNECT_SPREAD_MS = 500;
const MAX_EXPIRES_SECONDS = 86_400;

/** Registers a trunk and refreshes the registration until it is closed. @see RFC 3261 section 10 */
export class TrunkRegistration {
  readonly #trunk: Trunk;
  readonly #deps: RegistrationDeps;
  readonly #user: string;
  readonly #callId: string;
  readonly #tag: string;
  readonly #stopListening: () => void;
  readonly #nonces: UsedNonces = new Map();
  #expiresSeconds: number;
  #sequence = 0;
  /** The Contact as last sent on the wire. */
  #contact: string | undefined;
  #failures = 0;
  #timer: Timer | undefined;
  #mayBeRegistered = false;
  #closing: Promise<void> | undefined;

  constructor(trunk: Trunk, deps: RegistrationDeps) {
    this.#trunk = trunk;
    this.#deps = deps;
    this.#user = trunk.username ?? '';
    this.#callId = deps.makeToken();
    this.#tag = deps.makeToken();
    this.#expiresSeconds = trunk.registerExpires;
    // A restarted SIP server may have a new address, which the registrar must learn.
    this.#stopListening = deps.control.events.on('connected', () =>
      this.#schedule(Math.round(deps.random() * RECONNECT_SPREAD_MS)),
    );
    if (deps.control.isConnected) this.#register();
  }

  /** Unregisters, and waits briefly for the registrar. Idempotent. */
  close(): Promise<void> {
    // The flag must be set before the first step runs.
    this.#closing ??= Promise.resolve().then(() => this.#unregister());
    return this.#closing;
  }

  #register(): void {
    if (this.#closing) return;
    this.#send(this.#expiresSeconds).then(
      (response) => {
        if (this.#closing) this.#mayBeRegistered ||= response.message.status < 300;
        else this.#onFinal(response);
      },
      (error: unknown) => {
        if (!this.#closing) this.#fail(sendError(error));
      },
    );
  }

  #onFinal({ message, isFromPeer }: ReceivedResponse): void {
    const { status, headers } = message;
    if (status < 300) {
      const seconds = this.#grantedSeconds(message);
      if (seconds <= 0) {
        this.#fail(trunkError(TRUNK_ERRORS.notKept));
        return;
      }
      this.#failures = 0;
      this.#mayBeRegistered = true;
      const serviceRoute = addressesOf(headers, 'service-route').map(({ uri }) => uri);
      this.#deps.onChange({ isRegistered: true, error: null, serviceRoute });
      this.#schedule(seconds * 1000 * (REFRESH_FROM + REFRESH_SPREAD * this.#deps.random()));
      return;
    }
    const minimum = Number.parseInt(headers.get('min-expires') ?? '', 10);
    if (status === 423 && minimum > this.#expiresSeconds && minimum <= MAX_EXPIRES_SECONDS) {
      this.#expiresSeconds = minimum;
      this.#register();
      return;
    }
    this.#fail(isFromPeer ? registrationError(message) : unansweredError(message), retryAfterMs(message));
  }

  /**
   * Returns the time for which the registrar keeps our Contact. It may have changed the Contact, and may list others
   * too.
   *
   * @returns 0 when it does not keep it.
   * @see RFC 3261 sections 10.2.4 and 10.3
   */
  #grantedSeconds({ headers }: SipResponse): number {
    const contacts = addressesOf(headers, 'contact');
    const named = contacts.filter(({ uri }) => userOf(uri) === this.#user);
    const exact = named.filter(({ uri }) => isSameAddress(uri, this.#contact));
    const own = exact.length > 0 ? exact : named.length > 0 ? named : contacts.slice(0, 1);
    const general = secondsOf(headers.get('expires')) ?? this.#expiresSeconds;
    const times = own.map(({ params }) => secondsOf(params.get('expires')) ?? general);
    return times.length > 0 ? Math.min(...times) : general;
  }

  #fail(error: TrunkError, minDelayMs = 0): void {
    this.#failures += 1;
    this.#deps.onChange({ isRegistered: false, error, serviceRoute: [] });
    this.#schedule(Math.max(minDelayMs, backoffMs(BACKOFF, this.#failures, this.#deps.random())));
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel();
    if (!this.#closing) this.#timer = this.#deps.clock.setTimer(() => this.#register(), delayMs);
  }

  async #unregister(): Promise<void> {
    const { control, clock } = this.#deps;
    this.#timer?.cancel();
    this.#stopListening();
    if (!this.#mayBeRegistered || !control.isConnected) return;
    await withTimeout(clock, this.#send(0), UNREGISTER_TIMEOUT_MS);
  }

  /** Sends REGISTER and answers challenges. */
  async #send(expiresSeconds: number): Promise<ReceivedResponse> {
    const authenticator = createAuthenticator(credentialsOf(this.#trunk), this.#deps.makeToken, this.#nonces);
    const request = { method: 'REGISTER', uri: trunkUri(this.#trunk), body: '' };
    for (let credentials: Record<string, string> = {}; ; ) {
      const response = await this.#sendOnce(request.uri, expiresSeconds, credentials);
      const { status } = response.message;
      const isChallenge = status === 401 || status === 407;
      const answer = isChallenge ? authenticator.answer(response.message, request) : undefined;
      if (!answer) return response;
      credentials = answer;
    }
  }

  #sendOnce(
    uri: string,
    expiresSeconds: number,
    credentials: Record<string, string>,
  ): Promise<ReceivedResponse> {
    const identity = identityUri(this.#trunk, this.#user);
    const route = routeOf(this.#trunk);
    this.#sequence += 1;
    const headers = {
      ...credentials,
      'Call-ID': this.#callId,
      CSeq: `${this.#sequence} REGISTER`,
      From: `<${identity}>;tag=${this.#tag}`,
      To: `<${identity}>`,
      Contact: `<${contactUri(this.#trunk, this.#user)}>`,
      Expires: String(expiresSeconds),
      // Without it a registrar may refuse what a proxy in between has added.
      Supported: 'path',
      'User-Agent': USER_AGENT,
    };
    return new Promise((resolve, reject) => {
      const handlers = {
        onSent: ({ contact }: SentRequest) => {
          this.#contact = contact;
        },
        onResponse: (response: ReceivedResponse) => {
          if (response.message.status >= 200) resolve(response);
        },
        onConnectionLost: (reason: string) => reject(new Error(reason)),
      };
      const request = { method: 'REGISTER', uri, headers, route };
      this.#deps.control.request(request, handlers).catch(reject);
    });
  }
}

function secondsOf(text: string | undefined): number | undefined {
  const seconds = Number.parseInt(unquote(text ?? ''), 10);
  return Number.isNaN(seconds) ? undefined : Math.min(seconds, MAX_EXPIRES_SECONDS);
}

/** A registrar may change host and port, as behind a NAT. */
function isSameAddress(one: string, other: string | undefined): boolean {
  const [first, second] = [readUri(one), readUri(readAddress(other ?? '')?.uri ?? '')];
  if (!first || !second || first.scheme === 'tel' || second.scheme === 'tel') return false;
  return first.host === second.host && (first.port ?? DEFAULT_SIP_PORT) === (second.port ?? DEFAULT_SIP_PORT);
}

function retryAfterMs({ headers }: SipResponse): number {
  const seconds = Number.parseInt(headers.get('retry-after') ?? '', 10);
  return seconds > 0 ? Math.min(seconds, MAX_EXPIRES_SECONDS) * 1000 : 0;
}
