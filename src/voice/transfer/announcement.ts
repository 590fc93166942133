import { renderTemplate, type Variables } from '../../agents/pathway/templates.ts';
import { languageCode } from '../../base/values/languageCode.ts';
import type { StreamParty } from '../../conversation/streams/audioStream.ts';
import type { Session } from '../../engine/session/session.ts';

type Briefing = Extract<StreamParty, { kind: 'briefing' }>;

interface Phrases {
  /** A template. */
  readonly announce: string;
  /** @param words - The caller's words. */
  readonly said: (words: string) => string;
  readonly unknownCaller: string;
  readonly pressDigit: (digit: string) => string;
  readonly sayYes: string;
}

/** The caller's latest words tell why it calls, as far as no model has summarized the conversation. */
const QUOTED_MESSAGES = 3;
const MAX_SUMMARY_CHARACTERS = 400;

const PHRASES: Readonly<Record<string, Phrases>> = {
  en: {
    announce: 'Hello, this is {{ agentName }}. I have {{ callerNumber }} on the line. {{ summary }}',
    said: (words) => `They said: ${words}`,
    unknownCaller: 'a caller',
    pressDigit: (digit) => `To take the call, press ${digit}. To refuse it, press another key.`,
    sayYes: 'Do you take the call? Please say yes or no.',
  },
  zh: {
    announce: '您好，這裡是{{ agentName }}。線上有一位來電者，號碼是 {{ callerNumber }}。{{ summary }}',
    said: (words) => `對方說：${words}`,
    unknownCaller: '未顯示',
    pressDigit: (digit) => `要接聽請按 ${digit}，要拒絕請按其他鍵。`,
    sayYes: '請問您要接聽嗎？請說好或不要。',
  },
  es: {
    announce: 'Hola, soy {{ agentName }}. Tengo en línea a {{ callerNumber }}. {{ summary }}',
    said: (words) => `Ha dicho: ${words}`,
    unknownCaller: 'una persona',
    pressDigit: (digit) => `Para aceptar la llamada, pulse ${digit}. Para rechazarla, pulse otra tecla.`,
    sayYes: '¿Acepta la llamada? Diga sí o no.',
  },
  fr: {
    announce: 'Bonjour, ici {{ agentName }}. J’ai {{ callerNumber }} en ligne. {{ summary }}',
    said: (words) => `La personne a dit : ${words}`,
    unknownCaller: 'quelqu’un',
    pressDigit: (digit) =>
      `Pour prendre l’appel, appuyez sur ${digit}. Pour le refuser, sur une autre touche.`,
    sayYes: 'Prenez-vous l’appel ? Dites oui ou non.',
  },
  de: {
    announce: 'Hallo, hier ist {{ agentName }}. Ich habe {{ callerNumber }} in der Leitung. {{ summary }}',
    said: (words) => `Gesagt wurde: ${words}`,
    unknownCaller: 'einen Anrufer',
    pressDigit: (digit) =>
      `Um den Anruf anzunehmen, drücken Sie die ${digit}. Um abzulehnen, eine andere Taste.`,
    sayYes: 'Nehmen Sie den Anruf an? Bitte sagen Sie ja oder nein.',
  },
};

export interface Announcement {
  readonly text: string;
  /** How to take the call, said after the text and again while no answer comes; undefined where staying is enough. */
  readonly question: string | undefined;
}

/** Returns the announcement to a transfer target. */
export function announcementOf(
  { announce, acceptBy, acceptDigit }: Briefing,
  { session, agentName, language }: { session: Session; agentName: string; language: string | undefined },
): Announcement {
  const phrases = PHRASES[languageCode(language) ?? 'en'] ?? (PHRASES.en as Phrases);
  const variables: Variables = {
    ...session.state.variables,
    call: session.state.call,
    channel: session.channel,
    agentName,
    callerNumber: callerOf(session) ?? phrases.unknownCaller,
    summary: session.state.variables.summary ?? summaryOf(session, phrases),
  };
  const render = (template: string) => renderTemplate(template, variables, { onFailure: () => undefined });
  const given = announce === undefined ? '' : render(announce).trim();
  const text = given === '' ? render(phrases.announce).trim() : given;
  if (acceptBy === 'answer') return { text, question: undefined };
  const question = acceptBy === 'digit' ? phrases.pressDigit(acceptDigit) : phrases.sayYes;
  return { text, question };
}

function callerOf({ state: { call } }: Session): string | undefined {
  return call && (call.direction === 'inbound' ? call.fromNumber : call.toNumber);
}

/** The model's own summary, or else the caller's latest words. */
function summaryOf({ state: { summary, messages } }: Session, phrases: Phrases): string {
  if (summary) return summary.text.slice(-MAX_SUMMARY_CHARACTERS);
  const words = messages
    .filter(({ role, internal, content }) => role === 'user' && !internal && content)
    .slice(-QUOTED_MESSAGES)
    .map(({ content }) => content?.trim())
    .join(' ');
  return words === '' ? '' : phrases.said(words.slice(-MAX_SUMMARY_CHARACTERS));
}
