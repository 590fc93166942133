import { languageCode } from '../../base/values/languageCode.ts';
import type { TurnInput } from '../../engine/turn/turn.ts';

/** A caller remembers no longer list. */
const MAX_NAMED = 8;

/** Codes of notices, which stand in the history as the code of an `error` event. */
export const AGENT_FAILED = 'agent_failed';
export const STREAM_RESUMED = 'stream_resumed';

/** What the agent says where the pathway has no text. */
export interface FallbackPhrases {
  readonly stillThere: string;
  readonly goodbye: string;
  readonly reprompt: string;
  /** Speech recognition fails. */
  readonly useDtmf: string;
  /** The caller was asked to repeat, and is not understood again: goes before `canSay` and `canPress`. */
  readonly stillNotUnderstood: string;
  /** @param answers - The answers, such as `yes or no`. */
  readonly canSay: (answers: string) => string;
  /** @param digits - The digits, such as `1 or 2`. */
  readonly canPress: (digits: string) => string;
  /** A caller who is not understood is transferred. */
  readonly connecting: string;
  /** A caller who is not understood is hung up on. */
  readonly givingUp: string;
  /** Covers a long wait for an answer. */
  readonly filler: string;
  readonly apology: string;
  /** The session continues on another stream. */
  readonly sessionResumed: string;
  readonly transferFailed: string;
  /** A transfer takes long. */
  readonly transferWaiting: string;
  /** The transfer target is being told about the call. */
  readonly transferAnswered: string;
}

/** @param language - A tag such as `zh-TW`; English for languages without phrases. */
export function fallbackPhrasesOf(language: string | undefined): FallbackPhrases {
  return PHRASES[phrasesLanguage(language)] as FallbackPhrases;
}

function phrasesLanguage(language: string | undefined): string {
  const code = languageCode(language) ?? 'en';
  return Object.hasOwn(PHRASES, code) ? code : 'en';
}

/** @param code - The code of the notice. */
export function noticePhrase(code: string, phrases: FallbackPhrases): string {
  return code === AGENT_FAILED ? phrases.apology : phrases.sessionResumed;
}

/**
 * Asks a caller who was not understood again, and the second time with what can be said or pressed.
 *
 * @param choices - The node's choices; the first of each are named.
 */
export function repromptPhrase(
  { why, count }: Extract<TurnInput, { kind: 'not_understood' }>,
  choices: { readonly answers: readonly string[]; readonly digits: readonly string[] },
  language: string,
): string {
  const { reprompt, useDtmf, stillNotUnderstood, canSay, canPress } = fallbackPhrasesOf(language);
  const named = [
    ...alternatives(choices.answers, language).map(canSay),
    ...alternatives(
      choices.digits.map((digits) => [...digits].join(' ')),
      language,
    ).map(canPress),
  ];
  if (count > 1 && named.length > 0) return [stillNotUnderstood, ...named].join(' ');
  return why === 'no_words' ? reprompt : useDtmf;
}

/** Joins the alternatives into one text, such as `yes, no, or later`; empty when there are none. */
function alternatives(all: readonly string[], language: string): string[] {
  const named = [...new Set(all)].slice(0, MAX_NAMED);
  const list = new Intl.ListFormat(phrasesLanguage(language), { type: 'disjunction' });
  return named.length === 0 ? [] : [list.format(named)];
}

