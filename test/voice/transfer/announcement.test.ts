import { describe, expect, test } from 'vitest';

import { draftSession, type Session, type SessionMessage } from '../../../src/engine/session/session.ts';
import { announcementOf } from '../../../src/voice/transfer/announcement.ts';

const AT = '2026-01-01T00:00:00.000Z';
const CALL = {
  direction: 'inbound',
  fromNumber: '+886912345678',
  toNumber: '+886223456789',
  callId: 'call',
  trunkId: null,
} as const;
const said = (role: 'user' | 'assistant', content: string, internal?: true): SessionMessage => ({
  role,
  content,
  at: AT,
  ...(internal ? { internal } : {}),
});

function sessionWith(state: Partial<Session['state']>): Session {
  const session = draftSession({ projectId: 'p', sessionId: 's', channel: 'phone' }, AT);
  return { ...session, state: { ...session.state, call: CALL, ...state } };
}

function announce(
  state: Partial<Session['state']>,
  { language = 'en', acceptBy = 'answer', ...briefing }: Record<string, string> = {},
) {
  return announcementOf(
    { kind: 'briefing', to: '+886200000000', acceptDigit: '1', acceptBy: acceptBy as 'answer', ...briefing },
    { session: sessionWith(state), agentName: 'Ada', language },
  );
}

describe('A transfer target is told', () => {
  const messages = [
    said('assistant', 'How can I help?'),
    said('user', 'My bill is wrong.'),
    said('user', '[The transfer failed.]', true),
    said('user', 'It is for May.'),
  ];

  test('who is calling, and what the caller said, where nothing else is known', () => {
    expect(announce({ messages })).toEqual({
      text: 'Hello, this is Ada. I have +886912345678 on the line. They said: My bill is wrong. It is for May.',
      question: undefined,
    });
  });

  test('the summary of a model, or that of a variable, in place of the caller’s words', () => {
    const summary = { text: 'The bill for May is wrong.', upTo: 2 };
    expect(announce({ messages, summary }).text).toContain('The bill for May is wrong.');
    expect(announce({ messages, summary, variables: { summary: 'Bill.' } }).text).toMatch(/line\. Bill\.$/);
  });

  test('what the template says, with the variables of the session', () => {
    const variables = { name: 'Ann', language: 'en' };
    const text = '{{ name }} ({{ callerNumber }}, {{ call.direction }}) for {{ agentName }}. {{ summary }}';
    expect(announce({ messages, variables }, { announce: text }).text).toBe(
      'Ann (+886912345678, inbound) for Ada. They said: My bill is wrong. It is for May.',
    );
  });

  test('the agent’s own words where the template renders nothing', () => {
    expect(announce({}, { announce: '{{ nothing }}' }).text).toMatch(/^Hello, this is Ada/);
  });

  test.each([
    ['en', 'digit', /press 1/],
    ['en', 'speech', /yes or no/],
    ['de', 'digit', /drücken Sie die 1/],
    ['zh-TW', 'speech', /說好或不要/],
    ['es-MX', 'digit', /pulse 1/],
    ['fr', 'speech', /oui ou non/],
    ['ja', 'digit', /press 1/],
  ])('in %s how to accept by %s', (language, acceptBy, question) => {
    expect(announce({}, { language, acceptBy }).question).toMatch(question);
  });
});
