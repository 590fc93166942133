import { LRUCache } from 'lru-cache';
import type { Session } from '../session/session.ts';

/** A few problems each of some thousand sessions. */
const MAX_REMEMBERED = 20_000;

/** A template that did not render completely. */
export type TemplateProblem =
  | { readonly kind: 'missing_variable'; readonly variable: string }
  /** `reason` names the error and its line. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Reports each problem of a template once per session, however many turns render it. */
export class TemplateReports {
  readonly #reported = new LRUCache<string, true>({ max: MAX_REMEMBERED });
  readonly #onProblem: (session: Session, problem: TemplateProblem) => void;

  constructor(onProblem: (session: Session, problem: TemplateProblem) => void) {
    this.#onProblem = onProblem;
  }

  /** @returns Whether it is the first report of this problem in the session. */
  report(session: Session, problem: TemplateProblem): boolean {
    const what = problem.kind === 'failed' ? problem.reason : problem.variable;
    const key = `${session.instanceId} ${problem.kind} ${what}`;
    if (this.#reported.has(key)) return false;
    this.#reported.set(key, true);
    this.#onProblem(session, problem);
    return true;
  }
}
