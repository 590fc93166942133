import { errorTextZh } from '../../api/errorTextsZh.ts';
import { type CodeKind, codeText, textWithCode, transferReasonText } from '../../codes/codeText.ts';
import { formatLatency } from '../../formats.ts';
import { locale } from '../../texts.ts';
import { HISTORY_ERRORS_ZH } from './historyErrorsZh.ts';
import { type HistoryEvent, numberOf, textOf } from './model/callTimeline.ts';

/** The kind of an event, in words. */
export function kindOfEvent({ type }: HistoryEvent): string {
  return codeText('event', type);
}

/** What an event says beside its kind. */
export function eventDetail({ type, data }: HistoryEvent): string {
  const durationMs = numberOf(data, 'durationMs');
  const took = durationMs === undefined ? '' : formatLatency(durationMs);
  const field = (name: string) => textOf(data, name) ?? '';
  const known = (kind: CodeKind, name: string) => textWithCode(kind, field(name));
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
    case 'not_understood':
      return joined(known('notUnderstood', 'why'), `${numberOf(data, 'count') ?? ''}`);
    case 'disclosure_heard':
      return joined(field('id'), formatLatency(numberOf(data, 'atMs') ?? 0));
    case 'opt_out':
      return field('reason') && `“${field('reason')}”`;
    case 'call_status':
      return joined(
        codeText('callStatus', field('status')),
        textWithCode('callEnd', field('endReason')),
        sipText(data.sip),
      );
    case 'answering_machine':
      return joined(known('answeringMachine', 'kind'), codeText('evidence', field('evidence')));
    case 'transfer':
      return joined(
        field('to'),
        known('transferMode', 'mode'),
        known('transferStatus', 'status'),
        known('transferOutcome', 'outcome'),
        transferReasonText(field('reason')),
      );
    case 'provider_fallback':
      return joined(known('fallback', 'kind'), `${field('from')} → ${field('to')}`, field('reason'));
    case 'warning':
    case 'error':
      return joined(errorText(field('code'), field('message')), field('code'));
    case 'supervision':
      return joined(known('supervision', 'action'), known('supervisionMode', 'mode'), field('text'));
    case 'participant':
      return joined(known('participant', 'action'), field('to'));
    case 'recording':
      return known('recording', 'action');
    case 'session_started':
      return joined(known('channel', 'channel'), field('provider'));
    case 'session_ended':
      return known('sessionEnd', 'reason');
    default:
      return JSON.stringify(data);
  }
}

export const eventName = (event: HistoryEvent): string => joined(kindOfEvent(event), eventDetail(event));

/** What an error of the history means; the API's messages are English. */
export function errorText(code: string, message: string): string {
  return locale === 'zh-TW' ? errorTextZh(code, message, HISTORY_ERRORS_ZH) : message;
}

/** Such as `486 Busy Here`. */
function sipText(response: unknown): string {
  const isResponse = typeof response === 'object' && response !== null && 'code' in response;
  return isResponse ? `${response.code} ${'reason' in response ? response.reason : ''}` : '';
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' · ');
}
