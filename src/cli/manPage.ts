import { COMMAND_DOCS } from './commandDocs.js'
import { OPTION_GROUPS } from './config.js'
import { formatDefault } from './helpText.js'
import { COMMANDS, type Command, envName, type Option } from './options/option.js'

/** Formats the manual page of the program, docs/man/cairn.1, in the man macros of roff. */
export function formatManPage(): string {
  return `${[
    '.\\" Generated from src/cli/options by npm run docs; do not edit.',
    '.TH CAIRN 1 "" "Cairn" "User Commands"',
    ...section('NAME', ['cairn \\- a chain indexer and JSON\\-RPC server over its own database']),
    ...section('SYNOPSIS', ['.B cairn', '.I COMMAND', '[OPTIONS]']),
    ...section('COMMANDS', COMMANDS.flatMap(formatCommand)),
    '.SH OPTIONS',
    ...Object.entries(OPTION_GROUPS).flatMap(([heading, table]) => [
      `.SS ${text(heading)}`,
      ...Object.values<Option<unknown>>(table).flatMap(formatOption),
    ]),
    ...section('ENVIRONMENT', [
      'Every option is also an environment variable, which its description names.',
      'The command line overrides the environment, the environment the configuration file, and that the default.',
    ]),
    ...section('FILES', item('cairn.toml', ['Configuration file of the working directory; see', '.BR \\-\\-config .'])),
    ...section('EXIT STATUS', [
      ...item('0', ['success']),
      ...item('1', ['failure']),
      ...item('2', ['usage error']),
      ...item('130, 143', ['interrupted by SIGINT or SIGTERM']),
    ]),
  ].join('\n')}\n`
}

function section(heading: string, lines: readonly string[]): string[] {
  return [`.SH ${heading}`, ...lines]
}

function item(label: string, lines: readonly string[]): string[] {
  return ['.TP', `.B ${text(label)}`, ...lines]
}

function formatCommand(command: Command): string[] {
  const { summary, usage, detail, examples } = COMMAND_DOCS[command]
  return [
    `.SS cairn ${text(command)}`,
    text(summary),
    ...detail.flatMap((paragraph) => ['.PP', text(paragraph)]),
    ...literal([...usage, '', ...examples.map(({ line, note }) => (note === undefined ? line : `${line}  # ${note}`))]),
  ]
}

/** Formats lines without filling, indented. */
function literal(lines: readonly string[]): string[] {
  return ['.PP', '.RS 4', '.nf', ...lines.map(text), '.fi', '.RE']
}

function formatOption(option: Option<unknown>): string[] {
  const value = option.placeholder === undefined ? '' : ` \\fI${text(option.placeholder)}\\fR`
  return [
    '.TP',
    `\\fB${text(`--${option.flag}`)}\\fR${value}`,
    text(`${option.doc} Default: ${formatDefault(option)}.`),
    '.br',
    text(`Of ${option.commands.join(', ')}. Environment: ${envName(option)}.`),
  ]
}

/** Escapes a text for roff: backslashes, hyphens and quotes that are to be copied as they are, and a line that would be
 *  a request. */
function text(plain: string): string {
  const escaped = plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(
      /[^\x20-\x7e]/gu,
      (character) => `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
  return escaped.startsWith('.') ? `\\&${escaped}` : escaped
}
