/** Names of variables whose values name a person. */
const PERSONAL = /name|mail|phone|mobile|address|street|city|birth|customer|account|iban|card|passport/i;
const EMAIL = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}.-]+\.\p{L}{2,}/gu;
/** Long enough to be a number that belongs to a person, with the separators that people write. */
const NUMBER = /\+?\d(?:[\s().-]?\d){5,}/g;
const SHORTEST_VALUE_CHARACTERS = 3;

/**
 * Replaces what names a person, everywhere in a JSON value: e-mail addresses, long numbers, whose digits become 0, and the
 * values of variables whose names tell so. Other words stay as they are.
 *
 * @param variables - The session's.
 */
export function maskPersonalData<Value>(value: Value, variables: Readonly<Record<string, unknown>>): Value {
  const known = Object.entries(variables)
    .flatMap(([name, one]) => (PERSONAL.test(name) && typeof one === 'string' ? [{ name, text: one }] : []))
    .filter(({ text }) => text.trim().length >= SHORTEST_VALUE_CHARACTERS)
    .toSorted((one, other) => other.text.length - one.text.length);
  const maskText = (text: string) => {
    let masked = text;
    for (const { name, text: personal } of known) masked = replaceFolded(masked, personal, `[${name}]`);
    return masked
      .replaceAll(EMAIL, 'person@example.com')
      .replaceAll(NUMBER, (number) => number.replaceAll(/\d/g, '0'));
  };
  const mask = (part: unknown): unknown => {
    if (typeof part === 'string') return maskText(part);
    if (Array.isArray(part)) return part.map(mask);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, mask(inner)]));
  };
  return mask(value) as Value;
}

/** Whatever the case of its letters. */
function replaceFolded(text: string, searched: string, replacement: string): string {
  const folded = text.toLowerCase();
  const wanted = searched.toLowerCase();
  // Some letters change their length with their case.
  if (folded.length !== text.length || wanted.length !== searched.length)
    return text.replaceAll(searched, replacement);
  let result = '';
  let from = 0;
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, from)) {
    result += text.slice(from, at) + replacement;
    from = at + wanted.length;
  }
  return result + text.slice(from);
}
