import { textsIn } from '../../texts.ts';
import { CODE_TEXTS } from './codeTexts.ts';

export type CodeKind = keyof typeof CODE_TEXTS.en;

const texts = textsIn<Readonly<Record<CodeKind, Readonly<Record<string, string>>>>>(CODE_TEXTS);

/** What a code means, in words; as it is where the console does not know it. */
export function codeText(kind: CodeKind, code: string): string {
  return (Object.hasOwn(texts[kind], code) && texts[kind][code]) || code;
}

/** With the code, by which logs and the API are searched. */
export function textWithCode(kind: CodeKind, code: string): string {
  const text = codeText(kind, code);
  return text === code ? code : `${text} (${code})`;
}
