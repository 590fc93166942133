import { describe, expect, test } from 'vitest';

import { draftSession } from '../../src/engine/session/session.ts';
import { PROJECT } from '../support/memoryEngine.ts';
import { GREETING, nodeWith } from '../voice/support/simulatedCall.ts';
import { textCall } from './support/textCall.ts';

const LONG = { text: ['Life is a complex set of things. ', 'It has many parts.'] };
type TextCall = Awaited<ReturnType<typeof textCall>>;

/** Longer than any answer here takes to be spoken. */
const SPOKEN_MS = 6000;

describe('A conversation of text turns', () => {
  test('sends the words while they are written, and stores both sides', async () => {
    const call = await textCall({ answer: (index) => (index === 0 ? GREETING : LONG) });
    expect(call.parts.at(-1)).toEqual({ text: '', isLast: true, language: undefined, interruptible: true });
    expect(call.spoken()).toBe('Hello there. How can I help you?');
    await call.advance(SPOKEN_MS);
    await call.says('Tell me about life.', 'en-GB');
    expect(call.parts.length).toBeGreaterThan(2);
    expect(call.parts.slice(0, -1)).toEqual(
      call.parts.slice(0, -1).map((part) => ({ ...part, isLast: false, language: 'en-GB' })),
    );
    expect(call.spoken()).toBe('Life is a complex set of things. It has many parts.');
    await call.advance(SPOKEN_MS);
    await call.hangUp();
    expect(call.log).toEqual([
      `looked for ${PROJECT} s`,
      'text session started',
      'agent turn spoken',
      'agent turn spoken',
      'text session ended',
      `detached ${PROJECT} s`,
    ]);
    expect(call.transcript()).toEqual([
      'assistant: Hello there. How can I help you?',
      'user: Tell me about life.',
      'assistant: Life is a complex set of things. It has many parts.',
    ]);
    const [, said, answered] = call.memory.records.flatMap(({ messages }) => messages);
    expect(said?.speech).toEqual({ recognition: 'gateway' });
    expect(answered).toMatchObject({ speech: { synthesis: 'gateway' }, heard: 'estimated' });
  });

  test('gives no signs for sounds to the model', async () => {
    const call = await textCall({ answer: (index) => (index === 0 ? GREETING : LONG) });
    await call.advance(SPOKEN_MS);
    for (const sign of ['.', '♪', '[BLANK_AUDIO]', '(upbeat music)']) await call.says(sign);
    expect(call.model.requests).toHaveLength(1);
    await call.says('A table, please.');
    expect(call.model.requests).toHaveLength(2);
    await call.hangUp();
    expect(call.transcript()[1]).toBe('user: A table, please.');
  });

  test('leaves Markdown out', async () => {
    const call = await textCall({
      answer: () => ({ text: ['**Hel', 'lo** [the', 're](https://x.example/)', '.'] }),
    });
    expect(call.spoken().trim()).toBe('Hello there.');
  });

  test('takes what the gateway has played as heard', async () => {
    const call = await textCall({ answer: () => GREETING });
    await call.gateway('played', { text: 'Hello there.' });
    await call.gateway('played', { text: 'How can I help you?' });
    expect(call.transcript()).toEqual(['assistant: Hello there. How can I help you?']);
    const [spoken] = call.memory.records.flatMap(({ messages }) => messages);
    expect(spoken).toHaveProperty('heard', undefined);
    await call.hangUp();
  });

  test('goes on where a stream before it was lost', async () => {
    const draft = draftSession(
      { projectId: PROJECT, sessionId: 's', channel: 'web' },
      '2026-01-01T00:00:00.000Z',
    );
    const opening = {
      ...draft,
      instanceId: 'i-1',
      releaseId: 'release-1',
      state: { ...draft.state, currentNodeId: 'start' },
    };
    const call = await textCall({ answer: () => GREETING, opening });
    expect([call.spoken().trim(), call.model.requests]).toEqual([
      'Sorry, I lost you for a moment. Please go on.',
      [],
    ]);
    await call.advance(SPOKEN_MS);
    await call.says('Yes.');
    expect(call.spoken()).toContain('How can I help you?');
    await call.hangUp();
  });

  test('sends the agent’s digits to the gateway', async () => {
    const call = await textCall({
      answer: (index) =>
        index === 0 ? { calls: [{ name: 'send_dtmf', arguments: { digits: '12#' } }] } : GREETING,
      pathway: nodeWith({ tools: ['send_dtmf'] }),
    });
    await call.advance(SPOKEN_MS);
    expect(call.sent).toEqual([['digits', '12#']]);
    await call.hangUp();
  });

  test('has the gateway’s parameters as variables, which the request for the stream goes before', async () => {
    const opening = {
      ...draftSession(
        { projectId: PROJECT, sessionId: 's', channel: 'web', variables: { name: 'Ada' } },
        '2026-01-01T00:00:00.000Z',
      ),
      instanceId: 'i-1',
      releaseId: 'release-1',
    };
    const call = await textCall({
      answer: () => GREETING,
      opening,
      customParameters: { name: 'Bob', order: '7' },
    });
    await call.advance(SPOKEN_MS);
    expect(call.memory.session().state.variables).toMatchObject({ name: 'Ada', order: '7' });
    await call.hangUp();
  });

  test('tells live what is recognized so far', async () => {
    const call = await textCall({ answer: () => GREETING });
    await call.gateway('words', { text: 'Tell', language: undefined, isFinal: false });
    expect(call.memory.liveEvents).toContainEqual(
      expect.objectContaining({ type: 'transcript.interim', data: { text: 'Tell' } }),
    );
    expect(call.model.requests).toHaveLength(1);
    await call.hangUp();
  });
});

