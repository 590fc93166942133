import type { AgentConfig } from '../../../agents/agentConfig.ts';
import type { McpServer } from '../../../agents/mcp/mcpServer.ts';
import type { AgentRelease } from '../../../agents/releases/release.ts';
import type { HttpTool } from '../../../agents/tool.ts';
import type { Sealer } from '../../../base/sealer.ts';
import type { Call } from '../../../calls/call.ts';
import type { CallMedia } from '../../../calls/numbers/callMedia.ts';
import type { Alert } from '../../../results/alerts/alert.ts';
import { FINAL_STATUS_LIST } from '../calls/callRecovery.ts';
import type { Database, Parameter, Queryable } from '../connection/database.ts';
import { NUMBER_DIGEST_KEY } from './numberDigests.ts';
import { noteSealer } from './sealerFingerprint.ts';
import { createSecretFields, type SecretFields } from './secretFields.ts';

/** The error for a stored secret that none of the keys opens. */
export class UnreadableSecretError extends Error {
  constructor(table: string, key: readonly string[], cause: unknown) {
    super(`${table} ${key.join(' ')} contains a secret that none of the keys opens`, { cause });
    this.name = 'UnreadableSecretError';
  }
}

/** A table with secrets, and how a row is sealed again. */
interface SealedTable {
  readonly name: string;
  /** The columns of the primary key. */
  readonly key: readonly string[];
  /** Columns with secrets and their types. */
  readonly columns: readonly (readonly [name: string, type: 'text' | 'json' | 'jsonb'])[];
  /** The rows that have secrets, where most have none. */
  readonly where?: string;
  readonly resealRowValues: (secrets: SecretFields, row: never) => Readonly<Record<string, unknown>>;
}

const TABLES: readonly SealedTable[] = [
  {
    name: 'installation',
    key: ['name'],
    columns: [['value', 'text']],
    where: `name = '${NUMBER_DIGEST_KEY}'`,
    resealRowValues: (secrets, { value }: { value: string }) => ({ value: textAgain(secrets, value) }),
  },
  {
    name: 'trunks',
    key: ['id'],
    columns: [['password', 'text']],
    resealRowValues: (secrets, { password }: { password: string | null }) => ({
      password: textAgain(secrets, password),
    }),
  },
  {
    name: 'phone_numbers',
    key: ['id'],
    columns: [['media', 'jsonb']],
    where: `media->>'sealed' IS NOT NULL`,
    resealRowValues: (secrets, { media }: { media: CallMedia | null }) => ({
      media: mediaAgain(secrets, media),
    }),
  },
  {
    name: 'calls',
    key: ['id'],
    columns: [['settings', 'json']],
    // Of calls that have ended nothing is opened any more.
    where: `status NOT IN (${FINAL_STATUS_LIST}) AND settings->'media'->>'sealed' IS NOT NULL`,
    resealRowValues: (secrets, { settings }: Pick<Call, 'settings'>) => ({
      settings: { ...settings, media: mediaAgain(secrets, settings.media) },
    }),
  },
  {
    name: 'webhook_secrets',
    key: ['project_id'],
    columns: [
      ['secret', 'text'],
      ['previous', 'text'],
    ],
    resealRowValues: (secrets, row: { secret: string; previous: string | null }) => ({
      secret: textAgain(secrets, row.secret),
      previous: textAgain(secrets, row.previous),
    }),
  },
  {
    name: 'tools',
    key: ['id'],
    columns: [['http', 'jsonb']],
    where: 'http IS NOT NULL',
    resealRowValues: (secrets, { http }: Pick<HttpTool, 'http'>) => ({
      http: secrets.sealHttp(secrets.openHttp(http)),
    }),
  },
  {
    name: 'mcp_servers',
    key: ['id'],
    columns: [['headers', 'jsonb']],
    resealRowValues: (secrets, row: Pick<McpServer, 'headers'>) =>
      secrets.sealHeaders(secrets.openHeaders(row)),
  },
  {
    name: 'alerts',
    key: ['id'],
    columns: [['webhook', 'jsonb']],
    where: 'webhook IS NOT NULL',
    resealRowValues: (secrets, { webhook }: { webhook: NonNullable<Alert['webhook']> }) => ({
      webhook: secrets.sealHeaders(secrets.openHeaders(webhook)),
    }),
  },
  {
    name: 'provider_credentials',
    key: ['project_id', 'name'],
    columns: [['api_key', 'text']],
    resealRowValues: (secrets, row: { api_key: string }) => ({ api_key: textAgain(secrets, row.api_key) }),
  },
  {
    name: 'agents',
    key: ['project_id'],
    columns: [['config', 'jsonb']],
    resealRowValues: (secrets, { config }: { config: AgentConfig }) => ({
      config: secrets.sealAgent(secrets.openAgent(config)),
    }),
  },
  {
    name: 'agent_releases',
    key: ['project_id', 'id'],
    columns: [['release', 'json']],
    resealRowValues: (secrets, { release }: { release: AgentRelease }) => ({
      release: secrets.sealRelease(secrets.openRelease(release)),
    }),
  },
];

/**
 * Seals all stored secrets with the current key and then records its fingerprint. Nodes may run meanwhile if they
 * know both keys and seal with the current one. Can be repeated.
 *
 * @returns The number of rows.
 * @throws {UnreadableSecretError} The rows before it stay resealed; the fingerprint is not recorded.
 */
export async function resealSecrets(database: Database, sealer: Sealer): Promise<number> {
  const secrets = createSecretFields(sealer);
  let rows = 0;
  for (const table of TABLES) {
    const keys = await database.query<Record<string, string>>(
      `SELECT ${table.key.join(', ')} FROM ${table.name} WHERE ${table.where ?? 'true'} ORDER BY ${table.key.join(', ')}`,
    );
    for (const key of keys) {
      const values = table.key.map((column) => key[column] ?? '');
      await database.transaction((transaction) => resealRow(transaction, secrets, table, values));
    }
    rows += keys.length;
  }
  await noteSealer(database, sealer);
  return rows;
}

async function resealRow(
  transaction: Queryable,
  secrets: SecretFields,
  table: SealedTable,
  key: readonly string[],
): Promise<void> {
  const { name, columns } = table;
  const where = table.key.map((column, index) => `${column} = $${index + 1}`).join(' AND ');
  const list = columns.map(([column]) => column).join(', ');
  // Locks the row, so that no concurrent change is lost.
  const [row] = await transaction.query<never>(`SELECT ${list} FROM ${name} WHERE ${where} FOR UPDATE`, [
    ...key,
  ]);
  if (row === undefined) return;
  const sealed = attempt(table, key, () => table.resealRowValues(secrets, row));
  const set = columns.map(([column, type], index) => `${column} = $${key.length + index + 1}::${type}`);
  const values = columns.map(([column]) => toParameter(sealed[column]));
  await transaction.query(`UPDATE ${name} SET ${set.join(', ')} WHERE ${where}`, [...key, ...values]);
}

function attempt<Result>({ name }: SealedTable, key: readonly string[], work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new UnreadableSecretError(name, key, error);
  }
}

function textAgain(secrets: SecretFields, sealed: string | null): string | null {
  return sealed === null ? null : secrets.seal(secrets.open(sealed));
}

function mediaAgain(secrets: SecretFields, media: CallMedia | null): CallMedia | null {
  return media?.sealed === undefined ? media : { ...media, sealed: secrets.seal(secrets.open(media.sealed)) };
}

function toParameter(value: unknown): Parameter {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
