import { describe, expect, it } from 'vitest';
import { findDate } from '../../../offline/chat/dates.ts';
import { extractVariables } from '../../../offline/chat/extract.ts';
import { cjkNumber, numberWordsToDigits } from '../../../offline/chat/numbers.ts';
import type { VariableConfig } from '../../../offline/chat/request.ts';

function extract(config: Partial<VariableConfig>, text: string, prompt = 'Chat.') {
  const whole: VariableConfig = { name: 'value', type: 'string', description: '', ...config };
  return extractVariables([whole], { text, asked: prompt, today: '2026-11-18' })[whole.name];
}

describe('Numbers', () => {
  const guests = { name: 'guests', type: 'number', description: 'How many guests come' } as const;
  it.each([
    ['we are four', 4],
    ['twenty one people', 21],
    ['ninety-nine', 99],
    ['for 12 guests', 12],
    ['1,200', 1200],
    ['2.5', 2.5],
    ['table for 3 at 7 pm', 3],
    ['4 guests and 2 dogs', 4],
    ['四個人', 4],
    ['兩位', 2],
    ['二十三位', 23],
    ['3 or 4', null],
    ['call me at 0912 345 678', null],
    ['no idea', null],
    ['this one', null],
    ['', null],
  ])('%s → %s', (text, value) => {
    expect(extract(guests, text)).toBe(value);
  });

  it('fill one variable only, unless the text names another', () => {
    const configs: VariableConfig[] = [
      guests,
      { name: 'rooms', type: 'number', description: 'How many rooms' },
    ];
    expect(extractVariables(configs, { text: '3', asked: 'Chat.' })).toEqual({ guests: null, rooms: null });
    expect(extractVariables(configs, { text: '3 rooms', asked: 'Chat.' })).toEqual({
      guests: null,
      rooms: 3,
    });
    const asked = 'Ask how many guests will come.';
    expect(extractVariables(configs, { text: '3', asked })).toEqual({ guests: 3, rooms: null });
  });

  it.each([
    ['zero', '0'],
    ['nineteen', '19'],
    ['forty two and five', '42 and 5'],
    ['thirty', '30'],
    ['no one', 'no one'],
  ])('words: %s → %s', (words, digits) => {
    expect(numberWordsToDigits(words.split(' ')).join(' ')).toBe(digits);
  });

  it.each([
    ['十', 10],
    ['十二', 12],
    ['二十', 20],
    ['九十九', 99],
    ['零', 0],
    ['兩', 2],
    ['二三', undefined],
    ['', undefined],
  ])('characters: %s → %s', (text, value) => {
    expect(cjkNumber(text)).toBe(value);
  });
});

describe('Booleans', () => {
  const config = {
    name: 'hasReservation',
    type: 'boolean',
    description: 'Whether there is a reservation',
  } as const;
  const asked = 'Ask whether they have a reservation.';
  it.each([
    ['yes', asked, true],
    ['no', asked, false],
    ['不是', asked, false],
    ["I don't know", asked, null],
    ['yes', 'Chat.', null],
    ['I have a reservation', 'Chat.', true],
    ["I don't have a reservation", 'Chat.', false],
    ['do I need a reservation?', 'Chat.', null],
  ])('%s, asked "%s" → %s', (text, prompt, value) => {
    expect(extract(config, text, prompt)).toBe(value);
  });
});

// 18 November 2026 is a Wednesday.
describe('Dates', () => {
  it.each([
    ['today', '2026-11-18'],
    ['tomorrow evening', '2026-11-19'],
    ['the day after tomorrow', '2026-11-20'],
    ['on Friday', '2026-11-20'],
    ['next Monday', '2026-11-23'],
    ['wednesday', '2026-11-25'],
    ['in three days', '2026-11-21'],
    ['in 2 weeks', '2026-12-02'],
    ['in a week', '2026-11-25'],
    ['December 5th', '2026-12-05'],
    ['the 5th of March', '2027-03-05'],
    ['5 March 2028', '2028-03-05'],
    ['March 5, 2028', '2028-03-05'],
    ['2026-12-24', '2026-12-24'],
    ['2026/3/5', '2026-03-05'],
    ['2026年12月24日', '2026-12-24'],
    ['12月24日', '2026-12-24'],
    ['十二月五號', '2026-12-05'],
    ['明天', '2026-11-19'],
    ['後天下午', '2026-11-20'],
    ['下週一', '2026-11-23'],
    ['明日お願いします', '2026-11-19'],
    ['mañana', '2026-11-19'],
    ['übermorgen', '2026-11-20'],
    ['après-demain', '2026-11-20'],
    ['February 31', undefined],
    ['2026-02-30', undefined],
    ['some day', undefined],
    ['', undefined],
  ])('%s → %s', (text, day) => {
    expect(findDate(text, '2026-11-18')).toBe(day);
  });

  it('need the current day, except for a full date', () => {
    expect(findDate('tomorrow', undefined)).toBeUndefined();
    expect(findDate('5 March', undefined)).toBeUndefined();
    expect(findDate('5 March 2028', undefined)).toBe('2028-03-05');
  });
});

