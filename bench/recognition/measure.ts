import { availableParallelism } from 'node:os';
import { spokenForm } from '../../offline/recognition/grammar.ts';
import type { SpeechToText } from '../../src/models/ports/speechToText.ts';
import type { Case } from './set.ts';
import type { Telephone } from './telephone.ts';

const RATE_HZ = 8000;
const FRAME_SAMPLES = RATE_HZ / 50;
/** Words before and after an answer, which do not change it. */
const LEAD = /^(?:um|uh) /;
const TAIL = / (?:please|thank you|thanks)$/;

export interface Outcome extends Case {
  /** Empty where the recognizer rejected it. */
  readonly heard: string;
}

export interface Score {
  readonly answers: number;
  /** Answers that were heard as what they are. */
  readonly right: number;
  /** Answers that were heard as another one. */
  readonly confused: number;
  readonly others: number;
  /** Other sentences that were heard as an answer. */
  readonly falselyAccepted: number;
}

/** Has each case recognized, as many at once as the machine has cores. */
export async function recognizeAll(
  speechToText: SpeechToText,
  telephone: Telephone,
  cases: readonly Case[],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = cases.entries();
  const work = async () => {
    for (const [index, one] of waiting) {
      const heard = await recognize(speechToText, telephone.say(one), one.expectedAnswers);
      outcomes[index] = { ...one, heard };
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return outcomes;
}

export function score(outcomes: readonly Outcome[]): Score {
  const answers = outcomes.filter(({ answer }) => answer !== undefined);
  const others = outcomes.filter(({ answer }) => answer === undefined);
  const right = answers.filter(isRight);
  const rejected = answers.filter(({ heard }) => heard === '');
  return {
    answers: answers.length,
    right: right.length,
    confused: answers.length - right.length - rejected.length,
    others: others.length,
    falselyAccepted: others.filter(({ heard }) => heard !== '').length,
  };
}

/** Whether the recognizer did what it should. */
export function isRight({ answer, heard }: Outcome): boolean {
  if (answer === undefined) return heard === '';
  const words = heard.replace(LEAD, '');
  return [words, words.replace(TAIL, '')].includes(spokenForm(answer));
}

async function recognize(
  speechToText: SpeechToText,
  samples: Int16Array,
  expectedAnswers: readonly string[],
): Promise<string> {
  const stream = speechToText.openStream({ sampleRateHz: RATE_HZ, expectedAnswers });
  try {
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES)
      stream.push(samples.subarray(at, at + FRAME_SAMPLES));
    return (await stream.finalize(new AbortController().signal)).text;
  } finally {
    stream.close();
  }
}
