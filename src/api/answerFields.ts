import type { z } from 'zod';
import { parse } from 'zod/v4/core';

/** Makes of a value what its schema lets out. */
type Take = (value: unknown) => unknown;
type Schema = z.core.$ZodType;

/**
 * Finds out how to take from answers the fields that their schema names, so that nothing else of what the program holds
 * gets out. Answers are values of our own code, which the compiler and the tests hold to their schemas: looking at each
 * value anew for each request costs more than all else about a small answer.
 *
 * @returns `undefined` where all of a value may go out.
 */
export function fieldsOf(schema: Schema): Take | undefined {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  switch (def.type) {
    case 'object':
      return def.catchall ? wholly(schema, Object.values(def.shape)) : fieldsOfObject(def.shape);
    case 'array': {
      const take = fieldsOf(def.element);
      return take && ((value) => (Array.isArray(value) ? value.map(take) : value));
    }
    case 'optional':
      return butFor(undefined, fieldsOf(def.innerType));
    case 'nullable':
      return butFor(null, fieldsOf(def.innerType));
    case 'readonly':
      return fieldsOf(def.innerType);
    case 'union':
      return wholly(schema, def.options);
    case 'record':
      return wholly(schema, [def.valueType]);
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
    case 'literal':
    case 'enum':
    case 'unknown':
    case 'any':
      return undefined;
    default:
      return parsed(schema);
  }
}

function fieldsOfObject(shape: Readonly<Record<string, Schema>>): Take {
  const fields = Object.entries(shape).map(([name, field]) => ({ name, take: fieldsOf(field) }));
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    const all = value as Readonly<Record<string, unknown>>;
    const taken: Record<string, unknown> = {};
    for (const { name, take } of fields) {
      const field = take ? take(all[name]) : all[name];
      if (field !== undefined) taken[name] = field;
    }
    return taken;
  };
}

function butFor(nothing: null | undefined, take: Take | undefined): Take | undefined {
  return take && ((value) => (value === nothing ? value : take(value)));
}

/** Where it depends on the value what may go out, the schema itself looks at it; unless all may. */
function wholly(schema: Schema, parts: readonly Schema[]): Take | undefined {
  return parts.every((part) => fieldsOf(part) === undefined) ? undefined : parsed(schema);
}

function parsed(schema: Schema): Take {
  return (value) => parse(schema, value);
}
