import { afterAll, expect, test } from 'vitest';
import { isRight, recognizeAll, score } from '../../bench/recognition/measure.ts';
import { casesOf, HELD_OUT } from '../../bench/recognition/set.ts';
import { createTelephone } from '../../bench/recognition/telephone.ts';
import { createLocalSpeechToText } from '../../src/vendors/local/speechToText.ts';

/** Of the held-out part's answers and other sentences; not divisors of its manners, so that the subset has them all. */
const EVERY_ANSWER = 13;
const EVERY_OTHER = 25;

const speechToText = createLocalSpeechToText({ searchPath: process.env.PATH ?? '' });
afterAll(() => speechToText.close());

test('Offline recognition hears answers and rejects other speech, on a subset of the benchmark', async () => {
  const cases = casesOf(HELD_OUT).filter(
    ({ answer }, index) => index % (answer === undefined ? EVERY_OTHER : EVERY_ANSWER) === 0,
  );
  const outcomes = await recognizeAll(speechToText, await createTelephone(), cases);
  const { answers, right, others, falselyAccepted } = score(outcomes);
  const misheard = outcomes
    .filter((outcome) => !isRight(outcome))
    .map(({ said, heard }) => ({ said, heard }));
  expect([answers, others].every((count) => count >= 8)).toBe(true);
  expect({ misheard, isEnough: right / answers >= 0.9 }).toMatchObject({ isEnough: true });
  expect({ misheard, isFewEnough: falselyAccepted / others < 0.05 }).toMatchObject({ isFewEnough: true });
}, 180_000); // Recognizers have a low priority.
