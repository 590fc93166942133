import {
  LONG_SILENCE_MS,
  OFTEN_INTERRUPTED,
  type ReviewReason,
  type ReviewRule,
} from '../../agents/accounts/reviewRules.ts';
import { isInShare } from '../../base/values/inShare.ts';
import type { SessionFacts } from '../insights/sessionFacts.ts';

/** What the rules ask of an ended session. */
export interface ReviewFacts extends SessionFacts {
  /** The status of the analysis; null where there is none. */
  readonly analysis: string | null;
  /** How often the agent did not understand the person. */
  readonly notUnderstood: number;
  /** Silences of the person after which the agent went on, in milliseconds. */
  readonly silences: readonly number[];
  /** When each spoken message was said, ISO 8601. */
  readonly spoken: readonly { readonly from: string; readonly to: string }[];
  /** When the first transfer began; null without one. */
  readonly transferAtMs: number | null;
}

const APPLIES: Readonly<Record<ReviewReason, (facts: ReviewFacts) => boolean>> = {
  failed_criterion: ({ criteria }) => criteria.some(({ passed }) => !passed),
  no_disposition: ({ analysis, dimensions }) =>
    analysis === 'failed' || (analysis === 'done' && dimensions.disposition === null),
  not_understood: ({ notUnderstood }) => notUnderstood > 0,
  long_silence: (facts) => longestSilenceMs(facts) >= LONG_SILENCE_MS,
  interrupted_often: ({ interruptions }) => interruptions >= OFTEN_INTERRUPTED,
  random: () => true,
};

/** Returns why a session is to be reviewed, by the rules at its end; the same each time that its facts are the same. */
export function reviewReasons(
  rules: readonly ReviewRule[],
  facts: ReviewFacts,
  instanceId: string,
): ReviewReason[] {
  return rules.flatMap(({ when, percent = 100 }) =>
    // Each rule has a share of its own: a session that one leaves out may be in another one's.
    APPLIES[when](facts) && isInShare(`${when} ${instanceId}`, percent) ? [when] : [],
  );
}

/** Returns the longest time without speech of either side, until a transfer begins or the call ends. */
function longestSilenceMs({ silences, spoken, transferAtMs, call, endedAt }: ReviewFacts): number {
  const endMs = Math.min(transferAtMs ?? Number.POSITIVE_INFINITY, call?.endedAtMs ?? Date.parse(endedAt));
  const inOrder = spoken
    .map(({ from, to }) => ({ fromMs: Date.parse(from), toMs: Date.parse(to) }))
    .filter(({ fromMs }) => fromMs < endMs)
    .toSorted((a, b) => a.fromMs - b.fromMs);
  let [longestMs, spokenToMs] = [Math.max(0, ...silences), inOrder[0]?.fromMs ?? endMs];
  for (const { fromMs, toMs } of [...inOrder, { fromMs: endMs, toMs: endMs }]) {
    longestMs = Math.max(longestMs, fromMs - spokenToMs);
    spokenToMs = Math.max(spokenToMs, toMs);
  }
  return longestMs;
}
