import { COMMAND_DOCS } from './commandDocs.js'
import { COMMANDS, envName, listOptions } from './config.js'
import { formatDefault, formatExamples } from './helpText.js'

/** The reference page of the command line, docs/configuration.md, in Markdown. */
export function formatConfigurationPage(): string {
  return `${[
    '# Command line and configuration',
    '',
    'Made from the configuration table by `npm run docs`; do not edit.',
    '',
    ...COMMANDS.flatMap(formatCommand),
    '## Options',
    '',
    'An option on the command line goes before its environment variable, and that before the default. Flags without a',
    'value take `on` or `off` in the environment.',
    '',
    'Exit codes: 0 done, 1 the work failed, 2 used wrongly, 130 and 143 interrupted by SIGINT and SIGTERM (`import` and',
    '`reindex`, which can be run again to go on).',
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
