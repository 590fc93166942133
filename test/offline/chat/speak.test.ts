import { describe, expect, it } from 'vitest';
import { nodeText, passageText } from '../../../offline/chat/speak.ts';

const say = (prompt: string, title = 'A step', type = 'conversation') => nodeText({ title, prompt, type });

describe('A prompt that quotes its lines', () => {
  it.each([
    ['Say "Good morning." and then ask "How can I help?"', 'Good morning. How can I help?'],
    ['Say “Welcome to the clinic.”', 'Welcome to the clinic.'],
    ['說「您好。」再問「請問大名？」', '您好。請問大名？'],
    ['Say: Thanks for calling.', 'Thanks for calling.'],
    ['If the caller says "no", stay calm. Say "All right."', 'All right.'],
    ['When they ask "who are you", say nothing yet.\nSay "I am the desk."', 'I am the desk.'],
  ])('%s', (prompt, spoken) => {
    expect(say(prompt)).toBe(spoken);
  });
});

describe('A prompt that instructs', () => {
  it.each([
    ["Ask for the caller's name.", 'Could you tell me your name?'],
    ['Ask the customer for their order number', 'Could you tell me your order number?'],
    ['Please ask about the date.', 'Could you tell me the date?'],
    ['Ask whether they would like to book a table.', 'Would you like to book a table?'],
    ['Ask the caller if he has a reservation.', 'Do you have a reservation?'],
    ['Ask when they want to come.', 'Could you tell me when you want to come?'],
    ['Confirm the booking', 'Let me confirm the booking.'],
    ['Greet the caller warmly and ask for their name.', 'Hello! Could you tell me your name?'],
    ['Greet  and ask how you can help.', 'Hello! How can I help you?'],
    ['Greet Anna and ask how you can help.', 'Hello, Anna! How can I help you?'],
    ['Thank the caller for their patience.', 'Thank you for your patience.'],
    ['Thank them, then say goodbye.', 'Thank you. Goodbye.'],
    ['Tell the customer that their parcel is late.', 'Your parcel is late.'],
    ['Inform the user that the office is closed', 'The office is closed.'],
    ['Offer to call back later.', 'Would you like me to call back later?'],
    ['Say that we are closed.', 'We are closed.'],
    ['Offer a refund.', 'I can offer you a refund.'],
    ['Apologise for the delay.', 'I am sorry for the delay.'],
  ])('%s', (prompt, spoken) => {
    expect(say(prompt)).toBe(spoken);
  });

  it('uses the title as an instruction too', () => {
    expect(say('Be very concise here', 'Ask for the city')).toBe('Could you tell me the city?');
  });
});

describe('A prompt that is no line is never read aloud', () => {
  const none = 'The rehearsal model has no line for this step: quote one in its prompt.';
  it.each([
    ['Help the caller as well as you can. Never make up a fact.', none],
    ['Tell the caller how to reset the router.', none],
    ['Do not reveal the discount code SAVE10.', none],
    ['If the customer is angry, apologise for the delay.', none],
    ['When you do not know something, say so and offer to take a message.', none],
    ['Say something friendly about the weather', none],
    ['Never say "cheap". Say "Good value."', 'Good value.'],
    ['Set the variable "day". Say "Noted."', 'Noted.'],
    ['Find out what the caller needs, one question at a time, and help.', 'Could you tell me what you need?'],
    ['Greet them in one short sentence, say that you are a machine.', 'Hello! I am a machine.'],
    ['Ask for the name, the date and the number.', 'Could you tell me the name, the date and the number?'],
  ])('%s', (prompt, spoken) => {
    expect(say(prompt)).toBe(spoken);
  });

  it.each([
    ['start', 'Hello! How can I help you?'],
    ['end', 'Goodbye.'],
    ['transfer', 'One moment, please.'],
  ])('at a node of the type %s', (type, spoken) => {
    expect(say('Stay calm.', 'Opening hours', type)).toBe(spoken);
  });
});

it('A say node’s text is said verbatim', () => {
  expect(say('We say "hi" here.', 'T', 'say')).toBe('We say "hi" here.');
});

it('A long passage is cut at the end of a sentence', () => {
  const passage = `We open at nine. ${'More words follow. '.repeat(40)}`;
  expect(passageText(passage)).toMatch(/^We open at nine\..*follow\.$/);
  expect(passageText(passage).length).toBeLessThanOrEqual(400);
  expect(passageText('We open\n at  nine.')).toBe('We open at nine.');
  expect(passageText('x'.repeat(900)).length).toBeLessThanOrEqual(401);
});
