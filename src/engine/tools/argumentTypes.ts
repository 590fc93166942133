import type { Variables } from '../../agents/pathway/templates.ts';

/** Templates render to text or a variable's value; converts it where the tool's schema asks for another type. */
export function withSchemaTypes(
  args: Variables,
  { properties }: Readonly<Record<string, unknown>>,
): Variables {
  if (typeof properties !== 'object' || properties === null) return args;
  const types = properties as Record<string, { type?: unknown } | undefined>;
  const typeOf = (key: string) => (Object.hasOwn(types, key) ? types[key]?.type : undefined);
  return Object.fromEntries(Object.entries(args).map(([key, item]) => [key, asType(item, typeOf(key))]));
}

/** @returns The value itself where it is nothing of the type. */
function asType(value: unknown, type: unknown): unknown {
  if (type === 'string')
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  if (typeof value !== 'string') return value;
  if (type === 'boolean') return value === 'true' || value === 'false' ? value === 'true' : value;
  const isNumber = (type === 'number' || type === 'integer') && value.trim() !== '';
  return isNumber && Number.isFinite(Number(value)) ? Number(value) : value;
}
