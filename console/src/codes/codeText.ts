import { errorTextZh } from '../api/errorTextsZh.ts';
import { sentence } from '../formats.ts';
import { locale, textsIn } from '../texts.ts';
import { CODE_TEXTS_EN } from './codeTextsEn.ts';
import { CODE_TEXTS_ZH } from './codeTextsZh.ts';
import { DELIVERY_ERRORS_ZH } from './deliveryErrorsZh.ts';
import { resultReasonZh } from './resultReasonsZh.ts';

export type CodeKind = keyof typeof CODE_TEXTS_EN;

const texts = textsIn<Readonly<Record<CodeKind, Readonly<Record<string, string>>>>>({
  en: CODE_TEXTS_EN,
  'zh-TW': CODE_TEXTS_ZH,
});

/** What a code means, in words; as it is where the console does not know it. */
export function codeText(kind: CodeKind, code: string): string {
  return (Object.hasOwn(texts[kind], code) && texts[kind][code]) || code;
}

/** All codes of a kind with their words, to choose from. */
export const codeOptions = (kind: CodeKind): [code: string, text: string][] => Object.entries(texts[kind]);

/** Why a call or a session ended, or the status of a call that was not answered. */
export function endText(reason: string): string {
  const kinds = ['callEnd', 'callStatus', 'sessionEnd'] as const;
  return kinds.map((kind) => codeText(kind, reason)).find((text) => text !== reason) ?? reason;
}

/** With the code, by which logs and the API are searched, where the text does not say it itself. */
export function textWithCode(kind: CodeKind, code: string): string {
  const text = codeText(kind, code);
  const said = text.toLowerCase().replaceAll(' ', '_');
  return said === code.toLowerCase() ? text : `${text} (${code})`;
}

/** Why a target of a transfer was not joined: an outcome, which may have a SIP response behind it, or the API's prose. */
export function transferReasonText(reason: string): string {
  const [, outcome = reason, response = ''] = /^([a-z_]+)(: \d{3} .*)?$/.exec(reason) ?? [];
  return codeText('transferReason', outcome) + response;
}

/** Why a trunk does not work: one of the API's sentences, which may have a SIP response behind it. */
export function trunkErrorText(error: string): string {
  const [, sentence = error, response = ''] = /^(.*?)(: \d{3} .*)?$/.exec(error) ?? [];
  return codeText('trunkError', sentence) + response;
}

/** Why a webhook was not delivered; the API's messages are English. */
export function deliveryErrorText({ code, message }: { code: string; message: string }): string {
  return locale === 'zh-TW' ? errorTextZh(code, message, DELIVERY_ERRORS_ZH) : sentence(message);
}

/** Why a conversation was judged so, or not at all. */
export const resultReasonText = (reason: string): string =>
  locale === 'zh-TW' ? resultReasonZh(reason) : sentence(reason);
