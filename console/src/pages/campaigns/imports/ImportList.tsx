import { Button, FileButton, Group, Paper, Stack, Text } from '@mantine/core';
import { UploadIcon } from '@radix-ui/react-icons';
import { type DragEvent, useState } from 'react';

import { Section } from '../../../components/Section.tsx';
import { textsIn } from '../../../texts.ts';
import { type FirstRows, readFirstRows } from './firstRows.ts';
import { ImportProgress } from './ImportProgress.tsx';
import { MapColumns } from './MapColumns.tsx';

const texts = textsIn({
  en: {
    title: { contacts: 'Add contacts from a file', numbers: 'Add numbers from a file' },
    about: {
      contacts:
        'CSV or XLSX with a header, up to 1,000,000 rows. One column has the numbers; the others become variables of the call.',
      numbers:
        'CSV or XLSX with a header, up to 1,000,000 rows. One column has the numbers; the others are not read.',
    },
    choose: 'Choose a file',
    drop: 'or drop it here',
  },
  'zh-TW': {
    title: { contacts: '由檔案新增聯絡人', numbers: '由檔案加入號碼' },
    about: {
      contacts: '含標題列的 CSV 或 XLSX，最多 1,000,000 列。其中一欄是號碼，其他欄成為通話的變數。',
      numbers: '含標題列的 CSV 或 XLSX，最多 1,000,000 列。其中一欄是號碼，其他欄不會讀取。',
    },
    choose: '選擇檔案',
    drop: '或拖放到這裡',
  },
});

/** What takes a list: a campaign, or a do-not-call list. */
export interface ImportTarget {
  readonly kind: 'contacts' | 'numbers';
  /** Undefined for the installation. */
  readonly projectId: string | undefined;
  /** The path of the API that takes the file. */
  readonly path: string;
  /** Of the queries that show what was read. */
  readonly queryKey: readonly unknown[];
}

/** Takes a file, asks what its columns mean, and follows its import. */
export function ImportList({ target }: { target: ImportTarget }) {
  const [chosen, setChosen] = useState<{ file: File; firstRows: FirstRows | undefined } | undefined>();
  const [importId, setImportId] = useState<string | undefined>();
  const [isOver, setIsOver] = useState(false);
  const choose = async (file: File | null | undefined) => {
    if (!file) return;
    setChosen({ file, firstRows: await readFirstRows(file) });
    setImportId(undefined);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    void choose(event.dataTransfer.files[0]);
  };
  const onStarted = (started: string) => {
    setChosen(undefined);
    setImportId(started);
  };
  return (
    <Section title={texts.title[target.kind]} description={texts.about[target.kind]}>
      <Paper
        withBorder
        p="lg"
        style={{
          borderStyle: 'dashed',
          borderColor: isOver ? 'var(--mantine-primary-color-filled)' : undefined,
        }}
        onDragOver={(event) => {
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={onDrop}
      >
        <Stack gap="xs" align="center">
          <Group gap="sm" justify="center">
            <FileButton accept=".csv,.tsv,.txt,.xlsx" onChange={(file) => void choose(file)}>
              {(props) => (
                <Button leftSection={<UploadIcon />} {...props}>
                  {texts.choose}
                </Button>
              )}
            </FileButton>
            <Text size="sm" c="dimmed">
              {texts.drop}
            </Text>
          </Group>
        </Stack>
      </Paper>
      {chosen && (
        <MapColumns
          key={`${chosen.file.name} ${chosen.file.lastModified}`}
          target={target}
          file={chosen.file}
          firstRows={chosen.firstRows}
          onStarted={onStarted}
        />
      )}
      {importId !== undefined && <ImportProgress target={target} importId={importId} />}
    </Section>
  );
}
