import { invalid } from '../../base/errors.ts';
import { MAX_JSON_DEPTH } from './schema/fields.ts';
import { type RenderTemplateOptions, renderTemplate, type Variables } from './templates.ts';

/** A template that is one variable, with its path. */
const ONE_VARIABLE = /^\s*\{\{-?\s*([\p{L}_][\p{L}\p{M}\p{N}_-]*(?:\.[\p{L}\p{M}\p{N}_-]+)*)\s*-?\}\}\s*$/u;

/**
 * Renders every string in a JSON value, at any depth; keys stay as they are. A string that is one variable and nothing
 * else, such as `{{ age }}`, becomes the variable's value, with its type.
 *
 * @throws {CallwayError} When {@link renderTemplate} throws it, and when the value is nested deeper than 32 levels.
 */
export function renderDeep(
  value: unknown,
  variables: Variables,
  options: RenderTemplateOptions = {},
): unknown {
  return renderLevel(value, 0);

  function renderLevel(item: unknown, depth: number): unknown {
    if (typeof item === 'string')
      return typedValue(item, variables) ?? renderTemplate(item, variables, options);
    if (typeof item !== 'object' || item === null) return item;
    if (depth >= MAX_JSON_DEPTH) {
      throw invalid('template_error', `a value with templates may be nested ${MAX_JSON_DEPTH} levels deep`);
    }
    if (Array.isArray(item)) return item.map((entry) => renderLevel(entry, depth + 1));
    return Object.fromEntries(
      Object.entries(item).map(([key, entry]) => [key, renderLevel(entry, depth + 1)]),
    );
  }
}

/** The value of a template that is one variable; undefined for a text, which {@link renderTemplate} renders. */
function typedValue(template: string, variables: Variables): unknown {
  const [, path] = ONE_VARIABLE.exec(template) ?? [];
  const value = path
    ?.split('.')
    .reduce<unknown>(
      (parent, key) =>
        typeof parent === 'object' && parent !== null && Object.hasOwn(parent, key)
          ? Reflect.get(parent, key)
          : undefined,
      variables,
    );
  return typeof value === 'string' ? undefined : (value ?? undefined);
}
