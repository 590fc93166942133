import { type ErrorDetail, invalid } from '../../base/errors.ts';
import type { TrunkInput } from './trunk.ts';

/**
 * Checks what a trunk's form alone cannot tell.
 *
 * @throws {CallwayError} 400 `invalid_trunk` with what is wrong.
 */
export function requireUsableTrunk(trunk: TrunkInput): void {
  const problems: ErrorDetail[] = [];
  if (trunk.register && trunk.username === null) {
    problems.push({ path: '/username', message: 'username is needed where register is true' });
  }
  if (trunk.password !== null && trunk.username === null) {
    problems.push({ path: '/username', message: 'username is needed beside a password' });
  }
  if (new Set(trunk.codecs).size !== trunk.codecs.length) {
    problems.push({ path: '/codecs', message: 'codecs must name each codec once' });
  }
  const [first] = problems;
  if (first) throw invalid('invalid_trunk', first.message, problems);
}
