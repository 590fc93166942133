const SEGMENT =
  /\.([\p{L}_$][\p{L}\p{N}_$-]*)|\[(-?\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/uy;

/**
 * Parses a JSONPath of names and indices, such as `$.order.items[0]['net price']`: what names one value.
 *
 * @returns The keys; a negative index counts from the end. Undefined for anything else.
 * @see RFC 9535 section 2.3, without wildcards, slices and filters
 */
export function jsonPath(path: string): readonly (string | number)[] | undefined {
  if (!path.startsWith('$')) return undefined;
  const keys: (string | number)[] = [];
  const segment = new RegExp(SEGMENT);
  for (let at = 1; at < path.length; at = segment.lastIndex) {
    segment.lastIndex = at;
    const match = segment.exec(path);
    if (!match) return undefined;
    const [, name, index, single, double] = match;
    const quoted = single ?? double;
    keys.push(index !== undefined ? Number(index) : (name ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? ''));
  }
  return keys;
}

/** @returns The value at the path, by own properties only; undefined where there is none. */
export function readJsonPath(value: unknown, path: string): unknown {
  let found = value;
  for (const key of jsonPath(path) ?? []) {
    if (typeof found !== 'object' || found === null) return undefined;
    if (Array.isArray(found)) found = typeof key === 'number' ? found.at(key) : undefined;
    else found = Object.hasOwn(found, key) ? (found as Record<string, unknown>)[key] : undefined;
  }
  return found;
}
