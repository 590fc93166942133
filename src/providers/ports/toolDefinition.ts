/** A JSON Schema document, as it travels to a model. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A function that the model may call. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments: an object schema. Absent: the tool takes none. */
  readonly parameters?: JsonSchema;
}

/** Whether, and which, tool the model is to call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };
