import type { Criterion, Message } from './request.ts';
import { countSharedTerms, isNegated, isSameTerm, termsOf } from './terms.ts';

/** A criterion is met when the conversation has this share of its terms. */
const MIN_SHARE = 0.5;

export interface Verdict {
  readonly name: string;
  readonly passed: boolean;
  readonly reason: string;
}

/** Judges a conversation by the terms of the criteria; each reason says so. */
export function judgeByRules(
  criteria: readonly Criterion[],
  messages: readonly Message[],
): { readonly results: readonly Verdict[] } {
  const talk = messages
    .flatMap(({ role, content }) => (role === 'user' || role === 'assistant' ? [content ?? ''] : []))
    .join('\n');
  const spoken = termsOf(talk);
  return {
    results: criteria.map(({ name, description }) => {
      const sought = termsOf(description || name);
      const share = sought.length === 0 ? 0 : countSharedTerms(sought, spoken) / sought.length;
      const isMissed = isNegated(description);
      const found = sought.filter(({ word }) => spoken.some((other) => isSameTerm(other.word, word)));
      const list = found.length === 0 ? 'none' : found.map(({ word }) => word).join(', ');
      return {
        name,
        passed: isMissed ? share < MIN_SHARE : share >= MIN_SHARE,
        reason: `judged by rule: of ${sought.length} words sought, the talk has ${found.length} (${list})`,
      };
    }),
  };
}
