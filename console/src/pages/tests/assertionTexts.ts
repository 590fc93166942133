import { textsIn } from '../../texts.ts';
import type { Assertion } from './testData.ts';

/** What assertions demand, by type. */
export const assertionTexts = textsIn<Record<Assertion['type'] | 'outcome', string>>({
  en: {
    contains: 'The agent’s words contain',
    not_contains: 'The agent’s words do not contain',
    regex: 'The agent’s words match the pattern',
    said_in_order: 'The agent says in this order',
    not_said: 'The agent never says',
    language_is: 'The agent speaks the language',
    node_visited: 'The node is reached',
    variable_equals: 'The variable equals',
    json_path: 'The variables have at the path',
    tool_called: 'The tool is called',
    tool_called_with: 'The tool is called with',
    ended_by: 'Ended by',
    transferred_to: 'Transferred to',
    dtmf_sent: 'The agent sends the digits',
    max_latency_ms: 'Each answer comes within (ms)',
    interrupted_within_ms: 'The agent stops when interrupted, within (ms)',
    judge: 'A model judges',
    outcome: 'Outcome as simulated',
  },
  'zh-TW': {
    contains: '代理的話包含',
    not_contains: '代理的話不包含',
    regex: '代理的話符合模式',
    said_in_order: '代理依此順序說',
    not_said: '代理從未說',
    language_is: '代理使用的語言為',
    node_visited: '到達節點',
    variable_equals: '變數等於',
    json_path: '變數在路徑上的值為',
    tool_called: '呼叫工具',
    tool_called_with: '以此參數呼叫工具',
    ended_by: '結束者',
    transferred_to: '轉接至',
    dtmf_sent: '代理送出按鍵',
    max_latency_ms: '每次回應時間上限（毫秒）',
    interrupted_within_ms: '被打斷後停止說話的時間上限（毫秒）',
    judge: '由模型判斷',
    outcome: '結果與模擬相符',
  },
});

/** Who ended a session. */
export const endedByTexts = textsIn({
  en: { caller: 'The caller', agent: 'The agent' },
  'zh-TW': { caller: '來電者', agent: '代理' },
});
