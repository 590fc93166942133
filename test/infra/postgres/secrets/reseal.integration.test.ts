import { describe, expect, test } from 'vitest';

import { newAgentConfig } from '../../../../src/agents/agentConfig.ts';
import { NOT_LISTED } from '../../../../src/agents/mcp/mcpServer.ts';
import { starterPathway } from '../../../../src/agents/pathway/schema/starterPathway.ts';
import { createSealer } from '../../../../src/base/sealer.ts';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { phoneNumberInput } from '../../../../src/calls/numbers/phoneNumber.ts';
import { trunkInput } from '../../../../src/calls/trunks/trunk.ts';
import { resealSecrets, UnreadableSecretError } from '../../../../src/infra/postgres/secrets/reseal.ts';
import {
  requireSameSealer,
  WrongSecretsKeyError,
} from '../../../../src/infra/postgres/secrets/sealerFingerprint.ts';
import { createStorage } from '../../../../src/infra/postgres/storage.ts';
import { alertInput } from '../../../../src/results/alerts/alert.ts';
import { useDatabase } from '../support/databases.ts';

const AT = '2026-01-01T00:00:00.000Z';
const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const headers = [{ key: 'authorization', value: 'Bearer of bad news' }];
const postSessionWebhook = { url: 'https://example.com/', events: ['session.ended' as const], headers };

describe('Stored secrets', () => {
  const opened = useDatabase();

  test('are resealed with the next key in all tables', async () => {
    const { database } = opened;
    const projectId = uuidV7();
    const [toolId, trunkId] = [uuidV7(), uuidV7()];
    const written = createStorage(database, createSealer(OLD)).stores;
    const project = { name: 'P', sessionIdleMinutes: 30, historyRetentionDays: 30, reportUsage: false };
    await requireSameSealer(database, createSealer(OLD));
    await written.projects.insert({ id: projectId, ...project, createdAt: AT, updatedAt: AT });
    const http = { method: 'GET', url: 'https://example.com/', headers, timeoutMs: 100 } as const;
    const tool = {
      id: toolId,
      name: 't',
      description: '',
      parameters: {},
      http,
      createdAt: AT,
      updatedAt: AT,
    };
    await written.tools.insert(projectId, { ...tool, http: { ...http, headers: [...headers] } });
    const server = {
      id: uuidV7(),
      name: 's',
      url: 'https://example.com/',
      timeoutMs: 100,
      listing: NOT_LISTED,
    };
    await written.mcpServers.insert(projectId, {
      ...server,
      headers: [...headers],
      createdAt: AT,
      updatedAt: AT,
    });
    const alert = {
      ...alertInput.parse({ name: 'a', metric: 'error', windowMinutes: 5, above: 0 }),
      webhook: { url: 'https://example.com/', headers: [...headers] },
      id: uuidV7(),
      projectId,
      state: 'ok' as const,
      since: AT,
      lastValue: null,
      calmLooks: 0,
      createdAt: AT,
      updatedAt: AT,
    };
    await written.alerts.insert(alert);
    const { http: _http, ...rest } = tool;
    const mcp = { serverId: server.id, name: 'x', available: true };
    await written.tools.insert(projectId, { ...rest, id: uuidV7(), name: 'x', mcp });
    const input = trunkInput.parse({ name: 't', host: 'h', username: 'u', password: 'trunk word' });
    await written.trunks.insert(projectId, trunkId, input, AT);
    await written.trunks.insert(projectId, uuidV7(), trunkInput.parse({ name: 'open', host: 'h' }), AT);
    await written.webhookSecrets.insert(projectId, 'whsec_one', AT);
    await written.webhookSecrets.rotate(projectId, 'whsec_two', AT);
    const credentials = { name: 'openai', apiKey: 'provider word', baseUrl: null, updatedAt: AT } as const;
    await written.providerCredentials.put(projectId, credentials);
    const { seal } = createSealer(OLD);
    const media = { url: 'wss://bot.example/', dialect: 'vonage', sealed: seal('bot word') } as const;
    const number = { ...phoneNumberInput.parse({ number: '+886223456789' }), media, verified: true };
    await written.phoneNumbers.insert(projectId, uuidV7(), number, AT);
    const agent = { ...newAgentConfig('A'), postSessionWebhook };
    const release = {
      agent,
      tools: [],
      pathway: starterPathway(),
      pathwayId: uuidV7(),
      pathwayVersion: 1,
    } as unknown as Parameters<typeof written.releases.keep>[1];
    await written.agents.insert(projectId, { config: agent, live: null });
    const releaseId = await written.releases.keep(projectId, release);

    const turning = createSealer(NEW, [OLD]);
    await requireSameSealer(database, turning);
    expect(await resealSecrets(database, turning)).toBe(10);
    expect(await resealSecrets(database, turning)).toBe(10);

    await expect(requireSameSealer(database, createSealer(OLD))).rejects.toBeInstanceOf(WrongSecretsKeyError);
    await requireSameSealer(database, createSealer(NEW));
    const read = createStorage(database, createSealer(NEW)).stores;
    expect(await read.tools.find(projectId, toolId)).toMatchObject({ http: { headers } });
    expect((await read.mcpServers.find(projectId, server.id))?.headers).toEqual(headers);
    expect((await read.alerts.find(projectId, alert.id))?.webhook?.headers).toEqual(headers);
    expect((await read.trunks.list(projectId, { limit: 9, offset: 0 })).items).toMatchObject([
      { password: 'trunk word' },
      { password: null },
    ]);
    expect(await read.webhookSecrets.find(projectId)).toMatchObject({
      secret: 'whsec_two',
      previous: 'whsec_one',
    });
    expect(await read.providerCredentials.all(projectId)).toEqual([credentials]);
    const [{ media: resealed } = { media: null }] = (
      await read.phoneNumbers.list(projectId, { limit: 1, offset: 0 })
    ).items;
    expect(createSealer(NEW).open(resealed?.sealed ?? '')).toBe('bot word');
    const kept = await read.agents.find(projectId);
    expect(kept?.config.postSessionWebhook).toEqual(postSessionWebhook);
    expect((await read.releases.find(projectId, releaseId))?.agent.postSessionWebhook).toEqual(
      postSessionWebhook,
    );
  });

  test('that no key opens are reported, and no new key is recorded', async () => {
    const { database } = opened;
    const lost = createSealer(Buffer.alloc(32, 9));
    await expect(resealSecrets(database, lost)).rejects.toThrow(UnreadableSecretError);
    await expect(resealSecrets(database, lost)).rejects.toThrow(/^trunks [0-9a-f-]{36} contains a secret/);
    await expect(requireSameSealer(database, lost)).rejects.toBeInstanceOf(WrongSecretsKeyError);
  });

  test('of a project’s providers go with the project', async () => {
    const { database } = opened;
    await database.query('DELETE FROM projects');
    expect(await database.query('SELECT FROM provider_credentials')).toEqual([]);
  });
});
