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
    title: 'Add contacts from a file',
    about:
      'CSV or XLSX with a header, up to 1,000,000 rows. One column has the numbers; the others become variables of the call.',
    choose: 'Choose a file',
    drop: 'or drop it here',
  },
  'zh-TW': {
    title: '由檔案新增聯絡人',
    about: '含標題列的 CSV 或 XLSX，最多 1,000,000 列。其中一欄是號碼，其他欄成為通話的變數。',
    choose: '選擇檔案',
    drop: '或拖放到這裡',
  },
});

interface ImportListProps {
  readonly projectId: string;
  readonly campaignId: string;
}

/** Takes a file, asks what its columns mean, and follows its import. */
export function ImportList({ projectId, campaignId }: ImportListProps) {
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
    <Section title={texts.title} description={texts.about}>
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
          projectId={projectId}
          campaignId={campaignId}
          file={chosen.file}
          firstRows={chosen.firstRows}
          onStarted={onStarted}
        />
      )}
      {importId !== undefined && <ImportProgress projectId={projectId} importId={importId} />}
    </Section>
  );
}
