import { describeFilled, measureDatabase } from './database.ts';

console.log(describeFilled(await measureDatabase('pglite', Number(process.argv[2]))));
