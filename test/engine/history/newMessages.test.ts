import { describe, expect, test } from 'vitest';

import { CallwayError } from '../../../src/base/errors.ts';
import {
  ClientConversation,
  digestWith,
  type GivenMessage,
} from '../../../src/engine/history/clientConversation.ts';
import { mayRepeatAll, newMessages } from '../../../src/engine/history/newMessages.ts';
import { newSessionState, type SessionMessage } from '../../../src/engine/session/session.ts';
import type { ExternalMessage } from '../../../src/engine/turn/turn.ts';

const user = (content: string) => ({ role: 'user' as const, content });
const agent = (content: string | null) => ({ role: 'assistant' as const, content });
const system = (content: string) => ({ role: 'system' as const, content });
const call = (id: string) => ({
  id,
  type: 'function' as const,
  function: { name: `do_${id}`, arguments: '{}' },
});
const calling = (...ids: string[]) => ({ ...agent(null), tool_calls: ids.map(call) });
const result = (id: string, content = 'ok') => ({ role: 'tool' as const, content, tool_call_id: id });
const words = (text: string) => ({ kind: 'user_message' as const, text });
const results = (...ids: string[]) => ({
  kind: 'tool_results' as const,
  results: ids.map((id) => ({ toolCallId: id, name: `do_${id}`, content: 'ok' })),
});

type Stored = Omit<SessionMessage, 'at'>;
const state = (stored: readonly Stored[], pending: readonly string[] = []) => ({
  messages: stored.map((message) => ({ ...message, at: '2026-01-01T00:00:00.000Z' })),
  pendingToolCalls: pending.map(call),
});

const OWNER = { keyId: 'key', draft: false };
/** The digest of a session that was sent this much of a conversation by a client that sends all of it. */
const digestOf = (conversation: readonly GivenMessage[], owner = OWNER) =>
  conversation.reduce<string>((digest, message) => {
    return message.role === 'system' ? digest : digestWith(digest, message);
  }, new ClientConversation([], owner).digest());

/** What is new, without the digest. */
function read(known: ReturnType<typeof state>, given: readonly GivenMessage[]) {
  const session = { state: { ...newSessionState({}), ...known } };
  const { digest, ...rest } = newMessages(session, new ClientConversation(given, OWNER));
  expect(digest).toEqual(expect.any(String));
  return rest;
}

const KNOWN: Stored[] = [user('Hi'), agent('Hello')];
const CUT: Stored = { ...agent('Once upon a'), interrupted: true };

describe('newMessages takes as new', () => {
  test.each<[string, Stored[], GivenMessage[], ReturnType<typeof read>]>([
    [
      'nothing, where a system message alone asks the agent to speak',
      [],
      [system('x')],
      { input: { kind: 'begin' }, instructions: ['x'] },
    ],
    [
      'nothing, where a system message follows the stored history',
      KNOWN,
      [...KNOWN.map(plain), system('x')],
      { input: { kind: 'begin' }, instructions: ['x'] },
    ],
    ['the first message of a session', [], [user('Hi')], { input: words('Hi') }],
    ['what follows the stored history', KNOWN, [...KNOWN.map(plain), user('Bye')], { input: words('Bye') }],
    ['all messages, where only new ones are sent', KNOWN, [user('Bye')], { input: words('Bye') }],
    [
      'all messages, where the history differs',
      KNOWN,
      [user('Hi'), agent('Good day'), user('Bye')],
      { input: words('Bye'), history: [user('Hi'), agent('Good day')] },
    ],
    [
      'all messages, where only a part of the history is sent',
      [...KNOWN, user('More'), agent('Yes')],
      [...KNOWN.map(plain), user('Bye')],
      { input: words('Bye'), history: KNOWN.map(plain) },
    ],
    [
      'a conversation from outside of the session',
      [],
      [user('Hi'), calling('a'), result('a'), agent('Done'), user('Bye')],
      { input: words('Bye'), history: [user('Hi'), calling('a'), result('a'), agent('Done')] },
    ],
    [
      'the last of several user messages, and those before it as history',
      KNOWN,
      [...KNOWN.map(plain), user('One'), user('Two')],
      { input: words('Two'), history: [user('One')] },
    ],
    [
      'system messages as instructions at any position, without empty ones',
      KNOWN,
      [system('Be brief'), user('Hi'), system('In French'), agent('Hello'), system(''), user('Bye')],
      { input: words('Bye'), instructions: ['Be brief', 'In French'] },
    ],
    [
      'what follows a history that differs only in whitespace',
      [user('Hi\nthere'), agent('Hello ')],
      [user('Hi\r\nthere\n'), agent('Hello'), user('Bye')],
      { input: words('Bye') },
    ],
    [
      'what follows a history without its internal messages',
      [user('Hi'), { ...calling('x'), internal: true }, { ...result('x'), internal: true }, agent('Hello')],
      [...KNOWN.map(plain), user('Bye')],
      { input: words('Bye') },
    ],
    [
      'what follows a history with empty answers',
      [user('Hi'), user('Hello?'), agent('Yes')],
      [user('Hi'), agent(''), user('Hello?'), agent('Yes'), agent(null), user('Bye')],
      { input: words('Bye') },
    ],
    [
      'what follows a shortened interrupted answer',
      [user('Hi'), CUT],
      [user('Hi'), agent('Once up'), user('Bye')],
      { input: words('Bye') },
    ],
    [
      'what follows a missing interrupted answer',
      [user('Hi'), CUT],
      [user('Hi'), user('Bye')],
      { input: words('Bye') },
    ],
    [
      'the question of an interrupted answer, when it is asked again',
      [...KNOWN, user('Tell me'), CUT],
      [...KNOWN.map(plain), user('Tell me')],
      { input: words('Tell me') },
    ],
    [
      'the tool results of an interrupted answer, with their call',
      [user('Hi'), calling('a'), result('a'), CUT],
      [user('Hi'), calling('a'), result('a')],
      { input: results('a'), history: [calling('a')] },
    ],
  ])('%s', (_, stored, given, expected) => {
    expect(read(state(stored), given)).toEqual(expected);
  });
});

