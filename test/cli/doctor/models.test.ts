import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { configuredModels } from '../../../src/app/settings/configuredModels.ts';
import { checkModels } from '../../../src/cli/doctor/models.ts';
import type { EndpointAnswer } from '../../../src/vendors/openai/probe.ts';

const refusing = () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' }));

describe('The models check', () => {
  const check = (environment: Record<string, string>, answer: EndpointAnswer) =>
    checkModels(loadConfig(environment), async () => answer);
  const key = { OPENAI_API_KEY: 'hidden' };
  const all = configuredModels(loadConfig(key)).map(({ model }) => model);

  it.each<{ title: string; answer: EndpointAnswer; status: string; says: string }>([
    { title: 'all there', answer: { kind: 'reached', models: all }, status: 'ok', says: `has ${all[0]},` },
    {
      title: 'no list',
      answer: { kind: 'reached', models: undefined },
      status: 'ok',
      says: 'does not list its models',
    },
    {
      title: 'one missing',
      answer: { kind: 'reached', models: all.slice(1) },
      status: 'warn',
      says: `does not have ${all[0]}`,
    },
    {
      title: 'a refused key',
      answer: { kind: 'refused', status: 401 },
      status: 'fail',
      says: 'refuses the key',
    },
    {
      title: 'a wrong address',
      answer: { kind: 'refused', status: 500 },
      status: 'fail',
      says: 'responds 500',
    },
  ])('reports $status with $title', async ({ answer, status, says }) => {
    const [finding] = await check(key, answer);
    expect(finding).toMatchObject({ status, message: expect.stringContaining(says) });
    expect(JSON.stringify(finding)).not.toContain('hidden');
  });

  it('sends no request when all models are local', async () => {
    const findings = await checkModels(loadConfig({}), () => Promise.reject(new Error('asked')));
    expect(findings).toMatchObject([{ name: 'speech recognition' }, { name: 'local models', status: 'ok' }]);
  });

  it.each([
    { title: 'without an endpoint', environment: {} },
    { title: 'by choice', environment: { ...key, STT_PROVIDER: 'local' } },
  ])('warns of offline recognition $title and says what to set', async ({ environment }) => {
    const findings = await check(environment, { kind: 'reached', models: all });
    expect(findings.find(({ name }) => name === 'speech recognition')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/offline.*expectedAnswers/),
      remedy: expect.stringMatching(/OPENAI_API_KEY.*OPENAI_BASE_URL.*STT_PROVIDER/),
    });
  });

  it('does not warn of the recognition of an endpoint', async () => {
    const findings = await check(key, { kind: 'reached', models: all });
    expect(findings.filter(({ name }) => name === 'speech recognition')).toEqual([]);
  });

  it('checks Anthropic and Google where they have a key, each in its own way', async () => {
    const asked: unknown[] = [];
    const models = { CHAT_MODEL_SMART: 'gemini-2', CHAT_MODEL_BALANCE: 'gemini-2', CHAT_MODEL_TURBO: 'gone' };
    const config = loadConfig({
      ANTHROPIC_API_KEY: 'a',
      GOOGLE_API_KEY: 'g',
      CHAT_PROVIDER: 'google',
      ...models,
    });
    const findings = await checkModels(config, async ({ baseUrl, apiKey, headers }) => {
      asked.push([baseUrl, apiKey, headers]);
      return { kind: 'reached', models: ['models/gemini-2'] };
    });
    expect(asked).toEqual([
      ['https://api.anthropic.com/v1', 'a', { 'anthropic-version': '2023-06-01', 'x-api-key': 'a' }],
      ['https://generativelanguage.googleapis.com/v1beta/openai', 'g', undefined],
    ]);
    expect(findings.filter(({ name }) => name.endsWith(' models') && name !== 'local models')).toMatchObject([
      { name: 'anthropic models', status: 'ok' },
      {
        name: 'google models',
        status: 'warn',
        message: expect.stringContaining('does not have gone'),
        remedy: expect.stringContaining('CHAT_MODEL_TURBO'),
      },
    ]);
  });

  it('checks a separate embeddings endpoint', async () => {
    const asked: unknown[] = [];
    const models = { STT_MODEL: 'm', TTS_MODEL: 'm' };
    const config = loadConfig({ ...key, ...models, EMBEDDING_BASE_URL: 'http://vectors.test/v1' });
    const findings = await checkModels(config, async ({ baseUrl, apiKey }) => {
      asked.push({ baseUrl, apiKey });
      return { kind: 'reached', models: undefined };
    });
    expect(findings.map(({ name }) => name)).toEqual(['models', 'embeddings']);
    expect(asked).toEqual([
      { baseUrl: 'https://api.openai.com/v1', apiKey: 'hidden' },
      { baseUrl: 'http://vectors.test/v1', apiKey: 'hidden' },
    ]);
  });

  it.each([
    ['2026-07-20', undefined],
    ['2026-07-26', 'gpt-4.1-nano (CHAT_MODEL_TURBO) ends at its vendor on 2026-10-23'],
    ['2026-10-23', 'gpt-4.1-nano (CHAT_MODEL_TURBO) ended at its vendor on 2026-10-23'],
  ])('tells on %s of a model that ends: %s', async (today, message) => {
    const config = loadConfig({ ...key, CHAT_MODEL_TURBO: 'gpt-4.1-nano', STT_MODEL: 'm', TTS_MODEL: 'm' });
    const answer = async (): Promise<EndpointAnswer> => ({ kind: 'reached', models: undefined });
    const findings = await checkModels(config, answer, Date.parse(today));
    expect(findings.find(({ status }) => status === 'warn')?.message).toBe(message);
  });

  it('checks separate endpoints of speech', async () => {
    const asked: unknown[] = [];
    const config = loadConfig({
      ...key,
      STT_BASE_URL: 'http://stt.test/v1',
      TTS_BASE_URL: 'http://tts.test/v1',
    });
    const findings = await checkModels(config, async ({ baseUrl, apiKey }) => {
      asked.push([baseUrl, apiKey]);
      return { kind: 'reached', models: undefined };
    });
    expect(asked).toContainEqual(['http://stt.test/v1', undefined]);
    expect(findings).toMatchObject([
      { name: 'models', status: 'ok' },
      { name: 'recognition models', status: 'ok' },
      { name: 'synthesis models', status: 'ok' },
    ]);
  });

  it('names the setting of an unreachable endpoint', async () => {
    const [finding] = await checkModels(loadConfig(key), refusing);
    expect(finding).toMatchObject({ status: 'fail', remedy: expect.stringContaining('OPENAI_BASE_URL') });
  });
});
