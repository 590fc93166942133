import { formatLatency } from '../../formats.ts';
import { textsIn } from '../../texts.ts';
import { endReasonWithCode } from '../calls/endReason.ts';
import { statusText } from '../calls/StatusBadge.tsx';
import { type HistoryEvent, numberOf, textOf } from './model/callTimeline.ts';

const texts = textsIn({
  en: {
    session_started: 'Session started',
    node_entered: 'Node',
    variable_set: 'Variable',
    tool_called: 'Tool called',
    tool_result: 'Tool answered',
    knowledge_used: 'Documents searched',
    barge_in: 'Caller interrupted',
    dtmf: 'Keys',
    silence: 'Silence',
    call_status: 'Call',
    answering_machine: 'Answering machine',
    transfer: 'Transfer',
    supervision: 'Supervisor',
    participant: 'Participant',
    recording: 'Recording',
    provider_fallback: 'Provider fallback',
    webhook_sent: 'Webhook sent',
    error: 'Error',
    session_ended: 'Session ended',
  },
  'zh-TW': {
    session_started: '工作階段開始',
    node_entered: '節點',
    variable_set: '變數',
    tool_called: '呼叫工具',
    tool_result: '工具回應',
    knowledge_used: '檢索文件',
    barge_in: '來電者插話',
    dtmf: '按鍵',
    silence: '靜默',
    call_status: '通話',
    answering_machine: '答錄機',
    transfer: '轉接',
    supervision: '督導',
    participant: '參與者',
    recording: '錄音',
    provider_fallback: '改用備援供應商',
    webhook_sent: '已送出 Webhook',
    error: '錯誤',
    session_ended: '工作階段結束',
  },
});

/** The kind of an event, in words. */
export function kindOfEvent({ type }: HistoryEvent): string {
  return (texts as Readonly<Record<string, string>>)[type] ?? type;
}

/** What an event says beside its kind. */
export function eventDetail({ type, data }: HistoryEvent): string {
  const durationMs = numberOf(data, 'durationMs');
  const took = durationMs === undefined ? '' : formatLatency(durationMs);
  const field = (name: string) => textOf(data, name) ?? '';
  switch (type) {
    case 'node_entered':
      return field('title') || field('nodeId');
    case 'variable_set':
      return `${field('name')} = ${field('value')}`;
    case 'tool_called':
      return `${field('name')} ${field('arguments')}`;
    case 'tool_result':
      return joined(field('name'), took, field('result'));
    case 'knowledge_used':
      return joined(field('query'), took);
    case 'barge_in':
      return joined(field('heardText') && `“${field('heardText')}”`);
    case 'dtmf':
      return field('digits');
    case 'silence':
      return took;
    case 'call_status':
      return joined(statusText(field('status')), endReasonWithCode(field('endReason')), sipText(data.sip));
    case 'answering_machine':
      return joined(field('kind'), field('evidence'));
    case 'transfer':
      return joined(field('to'), field('mode'), field('status'), field('outcome'), field('reason'));
    case 'provider_fallback':
      return joined(field('kind'), `${field('from')} → ${field('to')}`, field('reason'));
    case 'error':
      return joined(field('message'), field('code'));
    case 'supervision':
    case 'participant':
    case 'recording':
      return joined(field('action'), field('mode'), field('to'), field('text'), field('status'));
    case 'session_started':
      return joined(field('channel'), field('provider'));
    case 'session_ended':
      return joined(field('reason'));
    default:
      return JSON.stringify(data);
  }
}

export const eventName = (event: HistoryEvent): string => joined(kindOfEvent(event), eventDetail(event));

/** Such as `486 Busy Here`. */
function sipText(response: unknown): string {
  const isResponse = typeof response === 'object' && response !== null && 'code' in response;
  return isResponse ? `${response.code} ${'reason' in response ? response.reason : ''}` : '';
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' · ');
}