describe('An interruption', () => {
  test.each([
    ['as the gateway reports it', 'Life is a complex set of', 'Life is a complex set of'],
    ['of a later part', 'things It has', 'Life is a complex set of things. It has'],
  ])('leaves in the history what was heard, %s', async (_of, heard, expected) => {
    const call = await textCall({ answer: (index) => (index === 1 ? LONG : GREETING) });
    await call.advance(SPOKEN_MS);
    await call.says('Tell me about life.');
    await call.advance(1000);
    await call.gateway('interrupted', { heard, heardMs: 460 });
    await call.says('Stop.');
    await call.advance(SPOKEN_MS);
    await call.hangUp();
    expect(call.transcript().slice(1, 4)).toEqual([
      'user: Tell me about life.',
      `assistant: ${expected}`,
      'user: Stop.',
    ]);
    expect(call.memory.events()).toContainEqual(
      expect.objectContaining({ type: 'barge_in', data: { heardText: expected, heardMs: 460 } }),
    );
  });

  test('aborts an answer that is still being written', async () => {
    const call = await textCall({ answer: (index) => (index === 0 ? { ...LONG, hang: true } : GREETING) });
    await call.gateway('interrupted', { heard: 'Life is', heardMs: 200 });
    expect(call.model.abortedRequests()).toBe(1);
    await call.hangUp();
    expect(call.transcript()).toEqual(['assistant: Life is']);
  });

  test('before anything was heard undoes the answer, and the next words continue the question', async () => {
    const call = await textCall({ answer: (index) => (index === 1 ? LONG : GREETING) });
    await call.advance(SPOKEN_MS);
    await call.says('I would like');
    await call.gateway('interrupted', { heard: '', heardMs: 0 });
    await call.says('a table.');
    await call.advance(SPOKEN_MS);
    await call.hangUp();
    expect(call.transcript()[1]).toBe('user: I would like a table.');
    expect(call.transcript()).toHaveLength(3);
  });

  test('that no words follow leads to the answer after all', async () => {
    const call = await textCall({ answer: (index) => (index === 0 ? GREETING : LONG) });
    await call.advance(SPOKEN_MS);
    await call.says('Tell me.');
    await call.gateway('interrupted', { heard: '', heardMs: 0 });
    call.spoken();
    await call.advance(2200);
    expect(call.spoken()).toContain('Life is');
    await call.hangUp();
  });

  test('before anything was heard waits for a caller who goes on speaking', async () => {
    const call = await textCall({ answer: (index) => (index === 0 ? GREETING : LONG) });
    await call.advance(SPOKEN_MS);
    await call.says('I would like');
    await call.gateway('interrupted', { heard: '', heardMs: 0 });
    await call.advance(1500);
    await call.gateway('words', { text: 'a', language: undefined, isFinal: false });
    await call.advance(1500);
    await call.says('a table.');
    await call.advance(SPOKEN_MS);
    await call.hangUp();
    expect(call.transcript()[1]).toBe('user: I would like a table.');
  });

  test('is not offered where the node forbids it', async () => {
    const call = await textCall({
      answer: () => GREETING,
      pathway: nodeWith({ interruption: 'off' }),
    });
    expect(call.parts.every(({ interruptible }) => !interruptible)).toBe(true);
    await call.hangUp();
  });

  test('of a turn that is over changes nothing', async () => {
    const call = await textCall({ answer: () => GREETING });
    await call.advance(SPOKEN_MS);
    await call.says('Tell me.');
    await call.advance(SPOKEN_MS);
    await call.gateway('interrupted', { heard: '', heardMs: 0 });
    await call.advance(SPOKEN_MS);
    await call.hangUp();
    const greeting = 'assistant: Hello there. How can I help you?';
    expect(call.transcript()).toEqual([greeting, 'user: Tell me.', greeting]);
  });

  test('of the greeting before any of it was heard leaves a greeting without words', async () => {
    const call = await textCall({ answer: () => GREETING });
    await call.gateway('interrupted', { heard: ' ', heardMs: 0 });
    await call.advance(SPOKEN_MS);
    expect(call.model.requests).toHaveLength(1);
    await call.hangUp();
    expect(call.transcript()).toEqual(['assistant: ']);
  });
});

