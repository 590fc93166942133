/** A variable that is drawn from the talk. */
export interface VariableConfig {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean' | 'date' | 'enum';
  readonly description: string;
  /** What an enum may be. */
  readonly values?: readonly string[] | undefined;
  readonly required?: boolean | undefined;
}
