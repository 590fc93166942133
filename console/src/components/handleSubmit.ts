import type { FormEvent } from 'react';

/** What a form does in place of leaving the page. */
export const handleSubmit =
  (save: () => void) =>
  (event: FormEvent): void => {
    event.preventDefault();
    save();
  };
