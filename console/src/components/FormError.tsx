import { Text } from '@mantine/core';

/** Why something was not saved or done; it is read out at once. */
export function FormError({ error }: { readonly error: Error | null }) {
  return (
    error && (
      <Text c="var(--mantine-color-error)" size="sm" role="alert">
        {error.message}
      </Text>
    )
  );
}
