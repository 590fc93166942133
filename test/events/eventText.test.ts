import { expect, test } from 'vitest';

import { liveEvent, type NewLiveEvent } from '../../src/events/liveEvent.ts';
import { eventText, withEventId } from '../../src/events/liveEvents.ts';

const AT = '2026-01-01T00:00:00.000Z';
const read = (event: NewLiveEvent) => liveEvent.parse(JSON.parse(withEventId('1-0', eventText(event, AT))));

test('An event is JSON with its id, its subject and its data', () => {
  const data = { turn: 1, text: 'Hello "you"\u0000', input: 'words' } as const;
  expect(read({ type: 'turn.user', projectId: 'p', sessionId: 's', callId: null, data })).toEqual({
    id: '1-0',
    type: 'turn.user',
    at: AT,
    projectId: 'p',
    sessionId: 's',
    data,
  });
});

test.each([
  ['a long text', { turn: 1, text: 'x'.repeat(100_000), input: 'words' }],
  ['many values', { turn: 1, name: 'all', value: Array.from({ length: 20_000 }, () => 'x'), source: 'tool' }],
])('An event with %s is shortened, and says so', (_what, data) => {
  const type = 'value' in data ? 'variable.set' : 'turn.user';
  const event = { type, projectId: 'p', data } as NewLiveEvent;
  expect(eventText(event, AT).length).toBeLessThan(17_000);
  expect(read(event)).toMatchObject({ truncated: true, data: { turn: 1 } });
});
