import { splitOutside } from './grammar.ts';
import { headerKey, spellHeader } from './headerNames.ts';

interface Header {
  /** Lower-case long name. */
  readonly key: string;
  /** As spelled on the wire. */
  readonly name: string;
  /** Unfolded, without surrounding blanks. */
  value: string;
}

/**
 * A message's header fields in order, spelled as they came. Values stay text until somebody asks: most headers of
 * most messages are only passed on.
 */
export class SipHeaders {
  #fields: Header[];

  constructor(fields: Header[] = []) {
    this.#fields = fields;
  }

  get size(): number {
    return this.#fields.length;
  }

  /** The first field's whole value. */
  get(name: string): string | undefined {
    const key = headerKey(name);
    for (const field of this.#fields) if (field.key === key) return field.value;
    return undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** How many fields have that name, however many values each one lists. */
  count(name: string): number {
    const key = headerKey(name);
    let count = 0;
    for (const field of this.#fields) if (field.key === key) count += 1;
    return count;
  }

  /** The whole value of each field of that name. */
  all(name: string): string[] {
    const key = headerKey(name);
    return this.#fields.filter((field) => field.key === key).map((field) => field.value);
  }

  /**
   * The values of a header that may list several in one field, taken apart.
   *
   * @throws {SipParseError} On quotes or brackets that are never closed.
   */
  list(name: string): string[] {
    return this.all(name).flatMap((value) => splitOutside(value, ',').filter((piece) => piece !== ''));
  }

  /** Replaces all fields of that name by one, in the first one's place. */
  set(name: string, value: string): void {
    const key = headerKey(name);
    const first = this.#fields.find((field) => field.key === key);
    if (!first) {
      this.add(name, value);
      return;
    }
    first.value = value;
    this.#fields = this.#fields.filter((field) => field.key !== key || field === first);
  }

  /** Sets the header unless it is there. */
  setDefault(name: string, value: string): void {
    if (!this.has(name)) this.add(name, value);
  }

  add(name: string, value: string): void {
    this.#fields.push({ key: headerKey(name), name: spellHeader(name), value });
  }

  /** Puts a field before all others. */
  prepend(name: string, value: string): void {
    this.#fields.unshift({ key: headerKey(name), name: spellHeader(name), value });
  }

  /** Replaces all fields of that name by one for each value, in the first one's place. */
  replaceAll(name: string, values: readonly string[]): void {
    const key = headerKey(name);
    const at = this.#fields.findIndex((field) => field.key === key);
    const rest = this.#fields.filter((field) => field.key !== key);
    const fresh = values.map((value) => ({ key, name: spellHeader(name), value }));
    rest.splice(at < 0 ? rest.length : at, 0, ...fresh);
    this.#fields = rest;
  }

  remove(name: string): void {
    const key = headerKey(name);
    this.#fields = this.#fields.filter((field) => field.key !== key);
  }

  clone(): SipHeaders {
    return new SipHeaders(this.#fields.map((field) => ({ ...field })));
  }

  *[Symbol.iterator](): Iterator<readonly [name: string, value: string, key: string]> {
    for (const { name, value, key } of this.#fields) yield [name, value, key];
  }

  /** The fields as on the wire, each line ended by CRLF. */
  format(): string {
    let text = '';
    for (const field of this.#fields) text += `${field.name}: ${field.value}\r\n`;
    return text;
  }
}