const PHRASES: Readonly<Record<string, FallbackPhrases>> = {
  en: {
    stillThere: 'Are you still there?',
    goodbye: 'I cannot hear you. Goodbye.',
    reprompt: 'Sorry, I did not catch that. Could you say it again?',
    useDtmf: 'Sorry, I cannot understand you at the moment. You can use the keys of your phone.',
    stillNotUnderstood: 'Sorry, I still did not understand you.',
    canSay: (answers) => `You can say: ${answers}.`,
    canPress: (digits) => `You can press ${digits} on your phone.`,
    connecting: 'Sorry, I cannot understand you. I am connecting you to someone who can help.',
    givingUp: 'Sorry, I cannot understand you. Please call again later. Goodbye.',
    filler: 'One moment, please.',
    apology: 'I am sorry, something is not working on our side. Please call again later. Goodbye.',
    sessionResumed: 'Sorry, I lost you for a moment. Please go on.',
    transferFailed: 'I am sorry, I could not reach anyone there. What else can I do for you?',
    transferWaiting: 'I am still trying to reach someone for you. Thank you for waiting.',
    transferAnswered: 'Someone has answered. I am just telling them what it is about.',
  },
  zh: {
    stillThere: '請問您還在嗎？',
    goodbye: '我聽不到您的聲音，先掛斷了，再見。',
    reprompt: '不好意思，我沒聽清楚，可以請您再說一次嗎？',
    useDtmf: '不好意思，目前無法辨識您的語音，請改用電話按鍵。',
    stillNotUnderstood: '不好意思，我還是沒聽清楚。',
    canSay: (answers) => `您可以說：${answers}。`,
    canPress: (digits) => `您也可以按電話按鍵 ${digits}。`,
    connecting: '不好意思，我無法聽懂您的話，我為您轉接專人。',
    givingUp: '不好意思，我無法聽懂您的話，請您稍後再撥，再見。',
    filler: '請稍等一下。',
    apology: '很抱歉，系統目前發生問題，請您稍後再撥，再見。',
    sessionResumed: '不好意思，剛剛斷線了一下，請您繼續說。',
    transferFailed: '不好意思，對方目前無法接聽，請問還有什麼可以幫您的嗎？',
    transferWaiting: '我還在為您聯絡專人，謝謝您的等候。',
    transferAnswered: '已經有人接聽了，我先跟對方說明一下。',
  },
  es: {
    stillThere: '¿Sigue ahí?',
    goodbye: 'No le oigo. Hasta luego.',
    reprompt: 'Perdone, no le he entendido. ¿Puede repetirlo?',
    useDtmf: 'Perdone, ahora mismo no puedo entenderle. Puede usar las teclas del teléfono.',
    stillNotUnderstood: 'Perdone, sigo sin entenderle.',
    canSay: (answers) => `Puede decir: ${answers}.`,
    canPress: (digits) => `Puede pulsar ${digits} en su teléfono.`,
    connecting: 'Perdone, no puedo entenderle. Le paso con alguien que le ayudará.',
    givingUp: 'Perdone, no puedo entenderle. Por favor, llame más tarde. Hasta luego.',
    filler: 'Un momento, por favor.',
    apology: 'Lo siento, algo no funciona en nuestro lado. Por favor, llame más tarde. Hasta luego.',
    sessionResumed: 'Perdone, le he perdido un momento. Continúe, por favor.',
    transferFailed: 'Lo siento, no contesta nadie allí. ¿Qué más puedo hacer por usted?',
    transferWaiting: 'Sigo intentando comunicarle con alguien. Gracias por esperar.',
    transferAnswered: 'Ya han contestado. Les explico brevemente de qué se trata.',
  },
  fr: {
    stillThere: 'Êtes-vous toujours là ?',
    goodbye: 'Je ne vous entends pas. Au revoir.',
    reprompt: 'Pardon, je n’ai pas compris. Pouvez-vous répéter ?',
    useDtmf: 'Pardon, je ne peux pas vous comprendre pour le moment. Utilisez les touches du téléphone.',
    stillNotUnderstood: 'Pardon, je n’ai toujours pas compris.',
    canSay: (answers) => `Vous pouvez dire : ${answers}.`,
    canPress: (digits) => `Vous pouvez appuyer sur ${digits} de votre téléphone.`,
    connecting: 'Pardon, je n’arrive pas à vous comprendre. Je vous passe quelqu’un qui pourra vous aider.',
    givingUp: 'Pardon, je n’arrive pas à vous comprendre. Veuillez rappeler plus tard. Au revoir.',
    filler: 'Un instant, s’il vous plaît.',
    apology: 'Je suis désolé, nous avons un problème technique. Veuillez rappeler plus tard. Au revoir.',
    sessionResumed: 'Pardon, je vous ai perdu un instant. Continuez, s’il vous plaît.',
    transferFailed: 'Je suis désolé, personne ne répond. Que puis-je faire d’autre pour vous ?',
    transferWaiting: 'J’essaie toujours de joindre quelqu’un. Merci de patienter.',
    transferAnswered: 'Quelqu’un a répondu. Je lui explique de quoi il s’agit.',
  },
  de: {
    stillThere: 'Sind Sie noch da?',
    goodbye: 'Ich höre Sie nicht. Auf Wiederhören.',
    reprompt: 'Entschuldigung, das habe ich nicht verstanden. Können Sie es wiederholen?',
    useDtmf:
      'Entschuldigung, ich kann Sie gerade nicht verstehen. Sie können die Tasten Ihres Telefons benutzen.',
    stillNotUnderstood: 'Entschuldigung, ich habe Sie noch immer nicht verstanden.',
    canSay: (answers) => `Sie können sagen: ${answers}.`,
    canPress: (digits) => `Sie können auf Ihrem Telefon ${digits} drücken.`,
    connecting:
      'Entschuldigung, ich kann Sie nicht verstehen. Ich verbinde Sie mit jemandem, der Ihnen hilft.',
    givingUp: 'Entschuldigung, ich kann Sie nicht verstehen. Bitte rufen Sie später an. Auf Wiederhören.',
    filler: 'Einen Moment, bitte.',
    apology: 'Es tut mir leid, bei uns funktioniert etwas nicht. Bitte rufen Sie später an. Auf Wiederhören.',
    sessionResumed: 'Entschuldigung, die Verbindung war kurz weg. Bitte sprechen Sie weiter.',
    transferFailed: 'Es tut mir leid, dort ist niemand zu erreichen. Was kann ich sonst für Sie tun?',
    transferWaiting: 'Ich versuche noch, jemanden für Sie zu erreichen. Danke, dass Sie warten.',
    transferAnswered: 'Es hat jemand abgenommen. Ich erkläre kurz, worum es geht.',
  },
};