describe('Tool results', () => {
  const stored = [user('Hi'), calling('a', 'b')];
  const conversation = stored.map(plain);

  test.each<[string, GivenMessage[]]>([
    ['after the whole conversation', [...conversation, result('a'), result('b')]],
    ['alone', [result('a'), result('b')]],
  ])('%s', (_, given) => {
    expect(read(state(stored, ['a', 'b']), given)).toEqual({ input: results('a', 'b') });
  });

  test('keep their order and the given name', () => {
    const given = [...conversation, { ...result('b'), name: 'mine' }, result('a')];
    expect(read(state(stored, ['a', 'b']), given).input).toEqual({
      kind: 'tool_results',
      results: [
        { toolCallId: 'b', name: 'mine', content: 'ok' },
        { toolCallId: 'a', name: 'do_a', content: 'ok' },
      ],
    });
  });

  test('are history when a user message follows them', () => {
    const given = [...conversation, result('a'), result('b'), user('And?')];
    expect(read(state(stored, ['a', 'b']), given)).toEqual({
      input: words('And?'),
      history: [result('a'), result('b')],
    });
  });

  test('are accepted in a conversation from outside of the session', () => {
    expect(read(state([]), [user('Hi'), calling('a'), result('a')])).toEqual({
      input: results('a'),
      history: [user('Hi'), calling('a')],
    });
  });

  test('are dropped when the user continues without them', () => {
    expect(read(state(stored, ['a', 'b']), [...conversation, user('Never mind')])).toEqual({
      input: words('Never mind'),
    });
  });
});

describe('newMessages rejects', () => {
  const pending = [user('Hi'), calling('a', 'b')];
  test.each<[string, ReturnType<typeof state>, GivenMessage[], string, string]>([
    ['messages without a new one', state(KNOWN), KNOWN.map(plain), 'nothing_to_answer', '/messages/1'],
    [
      'an instruction while a call has no result',
      state([]),
      [user('Hi'), calling('a'), system('x')],
      'nothing_to_answer',
      '/messages/1',
    ],
    [
      'an assistant message at the end',
      state([]),
      [user('Hi'), agent('Hello')],
      'nothing_to_answer',
      '/messages/1',
    ],
    [
      'a result without a call',
      state(KNOWN),
      [system('x'), ...KNOWN.map(plain), result('z')],
      'unknown_tool_call',
      '/messages/3/tool_call_id',
    ],
    [
      'a second result of one call',
      state(pending, ['a', 'b']),
      [result('a'), result('a')],
      'unknown_tool_call',
      '/messages/1/tool_call_id',
    ],
    [
      'an incomplete set of results',
      state(pending, ['a', 'b']),
      [result('a')],
      'missing_tool_results',
      '/messages/0',
    ],
    [
      'an incomplete set of results before a user message',
      state(pending, ['a', 'b']),
      [result('b'), user('And?')],
      'missing_tool_results',
      '/messages/0',
    ],
    [
      'a result of a dropped call',
      state([...pending, user('Never mind'), agent('All right')]),
      [result('a')],
      'unknown_tool_call',
      '/messages/0/tool_call_id',
    ],
  ])('%s', (_, stored, given, code, path) => {
    const error = failureOf(() => read(stored, given));
    expect(error).toMatchObject({ category: 'invalid', code, details: [{ path, message: error.message }] });
  });

  test('an incomplete set of results, and names the missing ones', () => {
    const error = failureOf(() => read(state(pending, ['a', 'b']), [result('a')]));
    expect(error.message).toBe('messages lacks the results of the tool calls b');
  });
});

