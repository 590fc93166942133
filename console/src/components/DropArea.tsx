import { Button, FileButton, Group, Paper, Text } from '@mantine/core';
import { UploadIcon } from '@radix-ui/react-icons';
import { type ReactNode, useState } from 'react';

import { textsIn } from '../texts.ts';

const texts = textsIn({
  en: {
    one: { choose: 'Choose a file', drop: 'or drop it here' },
    many: { choose: 'Choose files', drop: 'or drop them here' },
  },
  'zh-TW': {
    one: { choose: '選擇檔案', drop: '或拖放到這裡' },
    many: { choose: '選擇檔案', drop: '或拖放到這裡' },
  },
});

interface DropAreaProps {
  /** File name extensions that the choice offers, such as `.csv,.xlsx`. Default: all. */
  readonly accept?: string;
  readonly multiple?: boolean;
  onFiles(files: File[]): void;
  /** What stands below the button. */
  readonly children?: ReactNode;
}

/** Takes files that are dropped or chosen. */
export function DropArea({ accept, multiple = false, onFiles, children }: DropAreaProps) {
  const [isOver, setIsOver] = useState(false);
  const { choose, drop } = multiple ? texts.many : texts.one;
  return (
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
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      <Group gap="sm" justify="center">
        <FileButton accept={accept} multiple={multiple} onChange={(chosen) => onFiles([chosen ?? []].flat())}>
          {(props) => (
            <Button leftSection={<UploadIcon />} {...props}>
              {choose}
            </Button>
          )}
        </FileButton>
        <Text size="sm" c="dimmed">
          {drop}
        </Text>
      </Group>
      {children}
    </Paper>
  );
}
