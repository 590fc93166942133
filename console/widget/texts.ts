import type { TalkProblem } from '../audio/talk.ts';

export interface Texts {
  readonly open: string;
  readonly close: string;
  readonly title: string;
  readonly welcome: string;
  readonly messages: string;
  readonly placeholder: string;
  readonly send: string;
  readonly talk: string;
  readonly connecting: string;
  readonly inCall: string;
  readonly mute: string;
  readonly unmute: string;
  readonly hangUp: string;
  readonly ended: string;
  readonly you: string;
  readonly agent: string;
  readonly problems: Readonly<Record<TalkProblem | 'unreachable' | 'failed' | 'minutes' | 'busy', string>>;
  wait(seconds: number): string;
}

const en: Texts = {
  open: 'Talk or chat with us',
  close: 'Close',
  title: 'How can we help?',
  welcome: 'Write to us, or talk with the assistant.',
  messages: 'Conversation',
  placeholder: 'Your message',
  send: 'Send',
  talk: 'Talk',
  connecting: 'Connecting…',
  inCall: 'In a call',
  mute: 'Mute',
  unmute: 'Unmute',
  hangUp: 'Hang up',
  ended: 'The call has ended.',
  you: 'You',
  agent: 'Assistant',
  problems: {
    unsupported: 'This browser cannot make calls here. The chat works.',
    microphone_denied: 'The microphone is blocked. Allow it in your browser’s settings, then try again.',
    microphone_missing: 'No microphone was found. Connect one, then try again.',
    lost: 'The connection was lost. Try again.',
    not_allowed: 'The call has ended: its time is used up.',
    busy: 'All lines are busy. Try again in a moment; the chat works.',
    minutes: 'No calls are possible any more today. The chat works.',
    unreachable: 'The assistant cannot be reached at the moment. Try again later.',
    failed: 'The assistant could not answer. Try again.',
  },
  wait: (seconds) => `Too many messages at once. Try again in ${seconds} s.`,
};

const zhTw: Texts = {
  open: '與我們通話或聊天',
  close: '關閉',
  title: '需要什麼協助嗎？',
  welcome: '傳訊息給我們，或直接與助理通話。',
  messages: '對話',
  placeholder: '輸入訊息',
  send: '傳送',
  talk: '通話',
  connecting: '連線中…',
  inCall: '通話中',
  mute: '靜音',
  unmute: '取消靜音',
  hangUp: '掛斷',
  ended: '通話已結束。',
  you: '您',
  agent: '助理',
  problems: {
    unsupported: '此瀏覽器無法在這裡通話，但可以使用文字聊天。',
    microphone_denied: '麥克風已被封鎖。請在瀏覽器設定中允許使用，然後再試一次。',
    microphone_missing: '找不到麥克風。請連接麥克風後再試一次。',
    lost: '連線中斷，請再試一次。',
    not_allowed: '通話已結束：可用時間已用完。',
    busy: '目前線路忙碌，請稍後再試，或使用文字聊天。',
    minutes: '今天無法再通話，但可以使用文字聊天。',
    unreachable: '目前無法聯絡助理，請稍後再試。',
    failed: '助理無法回答，請再試一次。',
  },
  wait: (seconds) => `訊息太多，請在 ${seconds} 秒後再試。`,
};

/** @param languages - Wanted, the best first. */
export function textsFor(languages: readonly string[]): Texts {
  const known = languages.find((language) => /^(en|zh)\b/i.test(language));
  return known !== undefined && /^zh/i.test(known) ? zhTw : en;
}
