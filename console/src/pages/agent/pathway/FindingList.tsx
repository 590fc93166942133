import { Alert, Text } from '@mantine/core';

import type { Finding } from './findings.ts';

export function FindingList({ findings }: { findings: readonly Finding[] }) {
  return findings.map(({ severity, message, pointer }) => (
    <Alert
      key={`${pointer} ${message}`}
      variant="light"
      color={severity === 'error' ? 'red' : 'orange'}
      p="xs"
    >
      <Text size="sm" c="var(--mantine-color-text)">
        {message}
      </Text>
    </Alert>
  ));
}
