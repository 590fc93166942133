import { Select, Stack } from '@mantine/core';

import { textsIn } from '../texts.ts';
import { type FieldProps, useForm } from './formContext.ts';
import { fits, initialValue, isObject, type JsonSchema, kindOf } from './jsonSchema.ts';
import { ObjectFields } from './ObjectField.tsx';
import { branchNameOf } from './words.ts';

const texts = textsIn({
  en: { none: 'None', value: 'Value' },
  'zh-TW': { none: '無', value: '值' },
});

/** A choice of what kind of value it is, and the fields of that kind. */
export function UnionField({
  schema,
  value,
  pointer,
  label,
  help,
  error,
  isRequired,
  onChange,
  empty,
}: FieldProps) {
  const { document, isReadOnly } = useForm();
  const branches = schema.anyOf ?? [];
  const isEmpty = value === undefined || value === null;
  const chosen = isEmpty ? -1 : branches.findIndex((branch) => fits(value, branch));
  const branch = branches[chosen];
  return (
    <Stack gap="xs">
      <Select
        label={label}
        description={help}
        error={branch && kindOf(branch) !== 'object' ? undefined : error}
        placeholder={texts.none}
        withAsterisk={isRequired}
        readOnly={isReadOnly}
        data={branches.map((one, index) => ({ value: String(index), label: branchNameOf(one) }))}
        value={branch ? String(chosen) : null}
        clearable={!isRequired}
        allowDeselect={false}
        onChange={(next) =>
          onChange(next === null ? empty : initialValue(branches[Number(next)] ?? {}, document))
        }
      />
      {branch && <Branch schema={branch} {...{ value, pointer, onChange }} />}
    </Stack>
  );
}

function Branch({
  schema,
  value,
  pointer,
  onChange,
}: { schema: JsonSchema } & Pick<FieldProps, 'value' | 'pointer' | 'onChange'>) {
  const { Field } = useForm();
  if (kindOf(schema) === 'object' && isObject(value) && schema.additionalProperties === false) {
    const names = Object.keys(schema.properties ?? {});
    return <ObjectFields {...{ schema, value, pointer, names, onChange }} />;
  }
  // An expression of any operators: what its schema names is what it must not have.
  const opaque = kindOf(schema) === 'object' ? {} : schema;
  const { description: _shownAbove, ...rest } = opaque;
  return (
    <Field name={texts.value} schema={rest} value={value} pointer={pointer} isRequired onChange={onChange} />
  );
}
