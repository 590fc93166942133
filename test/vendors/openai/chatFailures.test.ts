import { describe, expect, it } from 'vitest';
import type { ModelError } from '../../../src/models/ports/modelError.ts';
import { type Answer, chunk, done, failing } from '../../support/scriptedUpstream.ts';
import { forever, KEY, QUESTION, useChatRig } from './support/chatRig.ts';

const rig = useChatRig();
const { ask, failureOf } = rig;

describe('Chat failure before the first token', () => {
  it.each<[string, Answer, Partial<ModelError>]>([
    ['a wrong key', failing(401, `Incorrect API key: ${KEY}`), { code: 'model_rejected', retryable: false }],
    ['an unknown model', failing(404, 'no such model'), { code: 'model_rejected', retryable: false }],
    ['a server error', failing(500, 'oops'), { code: 'model_unavailable', retryable: true }],
    ['an overload', failing(503, 'busy'), { code: 'model_unavailable', retryable: true }],
    [
      'too many requests',
      { ...failing(429, 'slow down'), headers: { 'retry-after': '7' } },
      { code: 'model_unavailable', retryable: true, retryAfterSeconds: 7 },
    ],
    [
      'too many requests, in milliseconds',
      { ...failing(429, 'slow down'), headers: { 'retry-after-ms': '250' } },
      { code: 'model_unavailable', retryable: true, retryAfterSeconds: 0.25 },
    ],
    [
      'an account that is used up',
      failing(429, 'pay', 'insufficient_quota'),
      { code: 'model_unavailable', retryable: false },
    ],
    ['a reset', { instead: 'reset' }, { code: 'model_unavailable', retryable: true }],
    [
      'a stream that is cut',
      { steps: [{ waitMs: 10 }, 'reset'] },
      { code: 'model_unavailable', retryable: true },
    ],
    ['an empty stream', { steps: [] }, { code: 'model_malformed', retryable: true }],
    ['an empty document', { json: {} }, { code: 'model_malformed', retryable: true }],
    ['a stream of nothing', { steps: [done] }, { code: 'model_malformed', retryable: true }],
    [
      'broken JSON',
      { steps: [{ send: 'data: {"choices"\n\n' }] },
      { code: 'model_malformed', retryable: true },
    ],
    [
      'a finish that is an error',
      { steps: [chunk({ content: '' }, 'error'), done] },
      { code: 'model_unavailable', retryable: true },
    ],
    ['a page', { steps: [{ send: '<html></html>' }] }, { code: 'model_malformed', retryable: true }],
    [
      'an error in the stream',
      { steps: [{ chunk: { error: { message: 'overloaded', code: 503 } } }] },
      { code: 'model_unavailable', retryable: true },
    ],
    [
      'a refusal in the stream',
      { steps: [{ chunk: { error: { message: 'too long', code: 400 } } }] },
      { code: 'model_rejected', retryable: false },
    ],
  ])('is mapped: %s', async (_, answer, expected) => {
    expect(await failureOf(answer)).toMatchObject({ ...expected, beforeFirstToken: true });
  });

  it('names the system’s error code when the connection is refused', async () => {
    await rig.upstream.close();
    const error = await failureOf({});
    expect(error).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(error.message).toContain('ECONNREFUSED');
  });
});

describe('Chat failure after the first token', () => {
  it.each<[string, Answer, Partial<ModelError>]>([
    [
      'a reset',
      { steps: [chunk({ content: 'Hi' }), { waitMs: 50 }, 'reset'] },
      { code: 'model_unavailable' },
    ],
    ['a stream that stops', { steps: [chunk({ content: 'Hi' })] }, { code: 'model_malformed' }],
    [
      'broken JSON',
      { steps: [chunk({ content: 'Hi' }), { send: 'data: {\n\n' }] },
      { code: 'model_malformed' },
    ],
    [
      'an error',
      { steps: [chunk({ content: 'Hi' }), { chunk: { error: 'gone' } }] },
      { code: 'model_unavailable' },
    ],
  ])('is thrown after the text: %s', async (_, answer, expected) => {
    rig.upstream.answerWith(answer);
    const texts: string[] = [];
    const read = async () => {
      for await (const event of rig.model.stream(QUESTION, forever))
        if (event.type === 'text') texts.push(event.text);
    };
    await expect(read()).rejects.toMatchObject({ ...expected, beforeFirstToken: false });
    expect(texts).toEqual(['Hi']);
  });
});

describe('API key in an error', () => {
  it.each<[string, Answer]>([
    ['a refusal', failing(400, `stream_options with ${KEY}`)],
    ['a forbidden model', failing(403, `Key ${KEY} may not`)],
    [
      'an error in the stream',
      { steps: [{ chunk: { error: { message: `Bearer ${KEY} failed`, code: 400 } } }] },
    ],
  ])('is redacted from %s', async (_, answer) => {
    const error = await failureOf(answer);
    const shown = JSON.stringify([error.message, error.stack, String(error.cause), { ...error }]);
    expect(error.message).toContain('[redacted]');
    expect(shown).not.toContain(KEY);
  });
});

describe('Chat abort', () => {
  it('before the request sends none', async () => {
    await expect(ask({}, AbortSignal.abort('gone'))).rejects.toBe('gone');
    expect(rig.upstream.requests).toHaveLength(0);
  });

  it.each<[string, Answer]>([
    ['before the response', { instead: 'hang' }],
    ['in the middle of it', { steps: [chunk({ content: 'Hi' }), 'hang'] }],
  ])('%s rejects the read with its reason and ends the request', async (_, answer) => {
    rig.upstream.answerWith(answer);
    const aborting = new AbortController();
    const asked = ask({}, aborting.signal).catch((error: unknown) => error);
    while (rig.upstream.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const reason = new Error('the caller hung up');
    aborting.abort(reason);
    expect(await asked).toBe(reason);
    expect(await rig.upstream.requests[0]?.outcome).toBe('client_left');
  });
});
