import type { Parameter, Queryable } from '../connection/database.ts';

/** Values by the names of their columns. A column whose value is undefined is left out. */
export type Columns = Readonly<Record<string, Parameter | undefined>>;

/** Formats a timestamp of the drivers for the API. */
export function isoTime(value: Date | string): string {
  return new Date(value).toISOString();
}

/** Returns a row's values by names in camelCase, times as ISO texts. `Fields` is what the selected columns make. */
export function fieldsOf<Fields>(row: object): Fields {
  const fields = Object.entries(row).map(([column, value]) => {
    const name = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    return [name, value instanceof Date ? isoTime(value) : value];
  });
  return Object.fromEntries(fields) as Fields;
}

/** Inserts a row, and returns the columns of `returning`. */
export async function insertRow<Row extends object>(
  database: Queryable,
  table: string,
  columns: Columns,
  returning = '1',
): Promise<Row> {
  const { names, places, parameters } = listed(columns);
  const [row] = await database.query<Row>(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')}) RETURNING ${returning}`,
    parameters,
  );
  if (!row) throw new Error('INSERT returned no row');
  return row;
}

/** The SET clause of an update. @param taken - The number of parameters before its own. */
export function assignments(columns: Columns, taken: number): { set: string; parameters: Parameter[] } {
  const { names, places, parameters } = listed(columns, taken);
  return { set: names.map((name, index) => `${name} = ${places[index]}`).join(', '), parameters };
}

function listed(columns: Columns, taken = 0) {
  const given = Object.entries(columns).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  );
  return {
    names: given.map(({ name }) => name),
    places: given.map((_, index) => `$${taken + index + 1}`),
    parameters: given.map(({ value }) => value),
  };
}
