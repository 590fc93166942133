import { splitAddresses } from './fields/nameAddr.ts';
import { splitOutside } from './grammar.ts';
import { headerKey, spellHeader } from './headerNames.ts';

interface Header {
  /** The long name in lower case. */
  readonly key: string;
  /** The name as spelled on the wire. */
  readonly name: string;
  /** The unfolded value without surrounding blanks. */
  value: string;
}

/**
 * The header fields of a message in order, spelled as received. Values are parsed on demand: most are only forwarded.
 * @see parseHead
 */
export class SipHeaders {
  #fields: Header[];

  constructor(fields: Header[] = []) {
    this.#fields = fields;
  }

  get size(): number {
    return this.#fields.length;
  }

  /** The value of the first field. */
  get(name: string): string | undefined {
    const key = headerKey(name);
    for (const field of this.#fields) if (field.key === key) return field.value;
    return undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** The number of fields, which may each list several values. */
  count(name: string): number {
    const key = headerKey(name);
    let count = 0;
    for (const field of this.#fields) if (field.key === key) count += 1;
    return count;
  }

  /** Returns the value of each field. */
  all(name: string): string[] {
    const key = headerKey(name);
    return this.#fields.filter((field) => field.key === key).map((field) => field.value);
  }

  /**
   * The values of a header that may list several in one field.
   *
   * @throws {SipParseError} On an angle bracket that is never closed.
   */
  list(name: string): string[] {
    return this.all(name).flatMap((value) => splitOutside(value, ',').filter((piece) => piece !== ''));
  }

  /** The same for addresses, with the commas that stand in display names without quotes. */
  addresses(name: string): string[] {
    return this.all(name).flatMap(splitAddresses);
  }

  /** Replaces all fields of the name by one, in the place of the first. */
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

  /** Adds the header unless it exists. */
  setDefault(name: string, value: string): void {
    if (!this.has(name)) this.add(name, value);
  }

  add(name: string, value: string): void {
    this.#fields.push({ key: headerKey(name), name: spellHeader(name), value });
  }

  /** Adds a field before all others. */
  prepend(name: string, value: string): void {
    this.#fields.unshift({ key: headerKey(name), name: spellHeader(name), value });
  }

  /** Replaces all fields of the name by one for each value, in the place of the first. */
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
