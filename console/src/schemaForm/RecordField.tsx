import { ActionIcon, Button, Fieldset, Group, Input, Stack, TextInput } from '@mantine/core';
import { PlusIcon, TrashIcon } from '@radix-ui/react-icons';
import { type FormEvent, useState } from 'react';

import { textsIn } from '../texts.ts';
import { type FieldProps, pointerTo, useForm } from './formContext.ts';
import { initialValue, isObject, withProperty } from './jsonSchema.ts';

const texts = textsIn({
  en: {
    name: (label: string) => `New name in ${label}`,
    add: 'Add',
    remove: (name: string) => `Remove ${name}`,
  },
  'zh-TW': {
    name: (label: string) => `${label}的新名稱`,
    add: '新增',
    remove: (name: string) => `移除 ${name}`,
  },
});

/** Values by names that the user chooses, such as languages. */
export function RecordField({
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
  const { Field, document, isReadOnly } = useForm();
  const [name, setName] = useState('');
  const entries = isObject(value) ? value : {};
  const inner = isObject(schema.additionalProperties) ? schema.additionalProperties : {};
  const change = (next: object) => onChange(Object.keys(next).length === 0 && !isRequired ? empty : next);
  const key = name.trim();
  const add = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (key === '' || key in entries) return;
    change({ ...entries, [key]: initialValue(inner, document) });
    setName('');
  };
  return (
    <Fieldset legend={label} p="sm">
      <Stack gap="xs">
        {help && <Input.Description>{help}</Input.Description>}
        {error && <Input.Error>{error}</Input.Error>}
        {Object.entries(entries).map(([entryName, entry]) => (
          <Group key={entryName} align="flex-start" wrap="nowrap" gap={4}>
            <div style={{ flex: 1, minWidth: 0 }}>
              <Field
                name={entryName}
                schema={{ ...inner, title: entryName }}
                value={entry}
                pointer={pointerTo(pointer, entryName)}
                isRequired
                onChange={(next) => change({ ...entries, [entryName]: next })}
              />
            </div>
            {!isReadOnly && (
              <ActionIcon
                variant="subtle"
                color="red"
                aria-label={texts.remove(entryName)}
                onClick={() => change(withProperty(entries, entryName, undefined))}
              >
                <TrashIcon />
              </ActionIcon>
            )}
          </Group>
        ))}
        {!isReadOnly && (
          <Group gap="xs" align="flex-end">
            <TextInput
              size="xs"
              label={texts.name(label)}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              onKeyDown={(event) => event.key === 'Enter' && add(event)}
            />
            <Button
              size="xs"
              variant="default"
              leftSection={<PlusIcon />}
              onClick={add}
              disabled={key === ''}
            >
              {texts.add}
            </Button>
          </Group>
        )}
      </Stack>
    </Fieldset>
  );
}