describe('Enums', () => {
  const size = {
    name: 'size',
    type: 'enum',
    description: 'Size',
    values: ['small', 'large', 'extra large'],
  } as const;
  it.each([
    ['large please', 'large'],
    ['An extra large one', 'extra large'],
    ['not small, large', 'large'],
    ['small or large', null],
    ["I don't want large", null],
    ['blue', null],
  ])('%s → %s', (text, value) => {
    expect(extract(size, text)).toBe(value);
  });

  it.each([
    ['我要大杯', '大杯'],
    ['不要大杯，小杯', '小杯'],
  ])('%s → %s', (text, value) => {
    expect(extract({ type: 'enum', values: ['大杯', '小杯'] }, text)).toBe(value);
  });
});

describe('Names', () => {
  const config = { name: 'callerName', description: 'Name of the caller' };
  const asked = "Ask for the caller's name.";
  it.each([
    ['my name is anna schmidt', 'Chat.', 'Anna Schmidt'],
    ["I'm Bob and I want to book", 'Chat.', 'Bob'],
    ['call me Al', 'Chat.', 'Al'],
    ['this is Carol, hello', 'Chat.', 'Carol'],
    ['我叫王小明', 'Chat.', '王小明'],
    ['me llamo José', 'Chat.', 'José'],
    ['ich heiße Jürgen', 'Chat.', 'Jürgen'],
    ["je m'appelle Zoé", 'Chat.', 'Zoé'],
    ['田中と申します', 'Chat.', '田中'],
    ['Anna Schmidt', asked, 'Anna Schmidt'],
    ["it's Dave", asked, 'Dave'],
    ["I'm looking for a room", 'Chat.', null],
    ["I'm fine", asked, null],
    ["I'm not sure", asked, null],
    ['Anna Schmidt', 'Chat.', null],
    ['why do you ask?', asked, null],
    ['no', asked, null],
  ])('%s, asked "%s" → %s', (text, prompt, value) => {
    expect(extract(config, text, prompt)).toBe(value);
  });
});

describe('Other strings', () => {
  it.each([
    ['email', 'E-mail address', 'it is anna.b+c@example.co.uk, thanks', 'Chat.', 'anna.b+c@example.co.uk'],
    ['email', 'E-mail address', 'I have none', 'Ask for the e-mail.', null],
    ['phone', 'Phone number', 'call +49 (30) 1234-567 please', 'Chat.', '+49301234567'],
    ['phone', '電話', '0912345678', 'Chat.', '0912345678'],
    ['orderNumber', 'Number of the order', 'it is AB-1234 I think', 'Chat.', 'AB-1234'],
    ['city', 'City', 'the weather in San Francisco tomorrow', 'Chat.', 'San Francisco'],
    ['city', 'City', 'weather in paris today', 'Chat.', 'paris'],
    ['reason', 'Reason of the visit', 'a sore throat', 'Ask for the reason of the visit.', 'a sore throat'],
    ['reason', 'Reason of the visit', 'a sore throat', 'Chat.', null],
    ['reason', 'Reason of the visit', 'what do you mean?', 'Ask for the reason of the visit.', null],
    ['reason', 'Reason', 'well I have had a lot of things going on in my life', 'Ask for the reason.', null],
  ])('%s (%s): %s, asked "%s" → %s', (name, description, text, prompt, value) => {
    expect(extract({ name, description }, text, prompt)).toBe(value);
  });
});
