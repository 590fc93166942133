import type { ComponentType } from 'react';

import {
  ChoiceField,
  ChoicesField,
  JsonField,
  NumberField,
  TextField,
  TextsField,
  YesNoField,
} from './fields.tsx';
import { type FieldProps, useForm, type ValueProps } from './formContext.ts';
import { type FieldKind, kindOf, resolved } from './jsonSchema.ts';
import { ListField } from './ListField.tsx';
import { ObjectField } from './ObjectField.tsx';
import { RecordField } from './RecordField.tsx';
import { UnionField } from './UnionField.tsx';
import { helpOf, nameOf } from './words.ts';

const FIELDS: Readonly<Record<FieldKind, ComponentType<FieldProps>>> = {
  text: TextField,
  number: NumberField,
  boolean: YesNoField,
  choice: ChoiceField,
  texts: TextsField,
  choices: ChoicesField,
  list: ListField,
  object: ObjectField,
  record: RecordField,
  union: UnionField,
  json: JsonField,
};

/** Kinds that show no fields for what lies in their value, and so its errors too. */
const OPAQUE: ReadonlySet<FieldKind> = new Set(['texts', 'choices', 'json']);

/** The field of one value, by its schema. */
export function Field({ name, schema: given, value, pointer, isRequired, onChange }: ValueProps) {
  const { document, errors } = useForm();
  const { schema, isNullable } = resolved(given, document);
  const kind = kindOf(schema);
  const Kind = FIELDS[kind];
  return (
    <Kind
      schema={schema}
      value={value}
      pointer={pointer}
      label={schema.title ?? nameOf(name)}
      help={helpOf(name, schema.description)}
      isRequired={isRequired && !isNullable}
      error={errors.get(pointer) ?? (OPAQUE.has(kind) ? errorInside(errors, pointer) : undefined)}
      onChange={onChange}
      empty={isNullable ? null : undefined}
    />
  );
}

function errorInside(errors: ReadonlyMap<string, string>, pointer: string): string | undefined {
  for (const [path, message] of errors) if (path.startsWith(`${pointer}/`)) return message;
  return undefined;
}
