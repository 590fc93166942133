import { describe, expect, test } from 'vitest';
import { personaWords } from '../../../offline/chat/persona.ts';
import type { Message, Persona } from '../../../offline/chat/request.ts';

const AMY = {
  prompt: 'You are Amy.',
  goal: 'Book a cleaning',
  facts: {
    patientName: 'Amy Pond',
    dateOfBirth: 'March 3, 1990',
    day: 'Tuesday',
    isPatient: true,
    guests: 2,
  },
};
const GOAL = 'I would like to book a cleaning.';

/** What is said next after this conversation, which the agent begins. */
function next(lines: readonly string[], more: Partial<Persona> = {}): string {
  const messages = lines.map(
    (content, at): Message => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }),
  );
  return personaWords({ ...AMY, hangUp: '[hang up]', seed: 0, ...more }, messages);
}

describe('A caller played by rules', () => {
  test.each<[goal: string | undefined, words: string, prompt?: string]>([
    ['Book a cleaning', 'I would like to book a cleaning.'],
    ['You want to cancel your appointment.', 'I would like to cancel my appointment.'],
    ['A table for two', 'I would like a table for two, please.'],
    ['Find out when the clinic opens', 'I would like to find out when the clinic opens.'],
    [undefined, 'I would like to change my booking.', 'You are Amy. You need to change your booking.'],
    [undefined, 'Hello.', 'You are Amy.'],
  ])('begins with the goal %s', (goal, words, prompt = 'You are Amy.') => {
    expect(next(['Hello, this is the clinic. How can I help?'], { goal, prompt })).toBe(words);
  });

  test.each([
    ['Could you tell me your name?', 'Amy Pond'],
    ['May I have your date of birth, please?', 'March 3, 1990'],
    ['Your name, please.', 'Amy Pond'],
    ['Please tell me your name and the day.', 'Amy Pond, Tuesday'],
    ['When would you like to come?', 'Tuesday'],
    ['Is it Monday or Tuesday?', 'Tuesday'],
    ['For how many?', '2'],
    ['Are you a patient of ours?', 'Yes.'],
  ])('answers “%s” from the facts', (question, answer) => {
    expect(next(['Hello.', GOAL, question])).toBe(answer);
  });

  test.each([
    ['Do you want to book a cleaning?', 'Yes, please.'],
    ['Tuesday, is that right?', 'Yes, please.'],
    ['Would you like a parking space?', 'No, thank you.'],
    ['Is there anything else?', 'No, thank you.'],
    ['How can I help you?', GOAL],
    ['What is your shoe size?', 'I do not know.'],
    ['One moment, please.', 'All right.'],
    ['(silence)', 'Hello?'],
    ['You are booked.', 'Thanks, bye. [hang up]'],
  ])('answers “%s”', (words, answer) => {
    expect(next(['Hello.', GOAL, words])).toBe(answer);
  });

  test('hangs up when the condition for it holds, and not before', () => {
    const more = { hangUpWhen: 'the cleaning is booked' };
    expect(next(['Hello.', GOAL, 'We have your file.'], more)).toBe('All right.');
    expect(next(['Hello.', GOAL, 'Shall I book the cleaning?'], more)).toBe('Yes, please.');
    expect(next(['Hello.', GOAL, 'Your cleaning is booked. Anything else?'], more)).toContain('[hang up]');
  });

  test.each([
    [['Pardon?', GOAL, 'Pardon?', 'I do not know.', 'Pardon?']],
    [['Hello.', GOAL, '(silence)', 'Hello?', '']],
    [['Hello.', GOAL, 'What is your shoe size?', 'I do not know.', 'What is your weight?']],
  ])('gives up a conversation that leads nowhere: %j', (lines) => {
    expect(next(lines)).toBe('Never mind. Goodbye. [hang up]');
  });

  test('has the same words for the same seed, and others of the same meaning for another', () => {
    const begins = [0, 1, 2, 3].map((seed) => next(['Hello.'], { seed }));
    expect(begins).toEqual([
      GOAL,
      'Hello, I would like to book a cleaning.',
      'I want to book a cleaning.',
      GOAL,
    ]);
  });
});
