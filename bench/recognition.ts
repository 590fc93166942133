/**
 * How often the offline recognizer hears an expected answer as what it is, and anything else as none of them.
 *
 *   npm run bench:recognition [-- --errors]
 *
 * Synthetic voices at several speeds, over G.711 and with noise. The held-out part is reported apart: no parameter of the
 * recognizer was chosen by it. `--errors` lists what was misheard. Exits with 1 when a part misses its aim.
 */

import { parseArgs } from 'node:util';
import { table } from '../src/cli/table.ts';
import { createLocalSpeechToText } from '../src/vendors/local/speechToText.ts';
import { isRight, type Outcome, recognizeAll, score } from './recognition/measure.ts';
import { casesOf, HELD_OUT, TUNING } from './recognition/set.ts';
import { createTelephone } from './recognition/telephone.ts';

/** Of the answers, heard as what they are. */
const MIN_RIGHT = 0.9;
/** Of the other sentences, heard as an answer. */
const MAX_FALSELY_ACCEPTED = 0.05;

const { values: options } = parseArgs({ options: { errors: { type: 'boolean', default: false } } });

const speechToText = createLocalSpeechToText({ searchPath: process.env.PATH ?? '' });
try {
  const telephone = await createTelephone();
  const rows = [['', 'answers', 'heard right', 'heard as another', 'other sentences', 'heard as an answer']];
  for (const [name, part] of Object.entries({ tuning: TUNING, 'held out': HELD_OUT })) {
    const outcomes = await recognizeAll(speechToText, telephone, casesOf(part));
    if (options.errors)
      for (const outcome of outcomes) if (!isRight(outcome)) console.log(errorLine(outcome));
    const { answers, right, confused, others, falselyAccepted } = score(outcomes);
    rows.push([
      name,
      ...[answers, share(right, answers), share(confused, answers)].map(String),
      ...[others, share(falselyAccepted, others)].map(String),
    ]);
    if (right / answers < MIN_RIGHT || falselyAccepted / others >= MAX_FALSELY_ACCEPTED) process.exitCode = 1;
  }
  console.log(
    `Offline recognition; aim: ${MIN_RIGHT * 100} % heard right, under ${MAX_FALSELY_ACCEPTED * 100} % heard as an answer.`,
  );
  console.log(table(rows));
} finally {
  await speechToText.close();
}

function share(part: number, whole: number): string {
  return `${part} (${((100 * part) / whole).toFixed(1)} %)`;
}

function errorLine({ said, heard, manner: { voice, stretch, noise } }: Outcome): string {
  const carried = noise ? `, ${noise.kind} ${noise.snrDb} dB` : '';
  return `${voice} ${stretch}${carried}: "${said}" was heard as "${heard}"`;
}
