import { Button, CloseButton, Fieldset, Group, Input, Stack, Text } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';

import { textsIn } from '../texts.ts';
import { type FieldProps, pointerTo, useForm } from './formContext.ts';
import { initialValue, isObject, type JsonObject, type JsonSchema, withProperty } from './jsonSchema.ts';

const texts = textsIn({
  en: { set: (label: string) => `Set: ${label}`, remove: (label: string) => `Remove: ${label}` },
  'zh-TW': { set: (label: string) => `設定：${label}`, remove: (label: string) => `移除：${label}` },
});

/** A group of fields; one that is not set is a button. */
export function ObjectField({
  schema,
  value,
  pointer,
  label,
  help,
  isRequired,
  error,
  onChange,
  empty,
}: FieldProps) {
  const { document, isReadOnly } = useForm();
  if (!isObject(value) && !isRequired) {
    return (
      <div>
        <Button
          variant="default"
          size="xs"
          leftSection={<PlusIcon />}
          disabled={isReadOnly}
          onClick={() => onChange(initialValue({ ...schema, default: undefined }, document))}
        >
          {texts.set(label)}
        </Button>
        {help && <Input.Description mt={4}>{help}</Input.Description>}
        {error && <Input.Error mt={4}>{error}</Input.Error>}
      </div>
    );
  }
  return (
    <Fieldset
      legend={
        <Group gap={4}>
          <Text fw={600} size="sm">
            {label}
          </Text>
          {!isRequired && !isReadOnly && (
            <CloseButton size="sm" aria-label={texts.remove(label)} onClick={() => onChange(empty)} />
          )}
        </Group>
      }
      p="sm"
    >
      <Stack gap="sm">
        {help && <Input.Description>{help}</Input.Description>}
        {error && <Input.Error>{error}</Input.Error>}
        <ObjectFields
          schema={schema}
          value={isObject(value) ? value : {}}
          pointer={pointer}
          names={Object.keys(schema.properties ?? {})}
          onChange={onChange}
        />
      </Stack>
    </Fieldset>
  );
}

/** The fields of an object's properties. */
export function ObjectFields({
  schema,
  value,
  pointer,
  names,
  onChange,
}: {
  schema: JsonSchema;
  value: JsonObject;
  pointer: string;
  names: readonly string[];
  onChange: (value: JsonObject, field: string) => void;
}) {
  const { Field } = useForm();
  return names.flatMap((name) => {
    const property = schema.properties?.[name];
    // The mark of a union's branch is chosen with the branch.
    if (!property || 'const' in property || property.not) return [];
    return [
      <Field
        key={name}
        name={name}
        schema={property}
        value={value[name]}
        pointer={pointerTo(pointer, name)}
        isRequired={schema.required?.includes(name) ?? false}
        onChange={(next) => onChange(withProperty(value, name, next), name)}
      />,
    ];
  });
}
