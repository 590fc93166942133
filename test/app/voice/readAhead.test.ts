import { expect, test } from 'vitest';
import type { ProviderCredentialStore } from '../../../src/agents/speech/providerCredentials.ts';
import { readerAhead, takeReadAhead } from '../../../src/app/voice/readAhead.ts';
import { createSealer } from '../../../src/base/sealer.ts';
import type { ConversationEngine } from '../../../src/engine/conversationEngine.ts';
import type { Session } from '../../../src/engine/session/session.ts';
import { unused } from '../../support/unused.ts';

const sealer = createSealer(new Uint8Array(32).fill(1));
const session = { projectId: 'p', releaseId: 'r' } as Session;
const release = { agent: { name: 'Ann' } };
const credentials = [{ name: 'openai', apiKey: 'secret', baseUrl: null }];

function reader(all: () => Promise<unknown>) {
  const errors: unknown[] = [];
  const stores = {
    providerCredentials: unused<ProviderCredentialStore>('providerCredentials', { all: all as never }),
  };
  const engine = unused<ConversationEngine>('engine', { releaseOf: async () => release as never });
  const onError = (error: unknown) => void errors.push(error);
  return { read: readerAhead({ storage: { stores }, sealer, onError }, engine), errors };
}

test('What was read before the answer is known to the voice thread, and sealed on its way', async () => {
  const { read } = reader(async () => credentials);
  const readAhead = await read('p', Promise.resolve(session));
  expect(readAhead).toMatch(/^[^{}]+$/);
  expect(readAhead).not.toContain('secret');
  const known: unknown[] = [];
  const thread = { sealer, credentials: { prime: (...what: unknown[]) => void known.push(what) } as never };
  const engine = unused<ConversationEngine>('engine', { knowRelease: (...what) => void known.push(what) });
  takeReadAhead(thread, engine, { projectId: 'p', opening: { session, readAhead } });
  expect(known).toEqual([
    [session, release],
    ['p', credentials],
  ]);
  takeReadAhead(thread, engine, { projectId: 'p', opening: { session, readAhead: undefined } });
  expect(known).toHaveLength(2);
});

test('A database that fails leaves the reading to the voice thread', async () => {
  const { read, errors } = reader(() => Promise.reject(new Error('The database is away')));
  expect(await read('p', Promise.resolve(session))).toBeUndefined();
  expect(errors).toHaveLength(1);
  const { read: readOther, errors: others } = reader(async () => []);
  for (const starting of [Promise.resolve(undefined), Promise.reject(new Error('The session is away'))])
    expect(await readOther('p', starting)).toBeUndefined();
  expect(others).toEqual([]);
});
