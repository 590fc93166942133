import type { SessionTest } from '../../engine/session/session.ts';
import type { Call } from '../call.ts';
import type { PhoneNumber } from '../numbers/phoneNumber.ts';
import type { TRUNK_CODECS } from '../trunks/trunk.ts';

/** A call between a simulated person and a project's agent, over no trunk and to no number. */
export interface TestCall {
  readonly projectId: string;
  readonly callId: string;
  readonly sessionId: string;
  /** Over the wire the simulated person always calls; an outbound one is to the agent as if the agent had called. */
  readonly direction: Call['direction'];
  readonly codec: (typeof TRUNK_CODECS)[number];
  readonly variables: Readonly<Record<string, unknown>>;
  /** The test that the call's session belongs to. */
  readonly test: SessionTest;
  /** True when the session runs the draft, for its history. */
  readonly draft: boolean;
}

/** Test calls that are about to come. */
export interface ExpectedTestCalls {
  /** Takes this one call, for a short time and from this machine only. */
  expect(call: TestCall): ExpectedTestCall;
}

export interface ExpectedTestCall {
  /** The user part of the called URI. */
  readonly user: string;
  readonly host: string;
  readonly port: number;
  /** Stops expecting the call. Idempotent. */
  cancel(): void;
}

/** The value of both numbers of a test call. */
export const TEST_NUMBER = 'test';
/** The longest call, longer than any play. */
export const TEST_CALL_SECONDS = 660;

/** The settings that a call takes from the called number. */
export type CalledLine = Pick<
  PhoneNumber,
  'number' | 'record' | 'media' | 'noiseSuppression' | 'startNodeId' | 'variables'
>;

/** The line of a test call, which is always recorded. */
export function testLine(variables: TestCall['variables']): CalledLine {
  return {
    number: TEST_NUMBER,
    record: true,
    media: null,
    noiseSuppression: null,
    startNodeId: null,
    variables: { ...variables },
  };
}
