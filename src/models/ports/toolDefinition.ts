/** A JSON Schema document. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A function that the model may call. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  /** The schema of the arguments object; undefined for a tool without arguments. */
  readonly parameters?: JsonSchema;
}

/** Decides whether the model must call a tool, and which one. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };
