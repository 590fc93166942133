import { describe, expect, test } from 'vitest';
import { toSessionUsage } from '../../../src/agents/cost/usage.ts';
import { testCaseInput } from '../../../src/agents/testSuites/testCase.ts';
import type { HistoryDetail } from '../../../src/engine/history/historyStore.ts';
import { caseFromSession, replayOf } from '../../../src/testing/cases/caseFromSession.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();

const SESSION: HistoryDetail = {
  sessionId: 's-1',
  channel: 'phone',
  release: 'draft',
  status: 'ended',
  startedAt: at(0),
  endedAt: at(60),
  usage: toSessionUsage({}),
  cost: null,
  disposition: null,
  success: null,
  variables: { customerName: 'Amy Pond', tier: 'gold', size: 'large' },
  messages: [
    { role: 'assistant', content: 'Hello, shop.', at: at(0) },
    { role: 'user', content: 'This is amy pond, +49 30 1234567, amy@pond.example.', at: at(6) },
    { role: 'assistant', content: 'Which size? We have', at: at(8), interrupted: true },
    { role: 'user', content: 'Large', at: at(9) },
    { role: 'assistant', content: 'Press 1 to confirm.', at: at(11) },
    { role: 'user', content: '1', at: at(13) },
    { role: 'assistant', content: 'Ordered.', at: at(14) },
  ],
  events: [
    { type: 'variable_set', at: at(9), data: { name: 'size', value: 'large' } },
    { type: 'dtmf', at: at(13), data: { digits: '1' } },
    { type: 'node_entered', at: at(13), data: { nodeId: 'done' } },
    { type: 'tool_called', at: at(13), data: { name: 'order', arguments: '{"size":"large"}', by: 'model' } },
    { type: 'tool_result', at: at(13), data: { name: 'order', ok: true, result: '{"for":"Amy Pond"}' } },
    { type: 'tool_called', at: at(13), data: { name: 'end_call', arguments: '{}', by: 'model' } },
    {
      type: 'tool_result',
      at: at(13),
      data: { name: 'end_call', ok: true, result: 'The conversation ends now.' },
    },
  ],
};

