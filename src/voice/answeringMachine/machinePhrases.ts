/** Phrases of answering machines. */
const MACHINE_PHRASES = [
  /\bleave (?:me |us )?(?:a|your) (?:short |brief )?(?:message|name)\b/,
  /\b(?:after|at) the (?:tone|beep)\b/,
  /\b(?:voice ?mail|mailbox|answering machine)\b/,
  /\b(?:is|are|am) (?:not available|unavailable|unable to (?:take|answer))\b/,
  /\b(?:cannot|can't|can not) (?:take|answer|come to) (?:your call|the phone)\b/,
  /\b(?:get|call) (?:back to you|you back) as soon as\b/,
  /\brecord your message\b/,
  /留言|語音信箱|语音信箱|嗶聲|嗶一聲|哔声|提示音|暫時無法接聽|暂时无法接听|無法接聽|轉接到語音/,
  /\b(?:deje|dejar) (?:su|un) mensaje\b|\bbuzón de voz\b/,
  /\blaissez (?:un|votre) message\b|\bmessagerie\b/,
  /\bhinterlassen sie\b|\bnach dem (?:ton|signalton)\b|\bmailbox\b/,
];

/** Phrases of call screening services, which ask who is calling before they connect. */
const SCREENING_PHRASES = [
  /\b(?:state|say|record) your name\b/,
  /\bwho (?:is|'s) calling\b.*\b(?:why|reason|regarding)\b/,
  /\b(?:reason|purpose) (?:for|of) (?:your|the|this) call\b/,
  /\bsee if (?:this person|they|he|she) (?:is|are|'s) available\b/,
  /\bcall (?:screening|assist)\b/,
  /請(?:說出|告知)(?:您的)?(?:姓名|來電目的)/,
];

/** @returns Undefined for a person's words, as far as one can tell. */
export function machineKindOf(text: string): 'machine' | 'screening' | undefined {
  const words = text
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/[^\p{L}\p{N}']+/gu, ' ');
  if (SCREENING_PHRASES.some((phrase) => phrase.test(words))) return 'screening';
  return MACHINE_PHRASES.some((phrase) => phrase.test(words)) ? 'machine' : undefined;
}
