/** A line of the table: a figure beside its aim. */
export interface Line {
  readonly what: string;
  readonly aim: string;
  readonly figure: string;
}
