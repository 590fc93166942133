import { Command, CommanderError } from 'commander';
import { ConfigurationError } from '../base/configurationError.ts';
import { packageVersion } from '../base/packagePath.ts';
import { OtherBuildError } from '../infra/postgres/connection/migrate.ts';
import { withLeadingApiOptions } from './apiSession.ts';
import { type CliContext, CommandError, EXIT, type ExitCode } from './command.ts';
import { campaignCommands } from './commands/campaign.ts';
import { doctorCommand } from './commands/doctor.ts';
import { keyCommands } from './commands/key.ts';
import { migrateCommand } from './commands/migrate.ts';
import { projectCommands } from './commands/project.ts';
import { secretsCommands } from './commands/secrets.ts';
import { streamCheckCommand } from './commands/streamCheck.ts';
import { testCommands } from './commands/test.ts';

/**
 * Runs `callway` with these arguments.
 *
 * @param args - The arguments; the program's own name is not among them.
 * @returns The process's exit code; see {@link EXIT}.
 */
export async function runCli(args: readonly string[], context: CliContext): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const program = new Command('callway')
    .description('Administers a Callway service and checks its setup.')
    .version(packageVersion())
    .showHelpAfterError('(add --help for the options)')
    .configureOutput({ writeOut: context.write, writeErr: context.writeError })
    .exitOverride();
  // Subcommands inherit only the settings that are made before.
  projectCommands(program, context);
  keyCommands(program, context);
  secretsCommands(program, context);
  migrateCommand(program, context);
  doctorCommand(program, context, (code) => {
    exitCode = code;
  });
  testCommands(program, context, (code) => {
    exitCode = code;
  });
  campaignCommands(program, context, (code) => {
    exitCode = code;
  });
  streamCheckCommand(program, context, (code) => {
    exitCode = code;
  });
  withLeadingApiOptions(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return toExitCode(error, context);
  }
}

function toExitCode(error: unknown, context: CliContext): ExitCode {
  // Commander has already printed the error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof CommandError) {
    context.writeError(`${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof OtherBuildError) {
    context.writeError(`Callway cannot run: ${error.message}\n`);
    return EXIT.configuration;
  }
  if (error instanceof ConfigurationError) {
    const problems = error.message.replace(/^/gm, '  ');
    context.writeError(
      `The settings are not valid; "callway doctor" checks everything else too:\n${problems}\n`,
    );
    return EXIT.configuration;
  }
  throw error;
}
