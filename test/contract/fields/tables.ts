import { AGENTS_FIELDS } from './agents.ts';
import { CALLS_FIELDS } from './calls.ts';
import { CAMPAIGNS_FIELDS } from './campaigns.ts';
import type { FieldTable } from './fieldTable.ts';
import { KNOWLEDGE_FIELDS } from './knowledge.ts';
import { PROJECTS_FIELDS } from './projects.ts';
import { RESULTS_FIELDS } from './results.ts';
import { SESSIONS_FIELDS } from './sessions.ts';
import { TESTS_FIELDS } from './tests.ts';
import { WEBHOOKS_FIELDS } from './webhooks.ts';

/** The tables of all resources. */
export const TABLES: readonly FieldTable[] = [
  ...AGENTS_FIELDS,
  ...TESTS_FIELDS,
  ...SESSIONS_FIELDS,
  ...KNOWLEDGE_FIELDS,
  ...PROJECTS_FIELDS,
  ...CALLS_FIELDS,
  ...CAMPAIGNS_FIELDS,
  ...RESULTS_FIELDS,
  ...WEBHOOKS_FIELDS,
];
