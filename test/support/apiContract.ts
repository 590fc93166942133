import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

type Json = Record<string, unknown>;

/** One operation of the OpenAPI document. */
export interface Operation {
  /** Upper case. */
  readonly method: string;
  /** With `{parameters}`. */
  readonly path: string;
  readonly definition: {
    readonly parameters?: readonly { in: string; name: string; schema: Json }[];
    readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Json }>> };
    readonly responses: Readonly<Record<string, { content?: Readonly<Record<string, { schema?: Json }>> }>>;
  };
}

export interface ApiContract {
  readonly operations: readonly Operation[];
  /** @throws {Error} When the document does not allow this answer to this request. */
  check(request: { method: string; url: string }, answer: { status: number; body: unknown }): void;
}

/** Statuses allowed for requests that match no operation. */
const WITHOUT_OPERATION = new Set([400, 404, 405]);

/** Validates answers against an OpenAPI document: the status must be documented, and the body must match its schema. */
export function createApiContract(document: Json): ApiContract {
  // Most schemas check a few answers: faster code would cost more than it saves.
  const cheap = { inlineRefs: false, code: { optimize: false } };
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true, ...cheap });
  ajv.addSchema(document, 'document');
  const operations = operationsOf(document);
  const routes = operations.map((operation) => ({ operation, pattern: patternOf(operation.path) }));
  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (pointer: string) => {
    const known = validators.get(pointer);
    if (known) return known;
    const made = ajv.compile({ $ref: `document#${pointer}` });
    validators.set(pointer, made);
    return made;
  };

  return {
    operations,
    check({ method, url }, { status, body }) {
      const [path = ''] = url.split('?');
      const name = `${method} ${path} → ${status}`;
      const operation = routes.find(
        (route) =>
          route.operation.method === (method === 'HEAD' ? 'GET' : method) && route.pattern.test(path),
      )?.operation;
      if (!operation) {
        if (!WITHOUT_OPERATION.has(status)) throw new Error(`${name}: no such operation in the document`);
        return;
      }
      const documented = operation.definition.responses[String(status)];
      if (!documented) throw new Error(`${name}: an undocumented status; it said ${JSON.stringify(body)}`);
      const type = 'application/json';
      if (!documented.content?.[type]?.schema || status === 204 || method === 'HEAD') return;
      const validate = validatorOf(pointerTo(operation, String(status), type));
      if (!validate(body)) {
        throw new Error(`${name}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
      }
    },
  };
}

function operationsOf(document: Json): Operation[] {
  return Object.entries(document.paths as Record<string, Json>).flatMap(([path, item]) =>
    Object.entries(item).map(([method, definition]) => ({
      method: method.toUpperCase(),
      path,
      definition: definition as Operation['definition'],
    })),
  );
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]*')}$`);
}

function pointerTo({ method, path }: Operation, status: string, type: string): string {
  return ['paths', path, method.toLowerCase(), 'responses', status, 'content', type, 'schema']
    .map((key) => `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('');
}
