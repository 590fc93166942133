/** Headers of a SIP message whose values let somebody in, with the lines that continue them. */
const SECRET_HEADERS = /^((?:Proxy-)?Authorization[ \t]*:[ \t]*\w*)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;
const CRYPTO_KEYS = /^(a=crypto:[^\r\n]*?inline:)[^\s|;\r\n]*/gim;
/** A line may hold several keys. */
const FURTHER_KEYS = /(;[ \t]*inline:)[^\s|;\r\n]*/gi;
const BLANK = '[redacted]';

/** A SIP message without its credentials and the keys of its audio. */
export function redactSip(text: string): string {
  return text
    .replace(SECRET_HEADERS, `$1 ${BLANK}`)
    .replace(CRYPTO_KEYS, `$1${BLANK}`)
    .replace(/^a=crypto:.*$/gim, (line) => line.replace(FURTHER_KEYS, `$1${BLANK}`));
}
