import { describe, expect, test } from 'vitest';
import type { HistoryDetail } from '../../../src/engine/history/historyStore.ts';
import { caseFromSession, replayOf } from '../../../src/testing/cases/caseFromSession.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();

const SESSION: HistoryDetail = {
  sessionId: 's-1',
  channel: 'phone',
  status: 'ended',
  startedAt: at(0),
  endedAt: at(60),
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
