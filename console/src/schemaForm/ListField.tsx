import { ActionIcon, Button, Group, Input, Stack } from '@mantine/core';
import { ArrowUpIcon, PlusIcon, TrashIcon } from '@radix-ui/react-icons';

import { textsIn } from '../texts.ts';
import { type FieldProps, pointerTo, useForm } from './formContext.ts';
import { initialValue } from './jsonSchema.ts';

const texts = textsIn({
  en: {
    add: (label: string) => `Add: ${label}`,
    remove: (label: string, place: number) => `Remove ${label} ${place}`,
    up: (label: string, place: number) => `Move ${label} ${place} up`,
  },
  'zh-TW': {
    add: (label: string) => `新增：${label}`,
    remove: (label: string, place: number) => `移除第 ${place} 個${label}`,
    up: (label: string, place: number) => `上移第 ${place} 個${label}`,
  },
});

/** Entries below each other, in an order that may matter. */
export function ListField({
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
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  const items = schema.items ?? {};
  const change = (next: readonly unknown[]) => onChange(next.length === 0 && !isRequired ? empty : next);
  return (
    <Input.Wrapper
      label={label}
      description={help}
      error={error}
      labelElement="div"
      withAsterisk={isRequired}
    >
      <Stack gap="xs" mt={4}>
        {entries.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries have no identity but their place.
          <Group key={index} align="flex-start" wrap="nowrap" gap={4}>
            <div style={{ flex: 1, minWidth: 0 }}>
              <Field
                name={`${index + 1}`}
                schema={items}
                value={entry}
                pointer={pointerTo(pointer, index)}
                isRequired
                onChange={(next) => change(entries.with(index, next))}
              />
            </div>
            {!isReadOnly && (
              <Stack gap={2}>
                <ActionIcon
                  variant="subtle"
                  color="red"
                  aria-label={texts.remove(label, index + 1)}
                  onClick={() => change(entries.toSpliced(index, 1))}
                >
                  <TrashIcon />
                </ActionIcon>
                {index > 0 && (
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={texts.up(label, index + 1)}
                    onClick={() => change(entries.toSpliced(index, 1).toSpliced(index - 1, 0, entry))}
                  >
                    <ArrowUpIcon />
                  </ActionIcon>
                )}
              </Stack>
            )}
          </Group>
        ))}
        {!isReadOnly && (
          <Button
            variant="default"
            size="xs"
            leftSection={<PlusIcon />}
            style={{ alignSelf: 'flex-start' }}
            onClick={() => change([...entries, initialValue(items, document)])}
          >
            {texts.add(label)}
          </Button>
        )}
      </Stack>
    </Input.Wrapper>
  );
}
