import type { Parameter } from '../connection/database.ts';

/** The parameters of a statement that is put together from conditions. */
export class Given {
  readonly parameters: Parameter[];

  constructor(...first: Parameter[]) {
    this.parameters = first;
  }

  /** @returns Its place, such as `$2`. */
  add(value: Parameter): string {
    return `$${this.parameters.push(value)}`;
  }

  /** Returns a condition on the place of a value; none for undefined. */
  when(value: Parameter | undefined, condition: (place: string) => string): string[] {
    return value === undefined ? [] : [condition(this.add(value))];
  }
}
