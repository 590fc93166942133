import { ZodObject, ZodString, type ZodType } from 'zod';

import { invalid } from '../../base/errors.ts';
import { zodDetails } from '../../base/validation.ts';
import { fieldsOf } from '../answerFields.ts';
import type { App } from '../app.ts';

/** Lets the schemas of routes say what comes in and what goes out. */
export function holdToSchemas(app: App): void {
  app.setValidatorCompiler<ZodType>(({ schema, httpPart }) => {
    // A path that has led to its route has all of its parameters, and they are texts.
    if (httpPart === 'params' && takesAnyTexts(schema)) return () => true;
    return (data) => {
      const result = schema.safeParse(data);
      if (result.success) return { value: result.data };
      const details = zodDetails(result.error);
      const [first] = details;
      return { error: invalid('invalid_request', first?.message ?? 'The request is not valid', details) };
    };
  });
  app.setSerializerCompiler<ZodType>(({ schema }) => {
    const take = fieldsOf(schema);
    return take ? (answer) => JSON.stringify(take(answer)) : JSON.stringify;
  });
}

function takesAnyTexts(schema: ZodType): boolean {
  if (!(schema instanceof ZodObject) || hasChecks(schema)) return false;
  return Object.values(schema.shape).every((field) => field instanceof ZodString && !hasChecks(field));
}

function hasChecks({ def }: ZodObject | ZodString): boolean {
  return (def.checks ?? []).length > 0;
}
