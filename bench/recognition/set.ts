/**
 * What is said to the offline recognizer, and what it should hear. The tuning part decided the recognizer's parameters;
 * nothing of the held-out part did: its questions, answers, sentences and ways of speaking are its own.
 */

/** How a sentence is spoken and carried. */
export interface Manner {
  /** Of Flite. */
  readonly voice: 'rms' | 'slt' | 'awb' | 'kal16';
  /** Above 1 is slower. */
  readonly stretch: number;
  /** Undefined for a quiet line. */
  readonly noise?: { readonly kind: 'hiss' | 'hum'; readonly snrDb: number };
}

export interface Case {
  readonly said: string;
  readonly expectedAnswers: readonly string[];
  /** Undefined where it is none of the expected answers. */
  readonly answer: string | undefined;
  readonly manner: Manner;
}

export interface Part {
  /** Expected answers of each question. */
  readonly questions: readonly (readonly string[])[];
  /** None of any question's answers. */
  readonly others: readonly string[];
  readonly manners: readonly Manner[];
}

export const TUNING: Part = {
  questions: [
    ['yes keep it', 'no cancel it'],
    ['a birthday cake', 'a high chair', 'a quiet table', 'no thank you', 'nothing'],
    ['yes please', 'no thank you', 'speak to a human', 'in 12 days'],
    ['yes', 'no', 'maybe later'],
    ['sales', 'support', 'opening hours', 'billing department'],
    ['tomorrow morning', 'tomorrow afternoon', 'next week', 'not at all'],
  ],
  others: [
    'What is the weather like in Paris?',
    'Who is calling, please?',
    'I am driving at the moment.',
    'My name is Robert and I live on the second floor.',
    'Hello? Can you hear me?',
    'The train leaves at nine from platform two.',
    'Could you repeat the question?',
    'I would like a large pizza with mushrooms.',
    'Do you know what time it is?',
    'That sounds quite expensive to me.',
    'My brother bought a new car last summer.',
    'Let me ask my wife first.',
    'The children are playing in the garden.',
    'How much does it cost?',
    'I lost my keys somewhere in the office.',
    'Call me back in an hour.',
    'It depends on the price.',
    'I think you have the wrong person.',
    'We watched a film about penguins.',
    'Sorry, the dog is barking.',
    'What do you mean?',
    'Just a moment.',
    'Good evening.',
    'I do not understand.',
  ],
  manners: [
    { voice: 'rms', stretch: 1 },
    { voice: 'rms', stretch: 1.2, noise: { kind: 'hiss', snrDb: 20 } },
    { voice: 'slt', stretch: 1 },
    { voice: 'slt', stretch: 0.9, noise: { kind: 'hum', snrDb: 25 } },
    { voice: 'awb', stretch: 1 },
    { voice: 'awb', stretch: 1.15, noise: { kind: 'hiss', snrDb: 25 } },
  ],
};

export const HELD_OUT: Part = {
  questions: [
    ['confirm my appointment', 'cancel my appointment', 'change the time'],
    ['by credit card', 'by bank transfer', 'in cash'],
    ['yes that is right', 'no that is wrong'],
    ['a single room', 'a double room', 'the family suite'],
    ['Monday', 'Wednesday', 'Saturday', 'next Thursday'],
    ['track my order', 'return an item', 'talk to an agent'],
  ],
  others: [
    'Is it going to rain in London tonight?',
    'I have been waiting here for twenty minutes.',
    'My grandmother makes the best apple pie.',
    'Which floor are you on?',
    'There is a spider in the bathroom.',
    'I will have to think about it.',
    'Why are you asking me that?',
    'The meeting was moved to the other building.',
    'Can I bring my own lunch?',
    'He plays the violin in an orchestra.',
    'Please speak up, I can barely hear you.',
    'Nobody told me anything.',
    'Where did you get my number?',
    'The printer is out of paper again.',
    'I have no idea what you are talking about.',
    'Our neighbors are painting their house green.',
    'Hold on a second.',
    'Never mind.',
    'Is this a recording?',
    'Happy new year to you too.',
    'What a beautiful morning.',
    'She studies chemistry at the university.',
    'I prefer to read the newspaper.',
    'Leave me alone.',
  ],
  manners: [
    { voice: 'rms', stretch: 0.9 },
    { voice: 'rms', stretch: 1.1, noise: { kind: 'hum', snrDb: 25 } },
    { voice: 'slt', stretch: 1.15 },
    { voice: 'slt', stretch: 1.05, noise: { kind: 'hiss', snrDb: 20 } },
    { voice: 'awb', stretch: 1.05 },
    { voice: 'awb', stretch: 0.95, noise: { kind: 'hum', snrDb: 25 } },
  ],
};

/** Each answer to its own question and each other sentence to two questions, in every manner. */
export function casesOf({ questions, others, manners }: Part): Case[] {
  const answers = questions.flatMap((expectedAnswers) =>
    expectedAnswers.map((answer) => ({ said: answer, expectedAnswers, answer })),
  );
  const strangers = others.flatMap((said, index) =>
    [0, 1].map((turn) => ({
      said,
      expectedAnswers: questions[(index + turn * 3) % questions.length] ?? [],
      answer: undefined,
    })),
  );
  return [...answers, ...strangers].flatMap((one) => manners.map((manner) => ({ ...one, manner })));
}
