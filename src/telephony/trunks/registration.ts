import type { Clock, Timer } from '../../base/clock.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import { type Backoff, backoffMs } from '../backoff.ts';
import type { SipControl } from '../control/control.ts';
import type { SipResponse } from '../control/outgoing.ts';
import { USER_AGENT } from '../leg/outbound.ts';
import { readNameAddress, readUri } from '../sip/address.ts';
import { createAuthenticator } from '../sip/digest.ts';
import { splitValues } from '../sip/message.ts';
import { contactUri, credentialsOf, identityUri, routeOf, trunkUri } from './addressing.ts';

export interface RegistrationState {
  readonly isRegistered: boolean;
  /** Why not; null while it is, or while nothing is known yet. */
  readonly error: string | null;
}

/** Keeps a trunk's registration alive until it is closed. @see RFC 3261 section 10 */
export interface Registration {
  /** Takes the registration back, if there is one; waits a little for the registrar. Idempotent. */
  close(): Promise<void>;
}

export interface RegistrationDeps {
  readonly control: SipControl;
  readonly clock: Clock;
  readonly random: () => number;
  readonly makeToken: () => string;
  readonly onChange: (state: RegistrationState) => void;
}

const BACKOFF: Backoff = { firstMs: 4000, maxMs: 300_000 };
/** Early enough for a repetition or two, and spread so that trunks that began together do not stay together. */
const REFRESH_FROM = 0.7;
const REFRESH_SPREAD = 0.15;
const UNREGISTER_WAIT_MS = 2000;
const MAX_EXPIRES_SECONDS = 86_400;

export function keepRegistered(trunk: Trunk, deps: RegistrationDeps): Registration {
  const { control, clock, random, onChange } = deps;
  const user = trunk.username ?? '';
  const callId = deps.makeToken();
  const tag = deps.makeToken();
  let expiresSeconds = trunk.registerExpires;
  let sequence = 0;
  let failures = 0;
  let timer: Timer | undefined;
  let mayBeRegistered = false;
  let closing: Promise<void> | undefined;

  const send = async (seconds: number): Promise<SipResponse> => {
    const authenticator = createAuthenticator(credentialsOf(trunk), deps.makeToken);
    for (let credentials: Record<string, string> = {}; ; ) {
      sequence += 1;
      const { response, uri } = await ask({
        ...credentials,
        'Call-ID': callId,
        CSeq: `${sequence} REGISTER`,
        From: `<${identityUri(trunk, user)}>;tag=${tag}`,
        To: `<${identityUri(trunk, user)}>`,
        Contact: `<${contactUri(trunk, user)}>`,
        Expires: String(seconds),
        'User-Agent': USER_AGENT,
      });
      const isChallenge = response.status === 401 || response.status === 407;
      const answer = isChallenge
        ? authenticator.answer(response.text, { method: 'REGISTER', uri, body: '' })
        : undefined;
      if (!answer) return response;
      credentials = answer;
    }
  };
  const ask = (headers: Record<string, string>) => {
    const route = routeOf(trunk);
    const uri = trunkUri(trunk);
    return new Promise<{ response: SipResponse; uri: string }>((resolve, reject) => {
      control
        .request(
          { method: 'REGISTER', uri, headers, ...(route ? { route } : {}) },
          {
            onResponse: (response) => {
              if (response.status >= 200) resolve({ response, uri });
            },
            onConnectionLost: (reason) => reject(new Error(reason)),
          },
        )
        .catch(reject);
    });
  };

  const again = (delayMs: number) => {
    timer?.cancel();
    if (!closing) timer = clock.setTimer(register, delayMs);
  };
  const fail = (error: string, retryAfterMs = 0) => {
    failures += 1;
    onChange({ isRegistered: false, error });
    again(Math.max(retryAfterMs, backoffMs(BACKOFF, failures, random())));
  };
  const take = (response: SipResponse) => {
    if (response.status < 300) {
      failures = 0;
      mayBeRegistered = true;
      const seconds = grantedSeconds(response, user) ?? expiresSeconds;
      onChange({ isRegistered: true, error: null });
      return again(seconds * 1000 * (REFRESH_FROM + REFRESH_SPREAD * random()));
    }
    const minimum = Number.parseInt(response.text.header('min-expires') ?? '', 10);
    if (response.status === 423 && minimum > expiresSeconds && minimum <= MAX_EXPIRES_SECONDS) {
      expiresSeconds = minimum;
      return register();
    }
    return fail(refusalOf(response), retryAfterMs(response));
  };
  const register = () => {
    if (closing) return;
    send(expiresSeconds).then(
      (response) => {
        if (closing) mayBeRegistered ||= response.status < 300;
        else take(response);
      },
      (error: unknown) => {
        if (!closing) fail(error instanceof Error ? error.message : String(error));
      },
    );
  };
  /** A SIP server that comes back has forgotten how long it was away; the registrar's peer has to be told at once. */
  const stopListening = control.events.on('connected', () => again(Math.round(random() * 500)));
  if (control.isConnected) register();

  const unregister = async () => {
    timer?.cancel();
    stopListening();
    if (!mayBeRegistered || !control.isConnected) return;
    await Promise.race([
      send(0).catch(() => undefined),
      new Promise<void>((resolve) => clock.setTimer(resolve, UNREGISTER_WAIT_MS)),
    ]);
  };
  return {
    close() {
      // The flag must stand before the first step of it runs.
      closing ??= Promise.resolve().then(unregister);
      return closing;
    },
  };
}

/** How long the registrar keeps our contact, of all that it may list. @see RFC 3261 section 10.2.4 */
function grantedSeconds(response: SipResponse, user: string): number | undefined {
  const contacts = response.text.headers('contact').flatMap(splitValues).map(readNameAddress);
  const own = contacts.filter((contact) => readUri(contact?.uri ?? '')?.user === user);
  const times = own.map((contact) => Number.parseInt(contact?.parameters.expires ?? '', 10));
  const [shortest] = times.filter((seconds) => seconds > 0).sort((one, other) => one - other);
  const general = Number.parseInt(response.text.header('expires') ?? '', 10);
  return shortest ?? (general > 0 ? general : undefined);
}

function refusalOf({ status, reason, isFromPeer }: SipResponse): string {
  return isFromPeer ? `REGISTER was answered ${status} ${reason}` : 'REGISTER was not answered';
}

function retryAfterMs(response: SipResponse): number {
  const seconds = Number.parseInt(response.text.header('retry-after') ?? '', 10);
  return seconds > 0 ? Math.min(seconds, MAX_EXPIRES_SECONDS) * 1000 : 0;
}
