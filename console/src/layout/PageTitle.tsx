import { Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';

/** The heading of a page, which is its name in the browser's tab too. */
export function PageTitle({ children }: { children: string }) {
  useDocumentTitle(`${children} · Callway`);
  return (
    <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
      {children}
    </Title>
  );
}
