import { COMMANDS, envName, listOptions } from './config.js'
import { COMMAND_DOCS, formatDefault } from './helpText.js'

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
    'value take `on` or `off` in the environment. Exit codes: 0 done, 1 the work failed, 2 used wrongly.',
    '',
    '| option | environment | commands | default | what it does |',
    '|---|---|---|---|---|',
    ...listOptions().map(([, option]) => {
      const value = option.placeholder === undefined ? '' : ` ${option.placeholder.replaceAll('|', '\\|')}`
      const fallback = `${formatDefault(option)}${option.unit === undefined ? '' : ` ${option.unit}`}`
      return `| \`--${option.flag}${value}\` | \`${envName(option)}\` | ${option.commands.join(', ')} | ${fallback} | ${option.doc} |`
    }),
  ].join('\n')}\n`
}

function formatCommand(command: (typeof COMMANDS)[number]): string[] {
  const { summary, usage, detail } = COMMAND_DOCS[command]
  const text = detail === undefined ? [] : [detail, '']
  return [`## cairn ${command}`, '', summary, '', '```', ...usage, '```', '', ...text]
}
