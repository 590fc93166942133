import type { JudgeAnswer } from '../../engine/prompt/structuredOutput.ts';
import type { ChatMessage } from '../ports/chatMessage.ts';
import type { Criterion } from '../ports/situation.ts';
import { countShared, isNegated, isSameWord, meaningsOf } from './words.ts';

/** A criterion is met when so much of what it speaks of was spoken of. */
const LEAST_SHARE = 0.5;

/** Judges a talk by its words alone, and says so. */
export function judgeByWords(criteria: readonly Criterion[], messages: readonly ChatMessage[]): JudgeAnswer {
  const talk = messages
    .flatMap(({ role, content }) => (role === 'user' || role === 'assistant' ? [content ?? ''] : []))
    .join('\n');
  const spoken = meaningsOf(talk);
  return {
    results: criteria.map(({ name, description }) => {
      const sought = meaningsOf(description || name);
      const share = sought.length === 0 ? 0 : countShared(sought, spoken) / sought.length;
      const isMissed = isNegated(description);
      const found = sought.filter(({ word }) => spoken.some((other) => isSameWord(other.word, word)));
      const list = found.length === 0 ? 'none' : found.map(({ word }) => word).join(', ');
      return {
        name,
        passed: isMissed ? share < LEAST_SHARE : share >= LEAST_SHARE,
        reason: `judged by rule: of ${sought.length} words sought, the talk has ${found.length} (${list})`,
      };
    }),
  };
}
