import { COMMAND_DOCS, type Example } from './commandDocs.js'
import { OPTION_GROUPS, optionsOf } from './config.js'
import { COMMANDS, type Command, envName, type Option } from './options/option.js'

const WIDTH = 100
const OPTION_WIDTH = 28 // longer ones get a line of their own

/** Formats the help of `cairn` itself. */
export function formatHelp(): string {
  const lines = COMMANDS.map((command) => `  ${command.padEnd(14)}${COMMAND_DOCS[command].summary}`)
  return [
    'Cairn: a chain indexer and JSON-RPC server over its own database.',
    '',
    'Usage: cairn COMMAND [OPTIONS]',
    '',
    'Commands:',
    ...lines,
    '',
    'Examples:',
    ...formatExamples([
      { line: 'cairn import --genesis genesis.json chain.rlp', note: 'into ./data' },
      { line: 'cairn keys create me' },
      { line: 'cairn serve' },
      { line: 'cairn serve --fixture DIR', note: 'without a database of its own, for CI' },
    ]),
    '',
    "See 'cairn help COMMAND' for options and examples.",
  ].join('\n')
}

/** Formats the help of a command, at most 100 columns wide. */
export function formatCommandHelp(command: Command): string {
  const { summary, usage, detail, examples } = COMMAND_DOCS[command]
  return [
    summary,
    '',
    ...usage.map((line, i) => `${i === 0 ? 'Usage:' : '      '} ${line}`),
    ...detail.flatMap((paragraph) => ['', ...wrap(paragraph, WIDTH)]),
    ...formatOptions(command),
    '',
    'Examples:',
    ...formatExamples(examples),
  ].join('\n')
}

/** Describes the default of an option. */
export function formatDefault(option: Option<unknown>): string {
  const unit = option.unit === undefined ? '' : ` ${option.unit}`
  return option.defaultText ?? `${option.default}${unit}`
}

/** Formats example lines, indented, with notes aligned as shell comments. */
export function formatExamples(examples: readonly Example[]): string[] {
  const width = Math.max(...examples.map(({ line, note }) => (note === undefined ? 0 : line.length)))
  return examples.map(({ line, note }) => `  ${note === undefined ? line : `${line.padEnd(width)}  # ${note}`}`)
}

function formatOptions(command: Command): string[] {
  const groups = Object.entries(OPTION_GROUPS).flatMap(([heading, table]) => {
    const options = Object.values<Option<unknown>>(table).filter(({ commands }) => commands.includes(command))
    return options.length === 0 ? [] : ['', `${heading}:`, ...options.flatMap(formatOption)]
  })
  const [first] = optionsOf(command)
  if (first === undefined) return []
  return [...groups, '', `Every option is also an environment variable: --${first.flag} is ${envName(first)}.`]
}

function formatOption(option: Option<unknown>): string[] {
  const left = `  --${option.flag}${option.placeholder === undefined ? '' : ` ${option.placeholder}`}`
  const right = wrap(`${option.doc} Default: ${formatDefault(option)}.`, WIDTH - OPTION_WIDTH)
  const fits = left.length <= OPTION_WIDTH - 2
  const first = fits ? `${left.padEnd(OPTION_WIDTH)}${right[0]}` : left
  return [first, ...right.slice(fits ? 1 : 0).map((line) => `${' '.repeat(OPTION_WIDTH)}${line}`)]
}

/** Wraps a text at `width` characters; a longer word gets a line of its own. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
