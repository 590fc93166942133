import type { Situation } from '../situation.ts';
import { meaningfulWords, overlap, stanceOf } from './words.ts';

/** Under this share of a sentence's words, nothing is sure enough to move. */
const LEAST_OVERLAP = 0.34;
const AGREES = /\b(agree|confirm|accept|yes|affirm|consent)|同意|確認|确认/i;
const DECLINES = /\b(declin|refus|reject|disagree|no\b|not interested|does not|doesn't)|拒絕|拒绝|不同意/i;

/** Which way on the person's words mean, by rule; null where none is clear. */
export function chooseWay({
  choices = [],
  lastUserText = '',
  expectedAnswers = [],
}: Situation): string | null {
  if (lastUserText.trim() === '') return null;
  const stance = stanceOf(lastUserText);
  // An expected answer that was given stands for all that it may mean.
  const heard = [
    lastUserText,
    ...expectedAnswers.filter((answer) => overlap(answer, lastUserText) === 1),
  ].join(' ');
  let best: { id: string; score: number } | undefined;
  for (const { id, sentence, label } of choices) {
    if (sentence === '') continue;
    const score = scoreOf(sentence, label, heard, stance);
    if (score >= LEAST_OVERLAP && score > (best?.score ?? 0)) best = { id, score };
  }
  return best?.id ?? null;
}

function scoreOf(
  sentence: string,
  label: string,
  heard: string,
  stance: ReturnType<typeof stanceOf>,
): number {
  if (stance === 'yes' && AGREES.test(sentence) && !DECLINES.test(sentence)) return 1;
  if (DECLINES.test(sentence)) return stance === 'no' ? 1 : 0;
  // "I don't want to book" is no wish to book.
  if (stance === 'no') return 0;
  const named = label !== '' && meaningfulWords(label).length > 0 && overlap(label, heard) === 1 ? 1 : 0;
  return Math.max(named, overlap(sentence, heard), quotedMatch(sentence, heard));
}

/** A sentence that quotes what is to be said holds when just that is said. */
function quotedMatch(sentence: string, heard: string): number {
  const quotes = [...sentence.matchAll(/["“「]([^"”」]+)["”」]/g)].map(([, words]) => words ?? '');
  return quotes.some((words) => words !== '' && heard.toLowerCase().includes(words.toLowerCase())) ? 1 : 0;
}
