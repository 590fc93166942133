import { Button, Group, NativeSelect, SimpleGrid, Stack, Table, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { withoutBidiControls } from '../../../api/bidiControls.ts';
import { uploadForm } from '../../../api/uploadForm.ts';
import { handleSubmit } from '../../../components/handleSubmit.ts';
import { formatPercent } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import type { FirstRows } from './firstRows.ts';
import type { ImportTarget } from './ImportList.tsx';

const texts = textsIn({
  en: {
    columns: (name: string) => `What the columns of ${name} mean`,
    typed: 'Write the headers of the columns as they stand in the file.',
    fields: {
      toNumber: 'Column with the number',
      timezone: 'Time zone (IANA name)',
      externalId: 'Your id',
      notBefore: 'No call before (ISO 8601)',
    },
    none: 'None',
    choose: 'Choose a column',
    firstRows: 'The first rows',
    others: 'All other columns become variables of the call.',
    import: { contacts: 'Import the contacts', numbers: 'Import the numbers' },
    sent: (share: string) => `Sending: ${share}`,
    network: 'The connection to the service was lost. Import the file again.',
  },
  'zh-TW': {
    columns: (name: string) => `${name} 各欄的意義`,
    typed: '請填寫檔案中各欄的標題。',
    fields: {
      toNumber: '號碼的欄位',
      timezone: '時區（IANA 名稱）',
      externalId: '您的識別碼',
      notBefore: '不早於（ISO 8601）',
    },
    none: '無',
    choose: '選擇欄位',
    firstRows: '前幾列',
    others: '其他欄位都成為通話的變數。',
    import: { contacts: '匯入聯絡人', numbers: '匯入號碼' },
    sent: (share: string) => `傳送中：${share}`,
    network: '與服務的連線中斷，請重新匯入檔案。',
  },
});

type Field = keyof typeof texts.fields;
type Mapping = Readonly<Partial<Record<Field, string>>>;
const FIELDS: Readonly<Record<ImportTarget['kind'], readonly Field[]>> = {
  contacts: Object.keys(texts.fields) as Field[],
  numbers: ['toNumber'],
};

/** Headers that name a field without asking. */
const USUAL_HEADERS: Readonly<Record<Field, RegExp>> = {
  toNumber: /phone|mobile|\btel|number|電話|手機|號碼/i,
  timezone: /^time ?_?zone$|時區/i,
  externalId: /^external_?id$/i,
  notBefore: /^not_?before$/i,
};

interface MapColumnsProps {
  readonly target: ImportTarget;
  readonly file: File;
  /** Undefined where the browser cannot read the file: the headers are then typed. */
  readonly firstRows: FirstRows | undefined;
  readonly onStarted: (importId: string) => void;
}

/** Asks what the columns of a file mean, and sends it. */
export function MapColumns({ target, file, firstRows, onStarted }: MapColumnsProps) {
  const { kind, projectId, path } = target;
  const fields = FIELDS[kind];
  const [mapping, setMapping] = useState<Mapping>(() => mappingFor(fields, firstRows?.headers ?? []));
  const [sent, setSent] = useState(0);
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const form = new FormData();
      form.append('mapping', JSON.stringify(mapping));
      form.append('file', file);
      return (await uploadForm(path, form, { projectId, onProgress: setSent })) as { importId: string };
    },
    onSuccess: ({ importId }) => onStarted(importId),
  });
  const set = (field: Field, header: string) =>
    setMapping((before) => ({ ...before, [field]: header || undefined }));
  return (
    <Stack component="form" onSubmit={handleSubmit(() => mutate())} gap="sm">
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {texts.columns(withoutBidiControls(file.name))}
      </Text>
      {!firstRows && <Text size="sm">{texts.typed}</Text>}
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        {fields.map((field) => (
          <HeaderField
            key={field}
            field={field}
            headers={firstRows?.headers}
            value={mapping[field] ?? ''}
            onChange={(header) => set(field, header)}
          />
        ))}
      </SimpleGrid>
      {firstRows && <FirstRowsTable {...firstRows} />}
      {kind === 'contacts' && (
        <Text size="sm" c="dimmed">
          {texts.others}
        </Text>
      )}
      {error && (
        <Text c="var(--mantine-color-error)" role="alert">
          {error.message === 'network' ? texts.network : error.message}
        </Text>
      )}
      <Group>
        <Button type="submit" loading={isPending} disabled={mapping.toNumber === undefined}>
          {texts.import[kind]}
        </Button>
        {isPending && <Text size="sm">{texts.sent(formatPercent(sent))}</Text>}
      </Group>
    </Stack>
  );
}

interface HeaderFieldProps {
  readonly field: Field;
  readonly headers: readonly string[] | undefined;
  readonly value: string;
  readonly onChange: (header: string) => void;
}

function HeaderField({ field, headers, value, onChange }: HeaderFieldProps) {
  const isNeeded = field === 'toNumber';
  const props = { label: texts.fields[field], required: isNeeded, value };
  if (!headers) return <TextInput {...props} onChange={(event) => onChange(event.currentTarget.value)} />;
  const names = [...new Set(headers)].filter(Boolean);
  return (
    <NativeSelect
      {...props}
      data={[
        { value: '', label: isNeeded ? texts.choose : texts.none },
        ...names.map((header) => ({ value: header, label: withoutBidiControls(header) })),
      ]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function FirstRowsTable({ headers, rows }: FirstRows) {
  const places = [...headers.keys()];
  return (
    <Table.ScrollContainer minWidth={Math.max(320, headers.length * 100)}>
      <Table aria-label={texts.firstRows}>
        <Table.Thead>
          <Table.Tr>
            {places.map((place) => (
              <Table.Th key={place}>{withoutBidiControls(headers[place] ?? '')}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a file have no other name, and stay in place.
            <Table.Tr key={index}>
              {places.map((place) => (
                <Table.Td key={place}>{withoutBidiControls(row[place] ?? '')}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function mappingFor(fields: readonly Field[], headers: readonly string[]): Mapping {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const header = headers.find((one) => USUAL_HEADERS[field].test(one));
      return header === undefined ? [] : [[field, header]];
    }),
  );
}
