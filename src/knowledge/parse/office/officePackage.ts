import { posix } from 'node:path';
import { Parser } from 'htmlparser2';

import { DocumentError } from '../block.ts';
import { openArchive } from './archive.ts';

/** Real documents have some tens of levels; the parser's time grows with the square of the depth. */
const MAX_DEPTH = 1_000;

/**
 * Receives a part's XML. Names come without their prefix, which files choose freely; so the transitional and the strict
 * namespaces are one.
 */
export interface XmlHandlers {
  /** @returns False to leave out the element with all that is in it. */
  open(name: string, attributes: Attributes): boolean | undefined;
  text?(text: string): void;
  close?(name: string): void;
}

export type Attributes = Readonly<Record<string, string>>;

interface Relation {
  readonly id: string;
  /** The last part of its URI, such as `hyperlink`. */
  readonly type: string;
  /** Name of a part, which may not exist. */
  readonly target: string;
}

/**
 * An Office Open XML file. References that lead nowhere are common, and Office opens such files: what is missing reads as
 * empty.
 *
 * @see ECMA-376 part 2
 */
export interface OfficePackage {
  /** Name of the part that the package is about, if it exists. */
  readonly main: string | undefined;
  has(part: string): boolean;
  /** Relations of a part to others within the package. */
  relations(part: string): Promise<Relation[]>;
  read(part: string, handlers: XmlHandlers): Promise<void>;
  /** Reads a part while `take` takes what the handlers have made of it so far. */
  readItems<Item>(part: string, handlers: XmlHandlers, take: () => Item[]): AsyncGenerator<Item>;
  close(): void;
}

/**
 * @param usualMain - The main part's usual name, for packages that do not tell.
 * @throws {DocumentError} When the archive is damaged, encrypted or a decompression bomb.
 */
export async function openOfficePackage(path: string, usualMain: string): Promise<OfficePackage> {
  const archive = await openArchive(path);

  async function* readItems<Item>(
    part: string,
    handlers: XmlHandlers,
    take: () => Item[],
  ): AsyncGenerator<Item> {
    const parser = xmlParser(handlers);
    for await (const piece of archive.read(part)) {
      parser.write(piece);
      yield* take();
    }
    parser.end();
    yield* take();
  }
  const read = async (part: string, handlers: XmlHandlers) => {
    await readItems(part, handlers, () => []).next();
  };
  const relations = async (part: string): Promise<Relation[]> => {
    const folder = posix.dirname(part);
    const found: Relation[] = [];
    await read(posix.join(folder, '_rels', `${posix.basename(part)}.rels`), {
      open(name, { Id: id, Type: type, Target: target, TargetMode: mode }) {
        if (name !== 'Relationship' || !id || !type || !target || mode === 'External') return true;
        found.push({ id, type: type.replace(/^.*\//, ''), target: resolve(folder, target) });
        return true;
      },
    });
    return found;
  };
  const named = (await relations('')).filter(({ type }) => type === 'officeDocument');
  const main = [...named.map(({ target }) => target), usualMain].find((part) => archive.has(part));
  return { main, has: archive.has, relations, read, readItems, close: archive.close };
}

/** The value of an attribute by its name without a prefix. */
export function attribute(attributes: Attributes, name: string): string | undefined {
  if (attributes[name] !== undefined) return attributes[name];
  const key = Object.keys(attributes).find((one) => one.endsWith(`:${name}`));
  return key === undefined ? undefined : attributes[key];
}

/** The id of a relation, as in `r:id`: unlike an element's own `id` it has a prefix. */
export function relationId(attributes: Attributes): string | undefined {
  const key = Object.keys(attributes).find((one) => one.endsWith(':id'));
  return key === undefined ? undefined : attributes[key];
}

/** A boolean attribute. A property such as `<w:vanish/>` is on unless its `val` says otherwise. */
export function isOn(attributes: Attributes, name = 'val', isOnByDefault = true): boolean {
  const value = attribute(attributes, name);
  return value === undefined ? isOnByDefault : !['0', 'false', 'off', 'none'].includes(value);
}

function resolve(folder: string, target: string): string {
  const path = target.replaceAll('\\', '/');
  return path.startsWith('/')
    ? path.replace(/^\/+/, '')
    : posix.join(folder, path).replace(/^(?:\.\.\/)+/, '');
}

function xmlParser(handlers: XmlHandlers): Parser {
  let depth = 0;
  /** Depth of the element that is left out. */
  let skippedDepth: number | undefined;
  return new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > MAX_DEPTH)
          throw new DocumentError(`The file's XML is nested more than ${MAX_DEPTH} levels deep`);
        if (skippedDepth !== undefined) return;
        // What older programs show instead of the alternative that was read already.
        const local = localName(name);
        if (local === 'Fallback' || handlers.open(local, attributes) === false) skippedDepth = depth;
      },
      ontext(text) {
        if (skippedDepth === undefined) handlers.text?.(text);
      },
      onclosetag(name) {
        if (skippedDepth === undefined) handlers.close?.(localName(name));
        else if (skippedDepth === depth) skippedDepth = undefined;
        depth -= 1;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