describe('A case of a session', () => {
  test('has what the person said, pressed and cut short, with pauses, and the results of tools', () => {
    expect(caseFromSession(SESSION, { mask: false })).toMatchObject({
      name: 'Session s-1',
      channel: 'phone',
      variables: { customerName: 'Amy Pond', tier: 'gold' },
      turns: [
        { waitMs: 5200 },
        { say: 'This is amy pond, +49 30 1234567, amy@pond.example.' },
        { interrupt: { afterMs: 1267, say: 'Large' } },
        { dtmf: '1' },
      ],
      toolMocks: [
        {
          name: 'order',
          when: { and: [{ '===': [{ var: 'size' }, 'large'] }] },
          result: { for: 'Amy Pond' },
        },
        { name: 'order', result: { for: 'Amy Pond' } },
      ],
      assertions: [
        { type: 'tool_called', name: 'order' },
        { type: 'tool_called', name: 'end_call' },
        { type: 'node_visited', nodeId: 'done' },
      ].filter(({ name }) => name !== 'end_call'),
    });
  });

  test('masks personal data everywhere', () => {
    const text = JSON.stringify(caseFromSession(SESSION, { mask: true, name: 'Order' }));

    expect(text).not.toMatch(/amy|pond|123/i);
    expect(text).toContain('This is [customerName], +00 00 0000000, person@example.com.');
    expect(text).toContain('"for":"[customerName]"');
  });

  test('has no more of a long session than the API stores in one item', () => {
    const words = (n: number) => `${n} ${'long '.repeat(200)}`;
    const steps = Array.from({ length: 100 }, (_, n) => n);
    const session = {
      ...SESSION,
      messages: steps.map((n) => ({ role: 'user' as const, content: words(n), at: at(2 * n) })),
      events: steps.flatMap((n) => [
        { type: 'tool_called', at: at(2 * n), data: { name: 'find', arguments: '{}', by: 'model' } } as const,
        { type: 'tool_result', at: at(2 * n), data: { name: 'find', ok: true, result: words(n) } } as const,
      ]),
    };
    const made = caseFromSession(session, { mask: false });
    expect([made.turns?.length, made.toolMocks.length]).toEqual([27, 27]);
    expect(JSON.stringify(made).length).toBeLessThan(65_536);
  });

  test.each([
    [
      'My name is amy pond and I am calling about my order',
      'My name is [name] and I am calling about my order',
    ],
    ['This is Amy Pond. Mrs Pond, yes.', 'This is [name]. Mrs [name], yes.'],
    ['Ich heiße Amy Pond', 'Ich heiße [name]'],
    ['This is fine, I am happy', 'This is fine, I am happy'],
    ['Card 4111 1111-1111/1111, valid 12/27', 'Card 0000 0000-0000/0000, valid 12/27'],
    ['It is four one one, one double zero two', 'It is zero zero zero, zero zero zero zero'],
    ['電話零九一二，三四五六七八，兩位', '電話零零零零，零零零零零零，兩位'],
    ['Born 1985-04-12, call +49 (30) 123456', 'Born 0000-00-00, call +00 (00) 000000'],
    [
      'Write to amy.pond@mail.example or amy at pond dot com',
      'Write to person@example.com or person at example dot com',
    ],
    ['The account of ANNA, not of Joanna', 'The account of [contactName], not of Joanna'],
    ['In Elm Street, door 1234567', 'In [street], door 0000000'],
    ['The code was 2468', 'The code was 0000'],
    ['I want two tables at 7:30', 'I want two tables at 7:30'],
  ])('masks “%s”', (content, masked) => {
    const session = {
      ...SESSION,
      sessionId: 'amy@pond.example',
      variables: { contactName: 'Anna', home: { street: 'Elm Street' }, account: 4_711_815, visits: 3 },
      messages: [
        { role: 'user' as const, content, at: at(1) },
        { role: 'user' as const, content: '2468', at: at(2) },
      ],
      events: [
        { type: 'dtmf' as const, at: at(2), data: { digits: '2468' } },
        {
          type: 'tool_result' as const,
          at: at(2),
          data: { name: 'Anna', ok: true, result: '{"id":4711815}' },
        },
      ],
    };

    expect(caseFromSession(session, { mask: true })).toMatchObject({
      name: 'Session person@example.com',
      variables: { contactName: '[contactName]', home: { street: '[street]' }, account: 0, visits: 3 },
      turns: [{ say: masked }, { dtmf: '0000' }],
      toolMocks: [{ name: 'Anna', result: { id: 0 } }],
    });
  });

  test('of a hostile session is as long as a case may be, and made at once', () => {
    const long = 'a'.repeat(20_000);
    const messages = Array.from({ length: 400 }, (_, index) => ({
      role: index % 2 === 0 ? ('assistant' as const) : ('user' as const),
      content: long,
      interrupted: true,
      at: at(index),
    }));
    const variables = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`name${index}`, `${'a'.repeat(190)}${index}`]),
    );
    const deep = `${'['.repeat(8000)}${']'.repeat(8000)}`;
    const events = [
      { type: 'tool_result' as const, at: at(1), data: { name: 'order', ok: true, result: deep } },
    ];

    const made = caseFromSession({ ...SESSION, messages, variables, events }, { mask: true });

    expect(testCaseInput.safeParse(made).error).toBeUndefined();
    expect(made.turns).toHaveLength(1);
    expect(made.toolMocks).toMatchObject([{ result: deep }]);
    expect(replayOf({ ...SESSION, messages }).definition.answers).toHaveLength(9);
  });

  test('is refused where the person did nothing', () => {
    expect(() => caseFromSession({ ...SESSION, messages: [] }, { mask: true })).toThrow(/said nothing/);
  });

  test('is replayed as a chat with the answers that it had', () => {
    const { definition } = replayOf(SESSION);

    expect(definition).toMatchObject({ channel: 'chat', assertions: [] });
    expect(definition.turns).toHaveLength(3);
    expect(definition.answers?.map(({ turn, answer }) => [turn, answer])).toEqual([
      [0, 'Which size? We have'],
      [1, 'Press 1 to confirm.'],
      [2, 'Ordered.'],
    ]);
  });
});
