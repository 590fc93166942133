import type { Call, CallChange } from '../../../calls/call.ts';
import type { Parameter } from '../connection/database.ts';
import { fieldsOf } from '../sql/rows.ts';

type ColumnType = 'uuid' | 'text' | 'json' | 'integer' | 'smallint' | 'boolean' | 'timestamptz';

/** The types of a call's columns, which have the names of its fields in snake_case. */
const TYPES = {
  id: 'uuid',
  projectId: 'uuid',
  sessionId: 'text',
  instanceId: 'uuid',
  release: 'integer',
  direction: 'text',
  status: 'text',
  endReason: 'text',
  fromNumber: 'text',
  toNumber: 'text',
  trunkId: 'uuid',
  sipCallId: 'text',
  sip: 'json',
  q850Cause: 'smallint',
  settings: 'json',
  metadata: 'json',
  externalId: 'text',
  createdAt: 'timestamptz',
  notBefore: 'timestamptz',
  startedAt: 'timestamptz',
  answeredAt: 'timestamptz',
  endedAt: 'timestamptz',
  mediaQuality: 'json',
  recording: 'json',
  answeringMachine: 'text',
  supervision: 'json',
  nodeId: 'text',
  hangupRequested: 'boolean',
  transfer: 'json',
  isTest: 'boolean',
  priority: 'smallint',
  campaignId: 'uuid',
  contactId: 'uuid',
  disclosures: 'json',
} as const satisfies Record<keyof Call, ColumnType>;

/** A column, and its parameter in a call or in a change. */
interface CallColumn {
  readonly name: string;
  readonly column: string;
  readonly type: ColumnType;
  toParameter(call: Partial<Call> | CallChange): Parameter;
}

const columnsOf = (types: Readonly<Record<string, ColumnType>>): CallColumn[] =>
  Object.entries(types).map(([name, type]) => ({
    name,
    column: name === 'mediaQuality' ? 'figures' : name.replace(/[A-Z]/g, '_$&').toLowerCase(),
    type,
    toParameter(call) {
      const value = (call as Readonly<Record<string, unknown>>)[name] ?? null;
      return type === 'json' && value !== null ? JSON.stringify(value) : (value as Parameter);
    },
  }));

export const callColumns: readonly CallColumn[] = columnsOf(TYPES);

/** The columns that a change may set: those of a call, and those that are read separately. */
export const changeColumns: readonly CallColumn[] = columnsOf({
  ...TYPES,
  mediaSamples: 'json',
  legs: 'json',
});

export const callSelection = (): string =>
  callColumns.map(({ name, column }) => `${column} AS "${name}"`).join(', ');

export const callParameters = (call: Call): Parameter[] =>
  callColumns.map(({ toParameter }) => toParameter(call));

export function fromCallRow(row: object): Call {
  return fieldsOf<Call>(row);
}
