import type { components } from '../../api/schema.d.ts';

/** As the API names them. */
type EndReason = NonNullable<components['schemas']['Call']['endReason']>;

/** Why a call ended, in words, by language. */
export const END_REASON_TEXTS: Readonly<Record<'en' | 'zh-TW', Readonly<Record<EndReason, string>>>> = {
  en: {
    caller_hangup: 'The other party hung up',
    agent_hangup: 'The agent hung up',
    agent_error: 'The agent failed',
    api_hangup: 'Hung up through the API or the console',
    transferred: 'Transferred',
    max_duration: 'The longest duration was reached',
    media_timeout: 'No more audio arrived',
    declined: 'The person declined the call',
    unreachable: 'No trunk reached a peer',
    invalid_number: 'The number does not exist',
    rejected: 'The call was rejected',
    trunk_error: 'The trunk failed',
    number_already_queued: 'The number had another call',
    rescheduled: 'Replaced by a later callback',
    node_lost: 'The node of the call was lost',
  },
  'zh-TW': {
    caller_hangup: '對方掛斷',
    agent_hangup: '語音代理掛斷',
    agent_error: '語音代理發生錯誤',
    api_hangup: '經由 API 或主控台掛斷',
    transferred: '已轉接',
    max_duration: '已達通話時間上限',
    media_timeout: '不再收到音訊',
    declined: '對方拒接',
    unreachable: '沒有中繼線能連到對方',
    invalid_number: '號碼不存在',
    rejected: '通話遭拒',
    trunk_error: '中繼線發生錯誤',
    number_already_queued: '此號碼已有另一通電話',
    rescheduled: '已由之後的回電取代',
    node_lost: '處理通話的節點中斷',
  },
};
