import { newAgentConfig } from '../../src/agents/agentConfig.ts';

/**
 * The measured route: `PATCH /v1/projects/{projectId}/agent`. It has everything that a JSON route of ours has (a key with a
 * scope, a rate limit, a validated body, domain code, a serialized answer) and needs the least of the database: one row
 * read, one written.
 */
export const PROJECT_ID = '01a1fc95-2719-735d-83a9-345a915fa800';
export const KEY = `sk_${'k'.repeat(43)}`;
export const BODY = {
  name: 'Mia',
  globalPrompt: 'You answer the phone of a dental clinic.',
  executionMode: 'smart',
};
export const ANSWER = { ...newAgentConfig('Clinic reception'), ...BODY };

/** Below the project's path. */
export const ROUTE = '/v1/projects/:projectId/agent';