describe('Words of the caller', () => {
  test('while the answer to the words before is awaited are answered together with them', async () => {
    const call = await textCall({
      answer: (index) => (index === 1 ? { hang: true } : GREETING),
    });
    await call.advance(SPOKEN_MS);
    await call.says('I would like');
    await call.says('a table.');
    await call.advance(SPOKEN_MS);
    await call.hangUp();
    expect(call.transcript()[1]).toBe('user: I would like a table.');
  });

  test('while the answer is being written interrupt it', async () => {
    const call = await textCall({
      answer: (index) => (index === 1 ? { ...LONG, hang: true } : GREETING),
    });
    await call.advance(SPOKEN_MS);
    await call.says('Tell me about life.');
    await call.advance(1500);
    await call.says('Stop.');
    expect(call.model.abortedRequests()).toBe(1);
    await call.advance(SPOKEN_MS);
    await call.hangUp();
    expect(call.transcript().slice(1, 4)).toEqual([
      'user: Tell me about life.',
      'assistant: Life is',
      'user: Stop.',
    ]);
  });

  test('while an answer is written that its node protects wait for its end', async () => {
    const call = await textCall({
      answer: (index) => (index === 0 ? { ...LONG, hang: true } : GREETING),
      pathway: nodeWith({ interruption: 'off' }),
    });
    await call.says('Stop.');
    expect([call.model.abortedRequests(), call.model.requests.length]).toEqual([0, 1]);
    await call.hangUp();
  });

  test('that are empty are none', async () => {
    const call = await textCall({ answer: () => GREETING });
    await call.advance(SPOKEN_MS);
    await call.says(' ');
    expect(call.model.requests).toHaveLength(1);
    await call.hangUp();
  });

  test('after the gateway has fallen silent follow an answer that was heard', async () => {
    const call = await textCall({ answer: () => GREETING });
    await call.gateway('silent', {});
    expect(call.transcript()).toEqual(['assistant: Hello there. How can I help you?']);
    await call.hangUp();
  });

  test('after the end of the answer’s text mean that it was heard', async () => {
    const call = await textCall({ answer: () => GREETING });
    await call.says('A table, please.');
    expect(call.transcript()[0]).toBe('assistant: Hello there. How can I help you?');
    expect(call.model.requests).toHaveLength(2);
    await call.hangUp();
  });

  test('that no turn answers any more are stored', async () => {
    const call = await textCall({
      answer: (index) => (index === 1 ? { hang: true } : GREETING),
    });
    await call.advance(SPOKEN_MS);
    await call.says('I would like');
    await call.hangUp();
    expect(call.transcript().at(-1)).toBe('user: I would like');
  });
});

describe('DTMF digits', () => {
  test('are one entry until the inter-digit timeout', async () => {
    const call = await textCall({ answer: () => GREETING });
    await call.advance(SPOKEN_MS);
    await call.gateway('dtmf', { digit: '4' });
    await call.gateway('dtmf', { digit: '2' });
    expect(call.model.requests).toHaveLength(1);
    await call.advance(2600 + SPOKEN_MS);
    await call.hangUp();
    expect(call.transcript()).toContain('user: 42');
    // The latency of the answer counts from the last digit.
    const [, , answered] = call.memory.records.flatMap(({ messages }) => messages);
    expect(answered?.latencyMs).toBe(2500);
  });

  test('follow the words whose answer had not begun', async () => {
    const call = await textCall({ answer: (index) => (index === 1 ? { hang: true } : GREETING) });
    await call.advance(SPOKEN_MS);
    await call.says('I would like');
    await call.gateway('dtmf', { digit: '#' });
    await call.advance(SPOKEN_MS);
    await call.hangUp();
    expect(call.transcript().slice(1, 3)).toEqual(['user: I would like', 'user: #']);
    expect(call.transcript()).toHaveLength(4);
  });
});

describe('Silence', () => {
  test('is reprompted, and ends the session at last', async () => {
    const call = await textCall({
      answer: (index) => (index === 0 ? GREETING : { text: '' }),
      pathway: nodeWith({ silence: { afterMs: 3000, prompts: ['Hello?'], hangupAfter: 1 } }),
    });
    await call.advance(SPOKEN_MS);
    call.spoken();
    await call.advance(3000);
    expect(call.spoken()).toContain('Hello?');
    await call.advance(8000);
    expect(call.spoken()).toContain('Goodbye.');
    await call.advance(SPOKEN_MS);
    expect(call.sent).toContainEqual(['end', { reasonCode: 'hangup', sessionId: 's' }]);
    await call.hangUp();
  });
});

