import { expect, test } from 'vitest';
import { estimatedMs, speakableEnd, spokenForm } from '../../../src/conversation/speech/spokenText.ts';

test.each([
  ['Dr. No', { 'Dr.': 'Doctor' }, 'Doctor No', [1, 1]],
  ['call NYC now', { NYC: 'New York City' }, 'call New York City now', [1, 0, 0, 1, 1]],
  ['new york is big', { 'New York': 'NYC' }, 'NYC is big', [2, 1, 1]],
  ['concat a cat', { cat: 'feline' }, 'concat a feline', [1, 1, 1]],
  ['cats and cat5', { cat: 'feline' }, 'cats and cat5', [1, 1, 1]],
  ['台積電很大', { 台積電: 'TSMC' }, 'TSMC很大', [3, 1, 1]],
  ['去NYC吧', { NYC: 'New York City' }, '去New York City吧', [1, 0, 0, 1, 1]],
  ['say [this](https://a.example) — **now**', {}, 'say this — now', [1, 1, 1]],
])('%j with %j is spoken as %j', (written, words, text, writtenWords) => {
  const pronunciations = Object.entries(words).map(([word, say]) => ({ word, say }));
  expect(spokenForm(written, { pronunciations })).toEqual({ text, writtenWords });
});

test('The spaces around a part stay, and a dash begins a list at the start of a line alone', () => {
  expect(spokenForm('  - one\n').text).toBe(' one ');
  expect(spokenForm(' - one', { startsLine: false }).text).toBe(' - one');
  expect(spokenForm('two', { startsLine: false }).text).toBe('two');
});

test.each([
  ['emphasis', '**Sure!** See _our_ ***page*** ~~now~~.', 'Sure! See our page now.'],
  ['emphasis whose other end is elsewhere', 'Really** so, **but', 'Really so, but'],
  ['a bold number', 'It costs **5** or **12', 'It costs 5 or 12'],
  [
    'links',
    'See [our page](https://a.example "our page") or ![a plan](plan.png).',
    'See our page or a plan.',
  ],
  ['headings, lists and quotes', '# Title\n- one\n* two\n> three\n- [x] four', 'Title one two three four'],
  ['tables', '| Day | Opens |\n|---|:--:|\n| Monday | nine |', 'Day, Opens, Monday, nine'],
  ['fences', '```js\nrun `it`\n```\nnow', 'run it now'],
  ['rules and the line below a heading', 'One\n===\ntwo\n***\nthree', 'One two three'],
  ['footnotes', 'Open[^1] today.\n[^1]: Not on Sunday.', 'Open today. Not on Sunday.'],
  ['emoji', 'Done ✅ 👍🏽. 🇹🇼👨‍👩‍👧 1️⃣ ❤️ ✔ ok', 'Done. 1 ok'],
  ['a line break', 'one<br/>two', 'one two'],
  ['tags for the eye', '<p>Open <b class="x">now</b><!-- soon -->.</p><p>Come</p>', 'Open now. Come'],
  ['entities', 'Fish&nbsp;&amp; chips, it&#39;s 5 &lt; 6', "Fish & chips, it's 5 < 6"],
  ['sources', 'We open at nine【4:0†hours.pdf】.', 'We open at nine.'],
  ['names of emoji', 'Done :white_check_mark: at 10:30:15.', 'Done at 10:30:15.'],
])('%s are removed: %j is spoken as %j', (_, written, said) => {
  expect(spokenForm(written).text).toBe(said);
});

test.each([
  ['keys', 'Press * to repeat, "#" or `*`, then 9#.', 'Press star to repeat, "pound" or star, then 9 pound.'],
  [
    'telephone codes',
    'Dial *67, **21*123# or #31#',
    'Dial star 67, star star 21 star 123 pound or pound 31 pound',
  ],
  ['keys that are a keycap', 'Press *️⃣ or #️⃣', 'Press star or pound'],
  ['a keycap at the start of a line', '*️⃣ to repeat\n#️⃣ to end', 'star to repeat pound to end'],
  [
    'wide signs',
    '請按＊重複，按＃結束，或寫信到 a＿b＠example.com',
    '請按星號重複，按井字號結束，或寫信到 a底線b at example.com',
  ],
  ['keys in bold', '**Press # now** or **\\***', 'Press pound now or star'],
  ['addresses', 'mei_lin.chen@a.example', 'mei underscore lin.chen at a.example'],
  ['escaped signs', 'mei\\_lin and \\*now', 'mei underscore lin and star now'],
  ['signs of a word', 'C# for room #5, f*ck, ~5 < 6', 'C# for room #5, f*ck, ~5 < 6'],
  ['a link', 'https://a.example/b_c#d', 'https://a.example/b_c#d'],
  ['products', '5 * 3 and 5*3*2', '5 × 3 and 5×3×2'],
  ['commands for the voice', 'Wait <break time="1s"/> please', 'Wait <break time="1s"/> please'],
  ['Chinese keys', '請按*重複，按 # 鍵', '請按星號重複，按 井字號 鍵'],
  ['Korean keys', '별표 *를', '별표 별표 를'],
])('Signs that are meant are said: %s', (_, written, said) => {
  expect(spokenForm(written).text).toBe(said);
});

test.each([
  ['de-DE', 'die *-Taste', 'die Stern-Taste'],
  ['en-GB', 'press #', 'press hash'],
  ['es', 'pulse * o #', 'pulse asterisco o almohadilla'],
  ['fr', 'a_b', 'a tiret bas b'],
  ['th', 'กด * หรือ #', 'กด * หรือ #'],
])('Signs have their names in the language %s', (language, written, said) => {
  expect(spokenForm(written, { language }).text).toBe(said);
});

test('The words of a text with removed and named signs are told apart', () => {
  const { text, writtenWords } = spokenForm('Press * now: mei_lin [a b](https://c.example "d")[^e] f');
  expect(text).toBe('Press star now: mei underscore lin a b f');
  expect(writtenWords).toEqual([1, 0, 1, 0, 0, 1, 1, 2, 1]);
});

test('Of a hostile text no word is lost', () => {
  for (const mark of ['*', '[', '`', '_', '|', '#', '~', '\\', ' ', '\n', '> ', '1*', '!', '😀'])
    expect(spokenForm(`${mark.repeat(5_000)} words`).text, mark).toContain('words');
});

test.each([
  ['A ta', 0, 'A '],
  ['A table ', 2, 'A table '],
  ['我要訂', 0, '我要訂'],
  ['See [our p', 0, 'See '],
  ['See us [our page](https://a.ex', 4, 'See us '],
  ['See [our page](https://a.example) ', 0, 'See [our page](https://a.example) '],
  ['I like New ', 0, 'I like '],
  ['I like New ', 2, 'I like '],
  ['I like New York ', 0, 'I like New York '],
  ['I renew ', 0, 'I renew '],
  ['Go New ', 7, 'Go New '],
])('Of %j, spoken up to %i so far, %j may be spoken where "New York" is replaced', (text, from, may) => {
  expect(text.slice(0, speakableEnd(text, from, [{ word: 'New York', say: 'NYC' }]))).toBe(may);
});

test.each([
  ['fifteen letters', 1, 1000],
  ['fifteen letters', 2, 500],
  ['一二三四五', 1, 1000],
  ['一二三四五fifteen letters', 1, 2000],
])('A voice takes about as long as usual: %j at speed %i is %i ms', (text, speed, ms) =>
  expect(estimatedMs(text, speed)).toBeCloseTo(ms),
);
