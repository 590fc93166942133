/**
 * Where a field acts: `file › title` of a test, with the file from `test/`. `as` is the field's name in that test, where
 * it is another.
 */
export type FieldRow = string | { readonly test: string; readonly as: string };

/** The fields of one resource. */
export interface FieldTable {
  readonly name: string;
  /** Paths of requests and names of webhooks that have these fields, with the prefix of the fields there. */
  readonly places: readonly (readonly [place: string, prefix?: string])[];
  /** By field, such as `http.headers[].key`. */
  readonly rows: Readonly<Record<string, FieldRow>>;
}