describe('The silence after a reprompt', () => {
  const pathway = nodeWith({ silence: { afterMs: 3000, prompts: ['Hello?'], hangupAfter: 1 } });

  test.each([
    ['words', async (call: TextCall) => await call.says('Wait.')],
    ['digits', async (call: TextCall) => await call.gateway('dtmf', { digit: '#' })],
  ])('is reprompted again where %s came between them', async (_what, answers) => {
    const call = await textCall({ answer: () => ({ text: 'Yes.' }), pathway });
    for (let n = 0; n < 2; n++) {
      await call.advance(5000);
      expect(call.spoken()).toContain('Hello?');
      await call.advance(1500);
      await answers(call);
    }
    await call.advance(1500);
    expect(call.sent).toEqual([]);
    await call.hangUp();
  });

  test.each([
    ['interim words', 'words', { text: 'Wait', language: undefined, isFinal: false }, 2900],
    ['digits', 'dtmf', { digit: '4' }, 2400],
  ] as const)('is none while %s come', async (_what, name, value, forMs) => {
    const call = await textCall({ answer: () => ({ text: 'Yes.' }), pathway });
    await call.advance(4000);
    call.spoken();
    await call.gateway(name, value);
    await call.advance(forMs);
    expect(call.spoken()).toBe('');
    await call.hangUp();
  });
});

describe('The end', () => {
  const builtIn = (name: string, args: object = {}) => ({
    text: 'Goodbye then.',
    calls: [{ name, arguments: args }],
  });

  test('comes once the last words were heard, and closes a gateway that does not', async () => {
    const call = await textCall({
      answer: () => builtIn('end_call'),
      pathway: nodeWith({ tools: ['end_call'] }),
    });
    expect(call.sent).toEqual([]);
    await call.advance(SPOKEN_MS);
    const end = ['end', { reasonCode: 'hangup', sessionId: 's' }];
    expect(call.sent).toEqual([end]);
    await call.says('Wait.');
    await call.gateway('dtmf', { digit: '#' });
    expect([call.sent, call.model.requests.length]).toEqual([[end], 1]);
    await call.advance(5000);
    expect(call.sent).toEqual([end, ['close', 1000]]);
    await call.served;
    expect(call.clock.pendingTimers()).toBe(0);
  });

  test('by a transfer names its target', async () => {
    const call = await textCall({
      answer: () => builtIn('transfer_call', { to: '+15551234567' }),
      agent: { transferTargets: ['+15551234567'] },
      pathway: nodeWith({ tools: ['transfer_call'] }),
    });
    await call.advance(SPOKEN_MS);
    expect(call.sent).toMatchObject([
      ['end', { reasonCode: 'transfer', to: '+15551234567', sessionId: 's' }],
    ]);
    await call.hangUp();
  });

  test('after turns that fail follows an apology', async () => {
    const call = await textCall({ answer: () => ({ fail: new Error('down') }) });
    await call.advance(2 * SPOKEN_MS);
    expect(call.spoken()).toContain('I am sorry');
    expect(call.sent).toEqual([['end', { reasonCode: 'error', sessionId: 's' }]]);
    await call.hangUp();
  });
});

test('An error of the gateway is an event of the history', async () => {
  const call = await textCall({ answer: () => GREETING });
  await call.gateway('fault', { message: 'Invalid message received' });
  expect(call.historyEvents).toMatchObject([
    { type: 'error', data: { code: 'stream_error', message: 'Invalid message received' } },
  ]);
  await call.hangUp();
});

test('A turn that is being spoken can be recovered by another node', async () => {
  const call = await textCall({ answer: () => GREETING });
  await call.gateway('played', { text: 'Hello there.' });
  await call.advance(200);
  expect(call.checkpoints).toMatchObject([{ nodeId: 'start', heard: 'Hello there.' }]);
  await call.hangUp();
  expect(call.checkpoints).toEqual([]);
});

test('A text session leaves no timer', async () => {
  const call = await textCall({
    answer: (index) => (index === 0 ? GREETING : { calls: [{ name: 'end_call', arguments: {} }] }),
    pathway: nodeWith({ tools: ['end_call'] }),
  });
  await call.advance(SPOKEN_MS);
  await call.says('Goodbye.');
  await call.advance(SPOKEN_MS);
  // Too late: the session has ended.
  await call.gateway('interrupted', { heard: '', heardMs: 0 });
  await call.hangUp();
  expect(call.clock.pendingTimers()).toBe(0);
  expect(call.transcript().filter((message) => message.startsWith('user'))).toEqual(['user: Goodbye.']);
});
