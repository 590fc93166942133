/** A JSON schema of the OpenAPI document, as far as fields are derived from it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface RequestBody {
  readonly content: Readonly<Record<string, { readonly schema?: Schema }>>;
}

/** The parts of the OpenAPI document that name what a user sends, and what webhooks carry. */
export interface FieldDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { requestBody?: RequestBody }>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly requestBody: RequestBody } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/**
 * The fields of every request body by path, and of every webhook by event, such as `http.headers[].key`. Objects
 * count by their fields alone.
 */
export function documentFields(document: FieldDocument): ReadonlyMap<string, ReadonlySet<string>> {
  const fields = new Map<string, Set<string>>();
  const add = (place: string, body: RequestBody | undefined) => {
    const found = fields.get(place) ?? new Set();
    for (const { schema } of Object.values(body?.content ?? {})) collect(document, schema, '', [], found);
    if (found.size > 0) fields.set(place, found);
  };
  for (const [path, operations] of Object.entries(document.paths))
    for (const { requestBody } of Object.values(operations)) add(path, requestBody);
  for (const [event, { post }] of Object.entries(document.webhooks)) add(event, post.requestBody);
  return fields;
}

/**
 * @param above - Schemas that contain this one.
 * @returns Whether a value may have no fields of its own, so that the field itself counts.
 */
function collect(
  document: FieldDocument,
  given: Schema | undefined,
  path: string,
  above: readonly Schema[],
  found: Set<string>,
): boolean {
  const schema = resolve(document, given);
  if (!schema || above.includes(schema)) return true;
  const within = [...above, schema];
  const choices = [schema.oneOf, schema.anyOf, schema.allOf].flatMap((list) => list ?? []);
  if (choices.length > 0)
    return choices.map((choice) => collect(document, choice, path, within, found)).includes(true);
  if (schema.items) return collect(document, schema.items, `${path}[]`, within, found);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const field = path === '' ? name : `${path}.${name}`;
    if (collect(document, property, field, within, found)) found.add(field);
  }
  return schema.properties === undefined && schema.type !== 'null';
}

function resolve({ components }: FieldDocument, schema: Schema | undefined): Schema | undefined {
  const name = schema?.$ref?.split('/').at(-1);
  return name === undefined ? schema : components.schemas[name];
}
