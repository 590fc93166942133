import { type ComponentType, createContext, useContext } from 'react';

import type { JsonSchema } from './jsonSchema.ts';

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** What all fields of one form have in common. */
export interface FormContext {
  /** Shows one value; here, since fields contain fields. */
  readonly Field: ComponentType<ValueProps>;
  /** In which references of the schema point. */
  readonly document: unknown;
  /** What is wrong, by the JSON pointer of the value. */
  readonly errors: ReadonlyMap<string, string>;
  /** Variables that templates may name. */
  readonly variables: readonly string[];
  readonly isReadOnly: boolean;
  /** Shows a template with its variables filled in, below its field. */
  readonly TemplatePreview: ComponentType<{ readonly template: string }> | undefined;
  /** Known values of a text or of a list of texts, at a JSON pointer. */
  choices(pointer: string): readonly Choice[] | undefined;
}

export const FormContext = createContext<FormContext>({
  Field: () => null,
  document: {},
  errors: new Map(),
  variables: [],
  isReadOnly: false,
  TemplatePreview: undefined,
  choices: () => undefined,
});

export function useForm(): FormContext {
  return useContext(FormContext);
}

/** A value, as the form, an object or a list shows it. */
export interface ValueProps {
  /** Of the property; label and help are made of it. */
  readonly name: string;
  readonly schema: JsonSchema;
  readonly value: unknown;
  /** JSON pointer of the value. */
  readonly pointer: string;
  readonly isRequired: boolean;
  onChange(value: unknown): void;
}

/** What the field of a value gets. */
export interface FieldProps {
  /** Resolved. */
  readonly schema: JsonSchema;
  readonly value: unknown;
  /** JSON pointer of the value. */
  readonly pointer: string;
  readonly label: string;
  readonly help: string | undefined;
  readonly isRequired: boolean;
  /** Of the field itself, and of what lies in it where it shows no fields for that. */
  readonly error: string | undefined;
  /** @param value - Undefined, or null where the schema has it, for an empty field. */
  onChange(value: unknown): void;
  /** What an empty field stands for. */
  readonly empty: null | undefined;
}

/** The path of a detail of the API's error response. */
export function pointerTo(parent: string, key: string | number): string {
  return `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
