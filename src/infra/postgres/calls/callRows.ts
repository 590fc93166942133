import type { Call, CallChange } from '../../../calls/call.ts';
import type { Parameter } from '../connection/database.ts';
import { isoTime, isoTimeOrNull } from '../sql/rows.ts';

/** A row as the drivers return it: dates and parsed JSON. */
export interface CallRow {
  id: string;
  project_id: string;
  session_id: string;
  instance_id: string;
  direction: Call['direction'];
  status: Call['status'];
  end_reason: Call['endReason'];
  from_number: string;
  to_number: string;
  trunk_id: string | null;
  sip_call_id: string | null;
  sip: Call['sip'];
  q850_cause: number | null;
  settings: Call['settings'];
  metadata: Call['metadata'];
  external_id: string | null;
  created_at: Date;
  not_before: Date | null;
  started_at: Date | null;
  answered_at: Date | null;
  ended_at: Date | null;
  figures: Call['mediaQuality'];
  recording: Call['recording'];
  answering_machine: Call['answeringMachine'];
  supervision: Call['supervision'];
  node_id: string | null;
  hangup_requested: boolean;
  transfer: Call['transfer'];
  is_test: boolean;
}

/** The column of a field and its conversion. */
export interface CallColumn {
  readonly name: keyof Call;
  readonly column: keyof CallRow;
  readonly type: string;
  toParameter(call: Partial<Call>): Parameter;
}

const plain = (name: keyof Call, column: keyof CallRow, type: string): CallColumn => ({
  name,
  column,
  type,
  toParameter: (call) => (call[name] ?? null) as Parameter,
});
const json = (name: keyof Call, column: keyof CallRow): CallColumn => ({
  name,
  column,
  type: 'json',
  toParameter: (call) => (call[name] == null ? null : JSON.stringify(call[name])),
});

export const callColumns: readonly CallColumn[] = [
  plain('id', 'id', 'uuid'),
  plain('projectId', 'project_id', 'uuid'),
  plain('sessionId', 'session_id', 'text'),
  plain('instanceId', 'instance_id', 'uuid'),
  plain('direction', 'direction', 'text'),
  plain('status', 'status', 'text'),
  plain('endReason', 'end_reason', 'text'),
  plain('fromNumber', 'from_number', 'text'),
  plain('toNumber', 'to_number', 'text'),
  plain('trunkId', 'trunk_id', 'uuid'),
  plain('sipCallId', 'sip_call_id', 'text'),
  json('sip', 'sip'),
  plain('q850Cause', 'q850_cause', 'smallint'),
  json('settings', 'settings'),
  json('metadata', 'metadata'),
  plain('externalId', 'external_id', 'text'),
  plain('createdAt', 'created_at', 'timestamptz'),
  plain('notBefore', 'not_before', 'timestamptz'),
  plain('startedAt', 'started_at', 'timestamptz'),
  plain('answeredAt', 'answered_at', 'timestamptz'),
  plain('endedAt', 'ended_at', 'timestamptz'),
  json('mediaQuality', 'figures'),
  json('recording', 'recording'),
  plain('answeringMachine', 'answering_machine', 'text'),
  json('supervision', 'supervision'),
  plain('nodeId', 'node_id', 'text'),
  plain('hangupRequested', 'hangup_requested', 'boolean'),
  json('transfer', 'transfer'),
  plain('isTest', 'is_test', 'boolean'),
];

/** The columns that a change may set: those of a call, and those that are read separately. */
export const changeColumns: readonly {
  readonly name: keyof Call | keyof CallChange;
  readonly column: string;
  readonly type: string;
  toParameter(change: CallChange): Parameter;
}[] = [
  ...callColumns,
  {
    name: 'mediaSamples',
    column: 'media_samples',
    type: 'json',
    toParameter: ({ mediaSamples }) => (mediaSamples === undefined ? null : JSON.stringify(mediaSamples)),
  },
];

export const callSelection = (): string => callColumns.map(({ column }) => column).join(', ');

export const callParameters = (call: Call): Parameter[] =>
  callColumns.map(({ toParameter }) => toParameter(call));

export function fromCallRow(row: CallRow): Call {
  return {
    id: row.id,
    projectId: row.project_id,
    sessionId: row.session_id,
    instanceId: row.instance_id,
    direction: row.direction,
    status: row.status,
    endReason: row.end_reason,
    fromNumber: row.from_number,
    toNumber: row.to_number,
    trunkId: row.trunk_id,
    sipCallId: row.sip_call_id,
    sip: row.sip,
    q850Cause: row.q850_cause,
    settings: row.settings,
    metadata: row.metadata,
    externalId: row.external_id,
    createdAt: isoTime(row.created_at),
    notBefore: isoTimeOrNull(row.not_before),
    startedAt: isoTimeOrNull(row.started_at),
    answeredAt: isoTimeOrNull(row.answered_at),
    endedAt: isoTimeOrNull(row.ended_at),
    mediaQuality: row.figures,
    recording: row.recording,
    answeringMachine: row.answering_machine,
    supervision: row.supervision,
    nodeId: row.node_id,
    hangupRequested: row.hangup_requested,
    transfer: row.transfer,
    isTest: row.is_test,
  };
}
