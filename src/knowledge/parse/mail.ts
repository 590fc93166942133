import { readFile } from 'node:fs/promises';
import PostalMime, { type Address, type Email } from 'postal-mime';

import { type Block, type BlockReader, DocumentError } from './block.ts';
import { htmlBlocks } from './html/html.ts';
import { paragraphs } from './plainText.ts';

/** Messages that were forwarded within each other. */
const LIMITS = { maxNestingDepth: 64, maxHeadersSize: 1_048_576 } as const;

/**
 * A mail (.eml) or a saved web page (.mht): subject, sender, recipients and date, then its text; its HTML where it has no
 * text. Messages within it are read, too; other attachments are named only.
 */
export const readMail: BlockReader = async function* ({ path }) {
  const mail = await parse(await readFile(path));
  if (mail.subject) yield { kind: 'heading', text: mail.subject };
  const { from, to = [], cc = [], date } = mail;
  const lines = [
    ['From', from ? addressText(from) : ''],
    ['To', to.map(addressText).join(', ')],
    ['Cc', cc.map(addressText).join(', ')],
    ['Date', date ?? ''],
  ].filter(([, value]) => value !== '');
  if (lines.length > 0)
    yield { kind: 'paragraph', text: lines.map(([name, value]) => `${name}: ${value}`).join('\n') };
  yield* bodyOf(mail);
  const names = mail.attachments.flatMap(({ filename, related }) => (filename && !related ? filename : []));
  if (names.length > 0)
    yield { kind: 'paragraph', text: `Attachments, which are not read: ${names.join(', ')}` };
};

async function parse(bytes: Buffer): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, LIMITS);
  } catch (error) {
    throw new DocumentError('The mail is damaged, or nested too deeply, and cannot be read', {
      cause: error,
    });
  }
}

async function* bodyOf({ text, html }: Email): AsyncGenerator<Block> {
  if (text?.trim()) {
    for await (const paragraph of paragraphs(once(text))) yield { kind: 'paragraph', text: paragraph };
  } else if (html !== undefined) yield* htmlBlocks(() => once(html));
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

function addressText(address: Address): string {
  if (address.group) return `${address.name}: ${address.group.map(addressText).join(', ')}`;
  const { name, address: mailbox } = address;
  return name && mailbox ? `${name} <${mailbox}>` : name || mailbox;
}
