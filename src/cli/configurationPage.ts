import { COMMAND_DOCS } from './commandDocs.js'
import { listOptions } from './config.js'
import { formatDefault, formatExamples } from './helpText.js'
import { COMMANDS, envName } from './options/option.js'

/** Formats the reference page of the command line, docs/configuration.md, as Markdown. */
export function formatConfigurationPage(): string {
  return `${[
    '# Command line and configuration',
    '',
    'Generated from `src/cli/options` by `npm run docs`; do not edit.',
    '',
    ...COMMANDS.flatMap(formatCommand),
    '## Options',
    '',
    'The command line overrides the environment, the environment the [configuration file](operators.md#configuration-file), and',
    'that the default. Flags without a value are `on` or `off` in the environment, `true` or `false` in the file.',
    '',
    'Exit codes: 0 success, 1 failure, 2 usage error, 130 and 143 interrupted by SIGINT and SIGTERM (`import` and `reindex`;',
    'run them again to resume).',
    '',
    '| option | environment | commands | default | what it does |',
    '|---|---|---|---|---|',
    ...listOptions().map(([, option]) => {
      const value = option.placeholder === undefined ? '' : ` ${option.placeholder.replaceAll('|', '\\|')}`
      return `| \`--${option.flag}${value}\` | \`${envName(option)}\` | ${option.commands.join(', ')} | ${formatDefault(option)} | ${option.doc} |`
    }),
  ].join('\n')}\n`
}

function formatCommand(command: (typeof COMMANDS)[number]): string[] {
  const { summary, usage, detail, examples } = COMMAND_DOCS[command]
  const shown = formatExamples(examples).map((line) => line.slice(2))
  return [
    `## cairn ${command}`,
    '',
    summary,
    '',
    '```',
    ...usage,
    '```',
    '',
    ...detail.flatMap((paragraph) => [paragraph, '']),
    '```sh',
    ...shown,
    '```',
    '',
  ]
}