describe('A request that names no session', () => {
  const asked = [...KNOWN.map(plain), user('Tell me')];

  test.each<[string, Stored[], GivenMessage[], GivenMessage[], number | undefined]>([
    [
      'after its last answer',
      KNOWN,
      KNOWN.map(plain),
      [...KNOWN.map(plain), system('Be brief'), user('Bye')],
      2,
    ],
    [
      'after a part of an answer that broke off',
      [...asked, CUT],
      asked,
      [...asked, agent('Once'), user('And?')],
      4,
    ],
    ['with its question, when it is asked again', [...asked, CUT], asked, asked, 2],
    [
      'with the results of its last question, asked again',
      [user('Hi'), calling('a'), result('a')],
      [user('Hi'), calling('a'), result('a')],
      [user('Hi'), calling('a'), result('a')],
      1,
    ],
    ['after a question that has no answer', asked, asked, [...asked, user('Hello?')], 3],
    ['from the beginning, when nothing of it was stored', [], [user('Hi')], [user('Hi'), user('Hello?')], 0],
    [
      'not where it has another answer',
      KNOWN,
      KNOWN.map(plain),
      [user('Hi'), agent('Good day'), user('Bye')],
      undefined,
    ],
    [
      'not where it has another part of what broke off',
      [...asked, CUT],
      asked,
      [...asked, agent('No'), user('And?')],
      undefined,
    ],
    [
      'not where the other answer did not break off',
      [...asked, agent('Once upon a')],
      asked,
      [...asked, agent('Once'), user('And?')],
      undefined,
    ],
    [
      'not where it has answers that the session is without',
      [user('Hi')],
      [user('Hi')],
      [...asked, agent('Yes'), user('And?')],
      undefined,
    ],
  ])('continues a session %s', (_, stored, sent, given, repeated) => {
    const conversation = new ClientConversation(given, OWNER);
    const digest = digestOf(sent);
    const session = { digest, state: { ...newSessionState({}), ...state(stored) } };
    expect(conversation.repeatedIn(session)).toBe(repeated);
    if (repeated !== undefined) expect(conversation.candidates()).toContain(digest);
  });

  test('is looked for by its newest messages up to the last answer but one, and not by those of others', () => {
    const from = (count: number, owner = OWNER) => digestOf(many.slice(0, count), owner);
    const many = [...KNOWN.map(plain), ...Array.from({ length: 10 }, (_, index) => user(`${index}`))];
    const found = [12, 11, 10, 9, 8, 7, 6, 5, 2, 1].map((count) => from(count));
    expect(new ClientConversation(many, OWNER).candidates()).toEqual(found);
    for (const other of [
      { ...OWNER, keyId: 'other' },
      { ...OWNER, draft: true },
    ])
      expect(found).not.toContain(from(12, other));
  });

  test.each<[string, GivenMessage[]]>([
    ['everything', [...KNOWN.map(plain), agent(''), user('Bye')]],
    ['only what is new', [user('Bye')]],
  ])('is found again by the digest of the whole conversation, whether it sends %s', (_, given) => {
    for (const digest of [digestOf(KNOWN.map(plain)), null]) {
      const session = { digest, state: { ...newSessionState({}), ...state(KNOWN) } };
      const before = digest === null && given.length === 1 ? [] : KNOWN.map(plain);
      expect(newMessages(session, new ClientConversation(given, OWNER)).digest).toBe(
        digestOf([...before, user('Bye')]),
      );
    }
  });
});

function failureOf(work: () => unknown): CallwayError {
  try {
    work();
  } catch (error) {
    if (error instanceof CallwayError) return error;
    throw error;
  }
  throw new Error('it was not rejected');
}

/** As a client sends it back. */
function plain({ role, content, tool_calls, tool_call_id }: Stored): ExternalMessage {
  return {
    role,
    content,
    ...(tool_calls ? { tool_calls } : {}),
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
  };
}

describe('mayRepeatAll', () => {
  const given = (count: number) => Array.from({ length: count }, (_, index) => user(`${index}`));
  const needs = (stored: readonly Stored[], messagesBefore: number, messages: readonly GivenMessage[]) =>
    mayRepeatAll(
      { state: { ...newSessionState({}), ...state(stored), messagesBefore } },
      new ClientConversation(messages, OWNER),
    );

  test.each([
    ['all messages are known', given(3), 0, given(9), false],
    ['the request is shorter than what is known', given(3), 100, given(1), false],
    ['the request is as long as what is known', given(3), 100, given(3), true],
    [
      'clients may leave out what broke off',
      [{ ...agent('x'), interrupted: true }, user('y')],
      9,
      given(1),
      true,
    ],
  ])('%s', (_what, stored, before, messages, expected) => {
    expect(needs(stored, before, messages)).toBe(expected);
  });
});
