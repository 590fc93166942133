import ipaddr from 'ipaddr.js';
import type { Clock, Timer } from '../../base/values/clock.ts';
import {
  type ExpectedTestCall,
  type ExpectedTestCalls,
  TEST_NUMBER,
  type TestCall,
} from '../../calls/setup/testCall.ts';
import { type Trunk, trunkInput } from '../../calls/trunks/trunk.ts';
import type { CalledParty } from './inboundRoute.ts';

/** A simulated caller calls at once. */
const EXPIRES_MS = 10_000;

export interface TestCallsOptions {
  /** The address at which this machine reaches the node's SIP server and media. */
  readonly address: string;
  readonly sipPort: number;
  readonly clock: Clock;
  /** Unguessable, and good for the user part of a SIP URI. */
  readonly makeSecret: () => string;
}

/** Admits calls of this node's simulated callers, each by a secret user part that is used once. */
export class TestCalls implements ExpectedTestCalls {
  readonly #options: TestCallsOptions;
  readonly #expected = new Map<string, { readonly call: TestCall; readonly timer: Timer }>();

  constructor(options: TestCallsOptions) {
    this.#options = options;
  }

  expect(call: TestCall): ExpectedTestCall {
    const { address: host, sipPort: port, clock, makeSecret } = this.#options;
    const user = makeSecret();
    const timer = clock.setTimer(() => this.#expected.delete(user), EXPIRES_MS);
    this.#expected.set(user, { call, timer });
    return { user, host, port, cancel: () => this.#remove(user) };
  }

  /**
   * Takes the call of a user part, which can be used once.
   *
   * @param source - Address that the INVITE came from.
   * @returns Undefined for any other call.
   */
  take(user: string, source: string): CalledParty | undefined {
    const expected = this.#expected.get(user);
    if (!expected || !isLoopback(source)) return undefined;
    this.#remove(user);
    const { call } = expected;
    return {
      trunk: trunkOf(call),
      number: undefined,
      toNumber: TEST_NUMBER,
      test: { call, mediaAddress: this.#options.address },
    };
  }

  #remove(user: string): void {
    this.#expected.get(user)?.timer.cancel();
    this.#expected.delete(user);
  }
}

/** Returns the trunk of a test caller's leg. It is not stored. */
function trunkOf({ callId, projectId, codec }: TestCall): Trunk {
  const at = new Date(0).toISOString();
  const settings = trunkInput.parse({ name: TEST_NUMBER, host: '127.0.0.1', codecs: [codec] });
  return { ...settings, id: callId, projectId, createdAt: at, updatedAt: at };
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
