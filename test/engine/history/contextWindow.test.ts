import { describe, expect, test } from 'vitest';

import {
  CONTEXT_BUDGET_TOKENS,
  contextMessages,
  estimateTokens,
  messageTokens,
  wholeConversation,
} from '../../../src/engine/history/contextWindow.ts';
import type { SessionMessage } from '../../../src/engine/session/session.ts';

const AT = '2026-01-01T00:00:00.000Z';
const said = (role: SessionMessage['role'], content: string | null, fields: object = {}) =>
  ({ role, content, at: AT, ...fields }) as SessionMessage;
const call = (id: string) => ({ id, type: 'function' as const, function: { name: 'book', arguments: '{}' } });
const toolCall = (id: string) => ({ id, name: 'book', arguments: '{}' });
const window = (messages: SessionMessage[], summary: { text: string; upTo: number } | null = null) =>
  contextMessages({ messages, summary });

test.each([
  ['', 0],
  ['a', 1],
  ['abcd', 1],
  ['abcde', 2],
  ['你好', 2],
  ['สวัสดี', 6],
  ['你好abcd', 3],
  // Two units, of which the first counts.
  ['😀', 2],
])('“%s” is about %i tokens', (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});

test('A message costs more than its words', () => {
  expect(messageTokens(undefined)).toBe(0);
  expect(messageTokens(said('user', 'abcd'))).toBe(5);
  expect(messageTokens(said('assistant', null, { tool_calls: [call('1')] }))).toBeGreaterThan(15);
});

describe('A model gets', () => {
  test('the conversation with its tools, in its own shape', () => {
    expect(
      window([
        said('user', 'Book'),
        said('assistant', null, { tool_calls: [call('1')] }),
        said('tool', 'ok', { tool_call_id: '1' }),
        said('system', 'Be brief'),
        said('assistant', 'Done.'),
      ]),
    ).toEqual([
      { role: 'user', content: 'Book' },
      { role: 'assistant', content: null, toolCalls: [toolCall('1')] },
      { role: 'tool', toolCallId: '1', content: 'ok' },
      { role: 'system', content: 'Be brief' },
      { role: 'assistant', content: 'Done.' },
    ]);
  });

  test('no call without a result, and no result without its call', () => {
    expect(
      window([
        said('tool', 'early', { tool_call_id: '2' }),
        said('user', 'Book'),
        said('assistant', 'One moment.', { tool_calls: [call('1'), call('2')] }),
        said('tool', 'ok', { tool_call_id: '2' }),
        said('tool', 'lost', { tool_call_id: '3' }),
        said('assistant', 'And this.', { tool_calls: [call('4')] }),
        said('assistant', null, { tool_calls: [call('5')] }),
        said('assistant', ''),
      ]),
    ).toEqual([
      { role: 'user', content: 'Book' },
      { role: 'assistant', content: 'One moment.', toolCalls: [toolCall('2')] },
      { role: 'tool', toolCallId: '2', content: 'ok' },
      { role: 'assistant', content: 'And this.' },
    ]);
  });

  test('the summary, then what followed it', () => {
    const messages = [said('user', 'one'), said('assistant', 'two'), said('user', 'three')];
    expect(window(messages, { text: 'They met.', upTo: 2 })).toEqual([
      { role: 'system', content: 'What was said before:\nThey met.' },
      { role: 'user', content: 'three' },
    ]);
  });

  test('the newest messages of twice the budget, and the last one however long', () => {
    // With its overhead of four tokens, a quarter of what fits.
    const quarter = 'a'.repeat(4 * (CONTEXT_BUDGET_TOKENS / 2 - 4));
    const messages = Array.from({ length: 6 }, (_, n) => said('user', `${n}${quarter.slice(1)}`));
    expect(window(messages).map(({ content }) => content?.[0])).toEqual(['2', '3', '4', '5']);
    const longest = said('user', quarter.repeat(5));
    expect(window([said('user', 'short'), longest])).toEqual([{ role: 'user', content: longest.content }]);
  });

  test('no result whose call no longer fits', () => {
    const half = 'a'.repeat(4 * CONTEXT_BUDGET_TOKENS);
    const messages = [
      said('assistant', half, { tool_calls: [call('1')] }),
      said('tool', 'ok', { tool_call_id: '1' }),
      said('user', half.slice(40)),
    ];
    expect(window(messages)).toEqual([{ role: 'user', content: half.slice(40) }]);
  });
});

describe('An ended conversation', () => {
  const turns = (count: number) =>
    Array.from({ length: count }, (_, turn) => said(turn % 2 === 0 ? 'user' : 'assistant', `turn ${turn}`));

  test('is whole with its tools where it fits', () => {
    const messages = [
      said('user', 'Book'),
      said('assistant', null, { tool_calls: [call('1')] }),
      said('tool', 'booked', { tool_call_id: '1' }),
    ];
    expect(wholeConversation(messages, 1_000)).toHaveLength(3);
    expect(wholeConversation(messages, 60)).toEqual([{ role: 'user', content: 'Book' }]);
  });

  test('has what was said first and last where it is too long, and says so', () => {
    // 35 to 40 bytes each.
    const told = wholeConversation(turns(100), 600).map(({ content }) => content);
    expect(told.slice(0, 2)).toEqual(['turn 0', 'turn 1']);
    expect(told.at(-1)).toBe('turn 99');
    const gap = told.findIndex((content) => content?.includes('messages are left out here.'));
    expect(told[gap]).toBe(`${100 - (told.length - 1)} messages are left out here.`);
    expect(told.length - gap - 1).toBeGreaterThan(gap);
    expect(JSON.stringify(told).length).toBeLessThan(600);
  });

  test('has long messages cut before any is left out', () => {
    const told = wholeConversation(
      [said('user', `${'a'.repeat(1_999)}😀${'b'.repeat(9_000)}`), said('assistant', 'x')],
      5_000,
    );
    expect(told.map(({ content }) => content?.length)).toEqual([2_000, 1]);
    expect(told[0]?.content?.isWellFormed()).toBe(true);
  });
});
