import { textWithCode } from '../../codes/codeText.ts';
import { COLON, textsIn } from '../../texts.ts';

const texts = textsIn({
  en: {
    401: 'The trunk’s user name or password is wrong.',
    403: 'The carrier refuses the call: the caller’s number may not be yours there, or this destination is not allowed.',
    404: 'The carrier does not know the number: check the trunk’s format of numbers.',
    408: 'The peer did not answer: check host, port and transport, and firewalls in between.',
    480: 'The person cannot be reached now.',
    486: 'The line was busy.',
    487: 'The call was canceled while it rang.',
    488: 'The peer takes none of the trunk’s codecs, or wants encrypted audio: check both settings.',
    500: 'The peer failed. Try again later, or another trunk.',
    503: 'The peer takes no calls now, or no more at once: check the trunk’s simultaneous calls.',
    603: 'The person declined the call.',
    unreachable: 'No trunk reached a peer: check host, port and transport, and firewalls in between.',
    other: 'The call’s page shows the messages that were exchanged.',
  },
  'zh-TW': {
    401: '中繼線的使用者名稱或密碼錯誤。',
    403: '電信業者拒絕這通電話：來電號碼可能不屬於您，或不允許撥往此目的地。',
    404: '電信業者不認得這個號碼：請檢查中繼線的號碼格式。',
    408: '對方沒有回應：請檢查主機、連接埠、傳輸方式與防火牆。',
    480: '目前無法聯絡對方。',
    486: '線路忙線中。',
    487: '通話在響鈴時取消。',
    488: '對方不接受此中繼線的任何編碼，或要求加密音訊：請檢查這兩項設定。',
    500: '對方發生錯誤。請稍後再試，或改用其他中繼線。',
    503: '對方目前不接受通話，或同時通話數已達上限：請檢查中繼線的同時通話數。',
    603: '對方拒接。',
    unreachable: '沒有中繼線能連到對方：請檢查主機、連接埠、傳輸方式與防火牆。',
    other: '通話的頁面會顯示往來的訊息。',
  },
});

interface Failure {
  readonly sip: { readonly code: number; readonly reason: string } | null;
  readonly endReason: string | null;
}

/** Why a call failed, and what that usually means. @see RFC 3261 section 21 */
export function failureText({ sip, endReason }: Failure): string {
  if (sip) return `${sip.code} ${sip.reason}${COLON}${adviceFor(sip.code)}`;
  if (endReason === 'unreachable') return texts.unreachable;
  const advice = endReason === 'trunk_error' ? texts.unreachable : texts.other;
  return textWithCode('callEnd', endReason ?? '') + COLON + advice;
}

function adviceFor(code: number): string {
  const known = code === 407 ? 401 : code;
  return known in texts ? texts[known as keyof typeof texts] : texts.other;
}
