import { describe, expect, it } from 'vitest';
import type { Situation } from '../../../offline/chat/request.ts';
import { chooseEdge } from '../../../offline/chat/route.ts';

const choicesOf = (sentences: Readonly<Record<string, string>>) =>
  Object.entries(sentences).map(([id, sentence]) => ({ id, sentence }));

function route(
  sentences: Readonly<Record<string, string>>,
  lastUserText: string,
  more: Partial<Situation> = {},
) {
  return chooseEdge({ choices: choicesOf(sentences), lastUserText, ...more });
}

const clinic = {
  book: 'The caller wants to book an appointment',
  cancel: 'The caller wants to cancel an appointment',
  price: 'The caller asks about prices',
  human: 'The caller wants to speak to a human',
};
const consent = { yes: 'The caller agrees', no: 'The caller declines' };
const wish = { yes: 'The caller wants to book a table', no: 'The caller does not want to book a table' };

describe('Edges that differ by subject', () => {
  it.each([
    ["I'd like to book an appointment please", 'book'],
    ['book', 'book'],
    ['can I make a booking', 'book'],
    ['I would like to schedule a visit', 'book'],
    ['please cancel my appointment', 'cancel'],
    ['I need to cancel', 'cancel'],
    ['cancellation', 'cancel'],
    ["I don't want to book, I want to cancel", 'cancel'],
    ['i do not want to cancel i want to book', 'book'],
    ['how much does it cost?', 'price'],
    ['What are your fees', 'price'],
    ['let me speak to an operator', 'human'],
    ['a real human please', 'human'],
  ])('%s → %s', async (text, edge) => {
    expect(route(clinic, text)).toBe(edge);
  });

  it.each([
    ["I don't want to book"],
    ['I never want to book an appointment'],
    ['I would not like to cancel my appointment'],
    ['what is the weather like'],
    ['hello'],
    ['yes'],
    ['no'],
    ['I booked last week but where is my invoice for the parcel'],
    ['I read a book on the history of art in Paris'],
    [''],
    ['???'],
  ])('stays for: %s', async (text) => {
    expect(route(clinic, text)).toBeNull();
  });
});

describe('Edges for agreement and refusal', () => {
  it.each([
    ['yes', 'yes'],
    ['Yeah, sure', 'yes'],
    ['um yes please', 'yes'],
    ['no problem', 'yes'],
    ['Why not', 'yes'],
    ["That's right", 'yes'],
    ['no', 'no'],
    ['No, thank you.', 'no'],
    ['not really', 'no'],
    ["I don't want to", 'no'],
    ["I don't think so", 'no'],
    ['好的', 'yes'],
    ['可以啊', 'yes'],
    ['沒問題', 'yes'],
    ['對', 'yes'],
    ['不要', 'no'],
    ['不用了，謝謝', 'no'],
    ['不是', 'no'],
    ['我不想', 'no'],
    ['はい、お願いします', 'yes'],
    ['いいえ', 'no'],
    ['結構です', 'no'],
    ['sí, claro', 'yes'],
    ['Vale', 'yes'],
    ['no, gracias', 'no'],
    ['ja gerne', 'yes'],
    ['natürlich', 'yes'],
    ['nein danke', 'no'],
    ['lieber nicht', 'no'],
    ["oui, d'accord", 'yes'],
    ['bien sûr', 'yes'],
    ['non merci', 'no'],
    ['pas du tout', 'no'],
  ])('%s → %s', async (text, edge) => {
    expect(route(consent, text)).toBe(edge);
  });

  it.each([
    ["I don't know"],
    ["I'm not sure"],
    ['我不知道'],
    ['好不好呢'],
    ['no lo sé'],
    ['ich weiß nicht'],
    ['what do you mean?'],
    ['maybe'],
    ['不好意思'],
    ['Yeah right'],
    ['As if!'],
    ['Sure you will'],
    ["Yes, that's what I'm asking you"],
    ["Let's do it next week"],
    ['I will do it tomorrow'],
    ['We could do it another day'],
  ])('stays for: %s', async (text) => {
    expect(route(consent, text)).toBeNull();
  });

  it.each([
    ['好', 'yes'],
    ['不要', 'no'],
    ['我不同意', 'no'],
  ])('%s → %s, of sentences in Chinese', async (text, edge) => {
    expect(route({ yes: '客人同意', no: '客人拒絕' }, text)).toBe(edge);
  });
});

describe('Edges that want, or do not want, the same thing', () => {
  const node = {
    id: 'n',
    title: 'Offer',
    prompt: 'Ask whether they would like to book a table.',
    type: 'conversation',
  };
  it.each([
    ['I want to book a table', 'yes'],
    ["I'd love to book one", 'yes'],
    ["I don't want to book a table", 'no'],
    ["no, I don't want to book", 'no'],
    ['yes', 'yes'],
    ['no', 'no'],
  ])('%s → %s', async (text, edge) => {
    expect(route(wish, text, { node })).toBe(edge);
  });

  it('A bare yes selects no edge for a wish that was not asked about', async () => {
    const other = { ...node, prompt: 'Ask for the weather.', title: 'Weather' };
    expect(route(wish, 'yes', { node: other })).toBeNull();
  });

  it.each([
    ['我想預約', 'yes'],
    ['我要預約時間', 'yes'],
    ['我不想預約', 'no'],
    ['不要預約', 'no'],
  ])('%s → %s', async (text, edge) => {
    expect(route({ yes: '客人想要預約', no: '客人不想預約' }, text)).toBe(edge);
  });
});

describe('Edges for phrases and numbers', () => {
  const menu = { one: 'The caller says "sales" or presses 1', two: 'The caller says "service" or presses 2' };
  it.each([
    ['sales please', 'one'],
    ['service', 'two'],
    ['2', 'two'],
    ['one', 'one'],
    ['number two', 'two'],
  ])('%s → %s', async (text, edge) => {
    expect(route(menu, text)).toBe(edge);
  });

  it.each([['three'], ['not sales'], ['self-serve']])('stays for: %s', async (text) => {
    expect(route(menu, text)).toBeNull();
  });

  it('An expected answer selects the edge that names it', async () => {
    const ways = { a: 'They say this one', b: 'They say the other one' };
    const expectedAnswers = ['this one', 'the other one'];
    expect(route(ways, 'The other one.', { expectedAnswers })).toBe('b');
  });

  it.each([
    ['我要退款', 'refund'],
    ['請幫我查訂單', 'order'],
    ['我不要退款', null],
    ['今天天氣很好', null],
  ])('%s → %s', async (text, edge) => {
    expect(route({ refund: '客人要求退款', order: '客人想查詢訂單' }, text)).toBe(edge);
  });
});
