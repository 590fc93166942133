import { CallwayError } from '../../base/errors.ts';

/** An offer or answer that cannot be agreed to; a request that carries it is answered 488. */
export function unusable(why: string): CallwayError {
  return new CallwayError('unsupported', 'sdp_unusable', `the session description cannot be used: ${why}`);
}
