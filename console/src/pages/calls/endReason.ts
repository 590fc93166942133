import { textsIn } from '../../texts.ts';
import { END_REASON_TEXTS } from './endReasonTexts.ts';

const texts: Readonly<Record<string, string>> = textsIn(END_REASON_TEXTS);

/** Why a call ended, in words; as it is where the console does not know it. */
export function endReasonText(code: string): string {
  return (Object.hasOwn(texts, code) && texts[code]) || code;
}

/** With the code, by which logs and the API are searched. */
export function endReasonWithCode(code: string): string {
  const text = endReasonText(code);
  return text === code ? code : `${text} (${code})`;
}
