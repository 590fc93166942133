import { type Phrase, phraseIn } from '../../../api/phrases.ts';
import { resultReasonZh } from '../../../codes/resultReasonsZh.ts';

/** Of plays, whose API gives no code. */
const PLAY_ERRORS: readonly Phrase[] = [
  [/^The run was canceled$/, '測試執行已取消'],
  [/^Internal error$/, '服務發生內部錯誤'],
  [/^It took longer than (\d+) minutes$/, '執行超過 $1 分鐘'],
  [/^The simulated caller’s call was not answered: (.*)$/, '模擬來電未被接聽：$1'],
];

/** Why a play could not be played; as the API says it where its text is not known here. */
export function playErrorZh(message: string): string {
  return phraseIn(PLAY_ERRORS, message) ?? message;
}

/** What was simulated for a contact. */
const SIMULATED: readonly Phrase[] = [
  [/^A person answered$/, '有人接聽'],
  [/^A person asked for no more calls$/, '接聽者要求不再來電'],
  [/^An answering machine answered$/, '答錄機接聽'],
  [/^No call was placed$/, '未撥出電話'],
];

interface Verdict {
  readonly type: string;
  readonly passed: boolean;
  readonly seen?: unknown;
  readonly turn?: number | undefined;
  readonly reason?: string | undefined;
}

/** Why an assertion failed; as the API says it, or the model that judged, where its type tells no reason. */
export function verdictReasonZh({ type, passed, seen, turn, reason = '' }: Verdict): string {
  if (passed) return simulatedZh(reason);
  const [, words] = /“(.*)”/s.exec(reason) ?? [];
  switch (type) {
    case 'contains':
      return words === undefined ? reason : `代理沒有說「${words}」`;
    case 'not_contains':
    case 'not_said':
      return words === undefined ? reason : `代理說了「${words}」`;
    case 'said_in_order':
      if (words === undefined) return reason;
      return turn === undefined ? `沒有說「${words}」` : `在前面的話之後沒有說「${words}」`;
    case 'tool_called_with':
      return Array.isArray(seen) && seen.length === 0 ? '未呼叫這個工具' : '以其他引數呼叫了工具';
    case 'max_latency_ms':
      return seen === null ? '代理沒有說話' : reason;
    case 'interrupted_within_ms':
      return seen === null ? '代理沒有被打斷' : reason;
    case 'outcome':
      return simulatedZh(reason);
    case 'judge':
      return resultReasonZh(reason);
    default:
      return reason;
  }
}

function simulatedZh(reason: string): string {
  return phraseIn(SIMULATED, reason) ?? reason;
}

/** The votes of models that judged. */
export function votesZh(seen: string): string {
  return seen.replace(/^(\d+) of (\d+) in favor$/, '$2 票中有 $1 票贊成');
}
